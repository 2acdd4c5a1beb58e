//===- ShardedStates.h - Sharded states and their full values ---*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_SHARDEDSTATES_H
#define WEFT_LIB_SHARDING_SHARDEDSTATES_H

#include "MeshCollectives.h"

#include "weft/Weft/Weft.h"

namespace weft {

/// A full working copy of a sharded parameter. Each program computes it from
/// the shards.
struct MadeCopy {
  mlir::StringAttr param;
  mlir::RankedTensorType type;
};

struct ShardedStates {
  /// Sharded parameters and states.
  llvm::DenseSet<mlir::StringAttr> sharded;
  llvm::DenseMap<mlir::StringAttr, MadeCopy> copies;
  /// Maps a state that micro-steps read in full to the state in which the first
  /// micro-step of a step keeps it for later ones.
  llvm::DenseMap<mlir::StringAttr, mlir::StringAttr> kept;

  bool isGathered(mlir::StringAttr name) const {
    return sharded.contains(name) || copies.contains(name);
  }
};

/// Changes the type of sharded flat parameters and states to the type of one
/// shard. Fails with an error on one that is not flat.
llvm::FailureOr<ShardedStates> declareShards(mlir::ModuleOp module,
                                             dist::MeshOp mesh);

/// Declares a replicated state for a parameter or for one of its states:
/// @fc.flat.SLOT for @fc.flat, or another name if that is taken.
StateOp declareBeside(mlir::Operation *of, llvm::StringRef slot, StateKind kind,
                      mlir::RankedTensorType type, mlir::SymbolTable &symbols);

/// Declares the states that the first micro-step keeps for later ones, if a
/// step has several. Copies always have such a state, so that the memory of a
/// rank decreases from stage to stage.
void declareKept(mlir::ModuleOp module, ProgramOp micro, ShardedStates &states,
                 bool hasLater);

/// Erases the copies that programs compute themselves, and the programs that
/// only wrote them.
void eraseCopies(mlir::ModuleOp module, const ShardedStates &states);

} // namespace weft

#endif // WEFT_LIB_SHARDING_SHARDEDSTATES_H
