//===- RotaryTables.h - cos and sin of rotary positions ---------*- C++ -*-===//

#ifndef WEFT_LIB_FRONTEND_ROTARYTABLES_H
#define WEFT_LIB_FRONTEND_ROTARYTABLES_H

#include <cstdint>
#include <vector>

namespace weft {

struct RotaryConfig {
  double theta = 10000.0;
  /// Rope type `llama3`: long wavelengths are stretched by `factor`.
  bool llama3 = false;
  double factor = 1.0, lowFreqFactor = 1.0, highFreqFactor = 4.0;
  double originalContext = 8192;
};

/// One frequency per pair of the head width, in f32 as transformers does.
std::vector<float> rotaryFrequencies(const RotaryConfig &config,
                                     int64_t headWidth);

/// cos and sin [seq, headWidth / 2], row major.
struct RotaryTables {
  std::vector<float> cos, sin;
};
RotaryTables rotaryTables(const RotaryConfig &config, int64_t headWidth,
                          int64_t seq);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_ROTARYTABLES_H
