//===- RanksRunner.h - The ranks of a module in lockstep --------*- C++ -*-===//
//
// All ranks of a mesh run one program: each op is evaluated for ranks 0, 1, ...
// in turn, then the next op, and a collective has the operands of all of them
// at once. Each rank has inputs, outputs and states of its own.
//
// A module without collectives does not define how ranks share data. It has the
// meaning that weft-partition gives it: before an apply program runs, each
// gradient becomes the mean over all ranks.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERP_RANKSRUNNER_H
#define WEFT_INTERP_RANKSRUNNER_H

#include "weft/Analysis/Cost.h"
#include "weft/Interp/Interp.h"

namespace weft {

class RanksRunner {
public:
  /// `ranks` is the number of ranks of the mesh, or any number for a module
  /// without a mesh. The module must outlive this object. For `streamOrder` see
  /// makeRunner().
  RanksRunner(mlir::ModuleOp module, ComputeMode mode, int64_t ranks,
              uint64_t streamOrder = 0);

  mlir::ModuleOp getModule() const { return getRank(0).getModule(); }
  int64_t getNumRanks() const { return static_cast<int64_t>(ranks.size()); }
  /// One rank: its states, and what all of them have, programs and names.
  ModuleRunner &getRank(int64_t rank) { return *ranks[rank]; }
  const ModuleRunner &getRank(int64_t rank) const { return *ranks[rank]; }

  /// Gives parameters of all ranks their initial values for that seed.
  llvm::LogicalResult initialize(int64_t seed);

  /// Runs a program on the inputs of each rank. Returns the outputs of each; on
  /// failure no state is written.
  llvm::FailureOr<std::vector<TensorMap>> run(llvm::StringRef program,
                                              llvm::ArrayRef<TensorMap> inputs);

private:
  llvm::LogicalResult runInit(int64_t seed);
  /// Whether the program is of that kind and the module has no collectives, so
  /// that the runner reduces over ranks in their place.
  bool joinsInstead(llvm::StringRef program, ProgramKind kind) const;
  llvm::LogicalResult takeMeans();
  llvm::LogicalResult meanDenominators();
  llvm::FailureOr<std::vector<TensorMap>>
  runDenominators(llvm::StringRef program, llvm::ArrayRef<TensorMap> inputs);
  llvm::FailureOr<std::vector<TensorMap>>
  runPrograms(llvm::StringRef program, llvm::ArrayRef<TensorMap> inputs);

  std::vector<std::unique_ptr<ModuleRunner>> ranks;
};

/// The ranks that hold slice `slice` of a state in `slices`.
llvm::SmallVector<int64_t> findHolders(const RanksRunner &ranks, int64_t slices,
                                       int64_t slice);

/// The mean of a gradient over ranks, as dist.reduce_scatter with the divisors
/// of choosePreDivide computes it; each must have a value.
Tensor meanOverRanks(const RanksRunner &ranks, llvm::StringRef gradient,
                     llvm::ArrayRef<int64_t> holders);

/// The number of slices of a parameter or state.
int64_t countSlices(const RanksRunner &ranks, llvm::StringRef state);

} // namespace weft

#endif // WEFT_INTERP_RANKSRUNNER_H
