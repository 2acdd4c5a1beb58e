//===- RotaryTables.cpp - cos and sin of rotary positions -----------------===//
//
// Every step rounds to f32 where transformers' does; pow, cos and sin are
// evaluated in double and rounded once.
//
//===----------------------------------------------------------------------===//

#include "RotaryTables.h"

#include <algorithm>
#include <cmath>

using namespace weft;

static constexpr double kTwoPi = 6.283185307179586;

/// Width that the exponents of the frequencies divide by.
static int64_t exponentWidth(const RotaryConfig &config, int64_t headWidth) {
  return static_cast<int64_t>(double(headWidth) * config.partialFactor);
}

int64_t RotaryConfig::rotaryWidth(int64_t headWidth) const {
  return (exponentWidth(*this, headWidth) + 1) / 2 * 2;
}

int64_t RotaryConfig::stretchedContext(int64_t context) const {
  if (scaling == RopeScaling::Dynamic)
    return static_cast<int64_t>(double(context) * factor);
  if (scaling == RopeScaling::Yarn)
    return static_cast<int64_t>(originalContext * factor);
  return context;
}

/// base ^ (2 i / width) for each pair i.
static std::vector<float> powersOf(double base, int64_t width) {
  std::vector<float> powers;
  for (int64_t i = 0; i < width; i += 2) {
    float exponent = static_cast<float>(i) / static_cast<float>(width);
    powers.push_back(
        static_cast<float>(std::pow(double(float(base)), double(exponent))));
  }
  return powers;
}

/// The `llama3` rule: long waves are divided by the factor, short ones stay,
/// those between are blended.
static float stretch(float frequency, const RotaryConfig &config) {
  const float twoPi = static_cast<float>(kTwoPi);
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

/// Dynamic NTK scaling: rows longer than the context of pretraining get a
/// larger base.
static double dynamicBase(const RotaryConfig &config, int64_t width,
                          int64_t seq) {
  if (double(seq) <= config.originalContext || width <= 2)
    return config.theta;
  const float ratio = static_cast<float>(config.factor) *
                      static_cast<float>(seq) /
                      static_cast<float>(config.originalContext);
  const float stretched = ratio - static_cast<float>(config.factor - 1.0);
  const double exponent = double(width) / double(width - 2);
  const float growth = static_cast<float>(
      std::pow(double(stretched), double(static_cast<float>(exponent))));
  return static_cast<float>(config.theta) * growth;
}

/// The pair that turns `turns` times in the context of pretraining.
static double pairOfTurns(const RotaryConfig &config, double turns,
                          int64_t width) {
  return double(width) * std::log(config.originalContext / (turns * kTwoPi)) /
         (2.0 * std::log(config.theta));
}

/// Yarn (arXiv 2309.00071): pairs with many turns keep their frequency, those
/// with few are divided by the factor, with a ramp between.
static std::vector<float> yarnFrequencies(const RotaryConfig &config,
                                          int64_t width) {
  double first = pairOfTurns(config, config.fastTurns, width);
  double last = pairOfTurns(config, config.slowTurns, width);
  if (config.truncate) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, double(width - 1));
  if (first == last)
    last += 0.001;
  std::vector<float> frequencies = powersOf(config.theta, width);
  for (size_t pair = 0; pair < frequencies.size(); ++pair) {
    const float ramp = (static_cast<float>(pair) - static_cast<float>(first)) /
                       static_cast<float>(last - first);
    const float kept = 1.0f - std::min(std::max(ramp, 0.0f), 1.0f);
    const float power = frequencies[pair];
    const float whole = 1.0f / power;
    const float divided = 1.0f / (static_cast<float>(config.factor) * power);
    frequencies[pair] = divided * (1.0f - kept) + whole * kept;
  }
  return frequencies;
}

static std::vector<float> longRopeFrequencies(const RotaryConfig &config,
                                              int64_t width, int64_t seq) {
  const std::vector<double> &factors = double(seq) > config.originalContext
                                           ? config.longFactors
                                           : config.shortFactors;
  std::vector<float> frequencies = powersOf(config.theta, width);
  for (size_t pair = 0; pair < frequencies.size(); ++pair)
    frequencies[pair] =
        1.0f / (static_cast<float>(factors[pair]) * frequencies[pair]);
  return frequencies;
}

std::vector<float> weft::rotaryFrequencies(const RotaryConfig &config,
                                           int64_t headWidth, int64_t seq) {
  const int64_t width = exponentWidth(config, headWidth);
  if (config.scaling == RopeScaling::Yarn)
    return yarnFrequencies(config, width);
  if (config.scaling == RopeScaling::LongRope)
    return longRopeFrequencies(config, width, seq);
  const double base = config.scaling == RopeScaling::Dynamic
                          ? dynamicBase(config, width, seq)
                          : config.theta;
  std::vector<float> frequencies = powersOf(base, width);
  for (float &frequency : frequencies) {
    frequency = 1.0f / frequency;
    if (config.scaling == RopeScaling::Linear)
      frequency /= static_cast<float>(config.factor);
    if (config.scaling == RopeScaling::Llama3)
      frequency = stretch(frequency, config);
  }
  return frequencies;
}

RotaryTables weft::rotaryTables(const RotaryConfig &config, int64_t headWidth,
                                int64_t seq) {
  RotaryTables tables;
  const float scale = static_cast<float>(config.attentionFactor);
  std::vector<float> frequencies = rotaryFrequencies(config, headWidth, seq);
  for (int64_t position = 0; position < seq; ++position) {
    for (float frequency : frequencies) {
      float angle = static_cast<float>(position) * frequency;
      tables.cos.push_back(static_cast<float>(std::cos(double(angle))) * scale);
      tables.sin.push_back(static_cast<float>(std::sin(double(angle))) * scale);
    }
  }
  return tables;
}
