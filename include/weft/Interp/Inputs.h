//===- Inputs.h - Plausible inputs for programs -----------------*- C++ -*-===//

#ifndef WEFT_INTERP_INPUTS_H
#define WEFT_INTERP_INPUTS_H

#include "weft/Interp/RanksRunner.h"
#include "weft/Weft/Weft.h"

namespace weft {

/// A value for each input of `program`, from `seed` and the input's name alone:
///  - the inputs that passes add have fixed values: loss_seed 1, accumulate 0,
///    rng [seed, 0], seed, and PyTorch's optimizer defaults (max_norm 1)
///  - integers are row numbers of the table or logits that they index
///  - floating-point inputs are standard normal numbers
/// Rank r has the numbers behind those of the ranks before it, and the number
/// of its first row in `rng`: ranks with a batch each have together what one
/// rank has for all of their rows. `rank` is r; all other fixed values are the
/// same.
TensorMap makeInputs(const ProgramInfo &program, int64_t seed,
                     int64_t rank = 0);

/// "rank1/x": the input or output x of rank 1 alone.
std::string nameOfRank(llvm::StringRef name, int64_t rank);

/// What is given for a name of one rank, else of all; null if nothing is.
template <typename T>
const T *findOfRank(const std::map<std::string, T> &given, llvm::StringRef name,
                    int64_t rank) {
  auto found = given.find(nameOfRank(name, rank));
  if (found == given.end())
    found = given.find(name.str());
  return found == given.end() ? nullptr : &found->second;
}

/// Sets every element (truncated for integers).
void fillTensor(Tensor &tensor, double value);

/// Runs the program of kind `refresh`, if there is one: what follows from
/// parameters, after they were set.
llvm::LogicalResult refreshStates(ModuleRunner &runner);
llvm::LogicalResult refreshStates(RanksRunner &ranks);

/// The programs of a module: init, refresh, model, micro, apply, eval, logits.
std::vector<ProgramInfo> programsInOrder(const ModuleRunner &runner);
/// The first program of the kind.
std::optional<ProgramInfo> findProgram(const ModuleRunner &runner,
                                       ProgramKind kind);

} // namespace weft

#endif // WEFT_INTERP_INPUTS_H
