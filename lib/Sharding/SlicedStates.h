//===- SlicedStates.h - States of which ranks have slices -------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_SLICEDSTATES_H
#define WEFT_LIB_SHARDING_SLICEDSTATES_H

#include "MeshCollectives.h"

#include "weft/Weft/Weft.h"

namespace weft {

/// A whole working copy of a parameter in slices: each program makes it of
/// them.
struct MadeCopy {
  mlir::StringAttr param;
  mlir::RankedTensorType type;
};

struct SlicedStates {
  /// Parameters and states of which each rank holds a slice.
  llvm::DenseSet<mlir::StringAttr> sliced;
  llvm::DenseMap<mlir::StringAttr, MadeCopy> copies;
  /// By what micro-steps read whole: the state in which the first one of a step
  /// leaves it for later ones.
  llvm::DenseMap<mlir::StringAttr, mlir::StringAttr> kept;

  bool isGathered(mlir::StringAttr name) const {
    return sliced.contains(name) || copies.contains(name);
  }
};

/// Makes the flat parameters and states with a sharded layout those of one
/// slice. Fails with an error on one that is not flat.
llvm::FailureOr<SlicedStates> declareSlices(mlir::ModuleOp module,
                                            dist::MeshOp mesh);

/// Declares a whole state of a parameter or of one of its states: @fc.flat.SLOT
/// of @fc.flat, or another name if that is taken.
StateOp declareBeside(mlir::Operation *of, llvm::StringRef slot, StateKind kind,
                      mlir::RankedTensorType type, mlir::SymbolTable &symbols);

/// Declares what the first micro-step keeps for later ones, if a step has some.
/// Copies have a state in any case: what a rank holds falls from stage to
/// stage.
void declareKept(mlir::ModuleOp module, ProgramOp micro, SlicedStates &states,
                 bool hasLater);

/// Erases the copies that programs make for themselves, and the programs that
/// did nothing else than write them.
void eraseCopies(mlir::ModuleOp module, const SlicedStates &states);

} // namespace weft

#endif // WEFT_LIB_SHARDING_SLICEDSTATES_H
