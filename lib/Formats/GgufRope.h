//===- GgufRope.h - Rotary positions in GGUF files --------------*- C++ -*-===//

#ifndef WEFT_LIB_FORMATS_GGUFROPE_H
#define WEFT_LIB_FORMATS_GGUFROPE_H

#include "weft/Formats/GgufFamilies.h"
#include "weft/Formats/GgufWriter.h"

#include <array>

namespace weft {

/// Divisors of the rotary frequencies. Converters write them for the scaling
/// `llama3` in place of its parameters.
inline constexpr char kRopeFactors[] = "rope_freqs.weight";
/// The lists of the scaling `longrope`, for long and for short contexts.
inline constexpr char kLongRopeFactors[] = "rope_factors_long.weight";
inline constexpr char kShortRopeFactors[] = "rope_factors_short.weight";

/// Keys of the scaling behind the architecture.
inline constexpr char kScalingType[] = ".rope.scaling.type";
inline constexpr char kScalingFactor[] = ".rope.scaling.factor";
inline constexpr char kOriginalContext[] =
    ".rope.scaling.original_context_length";
inline constexpr char kAttentionFactor[] = ".rope.scaling.attn_factor";
inline constexpr char kYarnAttentionFactor[] = ".rope.scaling.yarn_attn_factor";
inline constexpr char kYarnExtrapolation[] = ".rope.scaling.yarn_ext_factor";
inline constexpr char kYarnFast[] = ".rope.scaling.yarn_beta_fast";
inline constexpr char kYarnSlow[] = ".rope.scaling.yarn_beta_slow";
inline constexpr std::array kScalingKeys = {kScalingType,
                                            kScalingFactor,
                                            kOriginalContext,
                                            kAttentionFactor,
                                            kYarnAttentionFactor,
                                            kYarnExtrapolation,
                                            kYarnFast,
                                            kYarnSlow};

/// The scaling `llama3` of transformers.
struct Llama3Scaling {
  double factor = 8, low = 1, high = 4, context = 8192;

  /// As in llama.cpp's convert_hf_to_gguf.py, in double.
  std::vector<float> divisors(double theta, int64_t width) const;
};

/// Rotated elements of a head.
int64_t rotaryWidth(const GgufFamily &family, const Json &config);
/// The growth of the scores with the scaling `longrope`.
double longRopeGrowth(const Json &config);

/// Adds `rope_scaling` to a configuration. A scaling that transformers does not
/// have is an error.
Status addRopeScaling(const GgufFile &file, const GgufFamily &family,
                      Json &config);

/// Moves `rope_parameters` of transformers 5 to the older fields: the base, the
/// rotated fraction, and `rope_scaling`, which is null without scaling.
void flattenRope(const GgufFamily &family, Json &config);
/// The keys of a flat configuration. A scaling that the architecture does not
/// have is an error.
Status addRopeKeys(const GgufFamily &family, const Json &config,
                   GgufMetadata &out);
/// A table of a flat configuration; empty if its scaling has none.
Expected<std::vector<float>>
ropeTable(const GgufFamily &family, const Json &config, std::string_view name);

} // namespace weft

#endif // WEFT_LIB_FORMATS_GGUFROPE_H
