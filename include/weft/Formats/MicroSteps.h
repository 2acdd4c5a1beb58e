//===- MicroSteps.h - The programs of micro-steps ---------------*- C++ -*-===//
//
// A step runs its micro-steps, then one update. All micro-steps may be one
// program, names::kMicro. Where later ones can use what the first one of the
// step has made, they are a program of their own, of the same kind.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_MICROSTEPS_H
#define WEFT_FORMATS_MICROSTEPS_H

namespace weft::names {

/// The program of all micro-steps of a step but the first one.
inline constexpr char kMicroLater[] = "micro_later";

} // namespace weft::names

#endif // WEFT_FORMATS_MICROSTEPS_H
