//===- MicroPrograms.h - Which program is which micro-step ------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_MICROPROGRAMS_H
#define WEFT_RUNTIME_RUN_MICROPROGRAMS_H

#include "weft/Runtime/Execute/Context.h"

#include <vector>

namespace weft {

/// The programs of the micro-steps of a step. Most executables have one for
/// all; see Formats/MicroSteps.h.
class MicroPrograms {
public:
  /// The executable has the program `micro`.
  explicit MicroPrograms(const WeftExecutable &executable);

  /// Of micro-step `number` (from 0) of `count` in a step.
  const WeftProgram &get(int64_t number, int64_t count) const;
  /// Those that a step of `count` micro-steps runs, each once.
  std::vector<const WeftProgram *> list(int64_t count) const;

private:
  /// The one of a step of one micro-step; of several, those in their order.
  const WeftProgram *only, *first, *middle, *last;
};

/// The programs that count the targets of a step, ahead of its micro-steps.
class DenominatorPrograms {
public:
  explicit DenominatorPrograms(const WeftExecutable &executable);

  /// Whether a loss has a denominator that data decides.
  bool exist() const { return last != nullptr; }
  /// Of micro-batch `number` (from 0) of `count`.
  const WeftProgram &get(int64_t number, int64_t count) const {
    return number == count - 1 ? *last : *keep;
  }
  /// Those that a step of `count` micro-steps runs, each once.
  std::vector<const WeftProgram *> list(int64_t count) const;

private:
  const WeftProgram *last, *keep;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_MICROPROGRAMS_H
