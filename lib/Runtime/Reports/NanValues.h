//===- NanValues.h - Values that are not finite, and origins ----*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_REPORTS_NANVALUES_H
#define WEFT_LIB_RUNTIME_REPORTS_NANVALUES_H

#include "weft/Abi/Executable.h"
#include "weft/Abi/Names.h"
#include "weft/Runtime/Reports/NanHunt.h"

#include <cmath>
#include <string_view>

namespace weft {

/// Added to the number of a constant's infinity: any other origin is smaller.
inline constexpr Origin kPassedOn = Origin(1) << 40;
/// The origin of values that a command makes on purpose: the largest of all.
inline constexpr Origin kOnPurpose = kFinite - 1;

inline bool isKnown(Origin origin) { return origin < kOnPurpose; }

inline bool isFloat(int32_t dtype) {
  return dtype == WEFT_F32 || dtype == WEFT_F64 || dtype == WEFT_F16 ||
         dtype == WEFT_BF16;
}

inline const char *nameOf(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// Programs that write weights and their copies.
inline bool isUpdate(const WeftProgram &program) {
  const std::string_view kind = program.kind;
  return kind == names::kApply || kind == names::kRefresh;
}

} // namespace weft

#endif // WEFT_LIB_RUNTIME_REPORTS_NANVALUES_H
