//===- GgufRope.h - Rotary positions in GGUF files --------------*- C++ -*-===//

#ifndef WEFT_LIB_FORMATS_GGUFROPE_H
#define WEFT_LIB_FORMATS_GGUFROPE_H

#include "weft/Formats/Gguf.h"
#include "weft/Formats/Json.h"

namespace weft {

/// Divisors of the rotary frequencies. Converters write them for the scaling
/// `llama3` in place of its parameters.
inline constexpr char kRopeFactors[] = "rope_freqs.weight";

/// Adds `rope_scaling` to a configuration. Divisors that the parameters of
/// Llama 3 do not give are an error.
Status addRopeScaling(const GgufFile &file, const std::string &architecture,
                      Json &config);

/// The divisors of a configuration; empty without scaling. A scaling that weft
/// does not write is an error.
Expected<std::vector<float>> ropeFactorsOf(const Json &config);

} // namespace weft

#endif // WEFT_LIB_FORMATS_GGUFROPE_H
