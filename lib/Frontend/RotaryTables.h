//===- RotaryTables.h - cos and sin of rotary positions ---------*- C++ -*-===//

#ifndef WEFT_LIB_FRONTEND_ROTARYTABLES_H
#define WEFT_LIB_FRONTEND_ROTARYTABLES_H

#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

/// How the frequencies change for rows longer than in pretraining.
enum class RopeScaling { None, Linear, Dynamic, Llama3, Yarn, LongRope };

struct RotaryConfig {
  double theta = 10000.0;
  /// Part of the head width that rotates, from its front.
  double partialFactor = 1.0;
  RopeScaling scaling = RopeScaling::None;
  double factor = 1.0;
  /// Longest row of pretraining.
  double originalContext = 8192;
  /// The bounds of Llama3 and of Yarn (beta_slow and beta_fast).
  double lowFreqFactor = 1.0, highFreqFactor = 4.0;
  double slowTurns = 1.0, fastTurns = 32.0;
  /// Yarn: whether the bounds are rounded to whole pairs.
  bool truncate = true;
  /// Of cos and sin, for Yarn and LongRope.
  double attentionFactor = 1.0;
  /// LongRope: divisors of the frequencies, for rows up to originalContext and
  /// for longer ones.
  std::vector<double> shortFactors, longFactors;

  /// Elements of a head that rotate. An odd number is rounded up.
  int64_t rotaryWidth(int64_t headWidth) const;
  /// Longest row that the scaling is made for, if it is not `context`.
  int64_t stretchedContext(int64_t context) const;
};

/// One frequency per rotated pair, in f32 as transformers does, for rows of
/// `seq` tokens.
std::vector<float> rotaryFrequencies(const RotaryConfig &config,
                                     int64_t headWidth, int64_t seq);

/// cos and sin [seq, rotaryWidth / 2], row major.
struct RotaryTables {
  std::vector<float> cos, sin;
};
RotaryTables rotaryTables(const RotaryConfig &config, int64_t headWidth,
                          int64_t seq);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_ROTARYTABLES_H
