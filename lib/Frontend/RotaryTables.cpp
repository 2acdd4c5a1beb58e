//===- RotaryTables.cpp - cos and sin of rotary positions -----------------===//
//
// Every step rounds to f32 where transformers' does; pow, cos and sin are
// evaluated in double and rounded once.
//
//===----------------------------------------------------------------------===//

#include "RotaryTables.h"

#include <cmath>

using namespace weft;

/// The `llama3` rule: long waves are divided by the factor, short ones stay,
/// those between are blended.
static float stretch(float frequency, const RotaryConfig &config) {
  const float twoPi = static_cast<float>(6.283185307179586);
  const float old = static_cast<float>(config.originalContext);
  const float low = static_cast<float>(config.lowFreqFactor);
  const float factor = static_cast<float>(config.factor);
  const float wavelength = (1.0f / frequency) * twoPi;
  const float lowWave =
      static_cast<float>(config.originalContext / config.lowFreqFactor);
  const float highWave =
      static_cast<float>(config.originalContext / config.highFreqFactor);
  if (wavelength > lowWave)
    return frequency / factor;
  if (wavelength < highWave)
    return frequency;
  const float span =
      static_cast<float>(config.highFreqFactor - config.lowFreqFactor);
  const float smooth = ((1.0f / wavelength) * old - low) / span;
  return (1.0f - smooth) * frequency / factor + smooth * frequency;
}

std::vector<float> weft::rotaryFrequencies(const RotaryConfig &config,
                                           int64_t headWidth) {
  std::vector<float> frequencies;
  const double base = static_cast<float>(config.theta);
  for (int64_t i = 0; i < headWidth; i += 2) {
    float exponent = static_cast<float>(i) / static_cast<float>(headWidth);
    float power = static_cast<float>(std::pow(base, double(exponent)));
    float frequency = 1.0f / power;
    frequencies.push_back(config.llama3 ? stretch(frequency, config)
                                        : frequency);
  }
  return frequencies;
}

RotaryTables weft::rotaryTables(const RotaryConfig &config, int64_t headWidth,
                                int64_t seq) {
  RotaryTables tables;
  std::vector<float> frequencies = rotaryFrequencies(config, headWidth);
  for (int64_t position = 0; position < seq; ++position) {
    for (float frequency : frequencies) {
      float angle = static_cast<float>(position) * frequency;
      tables.cos.push_back(static_cast<float>(std::cos(double(angle))));
      tables.sin.push_back(static_cast<float>(std::sin(double(angle))));
    }
  }
  return tables;
}
