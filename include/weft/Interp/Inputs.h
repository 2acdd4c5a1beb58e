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
/// Rank r continues the random sequence after the elements of the lower ranks,
/// and `rng` has the number of its first row. So the batches of all ranks
/// together equal the batch of one rank with all of their rows. `rank` is r;
/// all other fixed values are the same on all ranks.
TensorMap makeInputs(const ProgramInfo &program, int64_t seed,
                     int64_t rank = 0);

/// "rank1/x": the input or output x of rank 1 alone.
std::string nameOfRank(llvm::StringRef name, int64_t rank);

/// The value given for a name on one rank, else for all ranks; null if neither
/// is given.
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

/// Runs the program of kind `refresh`, if there is one. It recomputes states
/// that depend on parameters, after the parameters were set.
llvm::LogicalResult refreshStates(ModuleRunner &runner);
llvm::LogicalResult refreshStates(RanksRunner &ranks);

/// The programs of a module: init, refresh, model, micro, apply, eval, logits.
std::vector<ProgramInfo> programsInOrder(const ModuleRunner &runner);
/// The first program of the kind.
std::optional<ProgramInfo> findProgram(const ModuleRunner &runner,
                                       ProgramKind kind);

} // namespace weft

#endif // WEFT_INTERP_INPUTS_H
