//===- MicroSteps.h - The programs of micro-steps ---------------*- C++ -*-===//
//
// A step runs its micro-steps, then one update. All micro-steps may be one
// program, names::kMicro. Ranks have up to four of one kind: where later ones
// can use what the first one of the step has gathered, these are a program of
// their own, and where only the last one reduces gradients, so are those that
// keep them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_MICROSTEPS_H
#define WEFT_FORMATS_MICROSTEPS_H

#include <string_view>

namespace weft::names {

/// The program of micro-steps but the first one of a step.
inline constexpr char kMicroLater[] = "micro_later";
/// Those of micro-steps but the last one of a step: the first one, or all; and
/// those but the first one.
inline constexpr char kMicroKeep[] = "micro_keep";
inline constexpr char kMicroLaterKeep[] = "micro_later_keep";

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

} // namespace weft::names

#endif // WEFT_FORMATS_MICROSTEPS_H
