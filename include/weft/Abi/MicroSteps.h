//===- MicroSteps.h - The programs of micro-steps ---------------*- C++ -*-===//
//
// A step runs its micro-steps, then one update. All micro-steps may be one
// program, names::kMicro. Ranks have up to four of one kind: where later ones
// can use what the first one of the step has gathered, these are a program of
// their own, and where only the last one reduces gradients, so are those that
// keep them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_MICROSTEPS_H
#define WEFT_ABI_MICROSTEPS_H

#include "weft/Abi/Names.h"

#include <cstdint>
#include <string_view>

namespace weft::names {

/// The program of micro-steps but the first one of a step.
inline constexpr char kMicroLater[] = "micro_later";
/// Those of micro-steps but the last one of a step: the first one, or all; and
/// those but the first one.
inline constexpr char kMicroKeep[] = "micro_keep";
inline constexpr char kMicroLaterKeep[] = "micro_later_keep";

/// The program that counts targets for micro-batches but the last one of a
/// step, where that one (names::kDenominators) adds up the counts of all ranks.
inline constexpr char kDenominatorsKeep[] = "denominators_keep";

/// What the name of an accumulator adds to that of its gradient.
inline constexpr char kSum[] = "sum";

/// Whether it is no program of the first micro-step of a step.
inline bool isLaterMicro(std::string_view program) {
  return program == kMicroLater || program == kMicroLaterKeep;
}
/// Whether gradients are not complete behind it.
inline bool keepsGradients(std::string_view program) {
  return program == kMicroKeep || program == kMicroLaterKeep;
}
/// Whether denominators are incomplete behind it.
inline bool keepsDenominators(std::string_view program) {
  return program == kDenominatorsKeep;
}

/// The program of micro-step `number` (from 0) of `count` in a step; `has`
/// tells whether there is a program of a name.
template <typename Has>
const char *chooseMicro(int64_t number, int64_t count, Has has) {
  const bool isLater = number > 0, isLast = number == count - 1;
  if (isLater && !isLast && has(kMicroLaterKeep))
    return kMicroLaterKeep;
  if (!isLast && has(kMicroKeep))
    return kMicroKeep;
  return isLater && has(kMicroLater) ? kMicroLater : kMicro;
}

/// The program that counts the targets of micro-batch `number` of `count`.
template <typename Has>
const char *chooseDenominators(int64_t number, int64_t count, Has has) {
  return number < count - 1 && has(kDenominatorsKeep) ? kDenominatorsKeep
                                                      : kDenominators;
}

} // namespace weft::names

#endif // WEFT_ABI_MICROSTEPS_H
