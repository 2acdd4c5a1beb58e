//===- Inputs.h - Plausible inputs for programs -----------------*- C++ -*-===//

#ifndef WEFT_INTERP_INPUTS_H
#define WEFT_INTERP_INPUTS_H

#include "weft/Interp/Interp.h"
#include "weft/Weft/Weft.h"

namespace weft {

/// A value for each input of `program`, from `seed` and the input's name alone:
///  - the inputs that passes add have fixed values: loss_seed 1, accumulate 0,
///    rng [seed, 0], seed, and PyTorch's optimizer defaults (max_norm 1)
///  - integers are row numbers of the table or logits that they index
///  - floating-point inputs are standard normal numbers
TensorMap makeInputs(const ProgramInfo &program, int64_t seed);

/// Sets every element (truncated for integers).
void fillTensor(Tensor &tensor, double value);

/// Runs the program of kind `refresh`, if there is one: what follows from
/// parameters, after they were set.
llvm::LogicalResult refreshStates(ModuleRunner &runner);

/// The programs of a module: init, refresh, model, micro, apply, eval, logits.
std::vector<ProgramInfo> programsInOrder(const ModuleRunner &runner);
/// The first program of the kind.
std::optional<ProgramInfo> findProgram(const ModuleRunner &runner,
                                       ProgramKind kind);

} // namespace weft

#endif // WEFT_INTERP_INPUTS_H
