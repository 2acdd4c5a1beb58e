//===- MicroSteps.h - Programs of micro-steps -------------------*- C++ -*-===//
//
// A step runs its micro-steps, then one update. A micro-step is the forward and
// backward pass of one micro-batch. All micro-steps may run one program,
// names::kMicro. Programs for several ranks have up to four variants. If later
// micro-steps can use parameters that the first one of the step gathered, they
// have a program of their own. If only the last micro-step reduces gradients,
// the earlier ones have programs of their own, which keep the gradients.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_MICROSTEPS_H
#define WEFT_ABI_MICROSTEPS_H

#include "weft/Abi/Names.h"

#include <cstdint>
#include <string_view>

namespace weft::names {

/// The program of all micro-steps of a step but the first.
inline constexpr char kMicroLater[] = "micro_later";
/// Programs of the micro-steps before the last one of a step. kMicroKeep runs
/// the first one or all of them, kMicroLaterKeep all but the first.
inline constexpr char kMicroKeep[] = "micro_keep";
inline constexpr char kMicroLaterKeep[] = "micro_later_keep";

/// The program that counts targets of the micro-batches before the last one of
/// a step, if the last one's program (names::kDenominators) adds up the counts
/// of all ranks.
inline constexpr char kDenominatorsKeep[] = "denominators_keep";

/// Suffix that makes an accumulator's name from its gradient's name.
inline constexpr char kSum[] = "sum";

/// Whether the program never runs the first micro-step of a step.
inline bool isLaterMicro(std::string_view program) {
  return program == kMicroLater || program == kMicroLaterKeep;
}
/// Whether gradients are incomplete after the program.
inline bool keepsGradients(std::string_view program) {
  return program == kMicroKeep || program == kMicroLaterKeep;
}
/// Whether denominators are incomplete after the program.
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
