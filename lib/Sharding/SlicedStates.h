//===- SlicedStates.h - Sharded states and their full values ----*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_SLICEDSTATES_H
#define WEFT_LIB_SHARDING_SLICEDSTATES_H

#include "MeshCollectives.h"

#include "weft/Weft/Weft.h"

#include <optional>

namespace weft {

/// A full working copy of a sharded parameter. Each program computes it from
/// the shards.
struct MadeCopy {
  mlir::StringAttr param;
  mlir::RankedTensorType type;
};

struct SlicedStates {
  /// Sharded parameters and states.
  llvm::DenseSet<mlir::StringAttr> sliced;
  llvm::DenseMap<mlir::StringAttr, MadeCopy> copies;
  /// Maps a state that micro-steps read in full to the state in which the first
  /// micro-step of a step keeps it for later ones.
  llvm::DenseMap<mlir::StringAttr, mlir::StringAttr> kept;

  bool isGathered(mlir::StringAttr name) const {
    return sliced.contains(name) || copies.contains(name);
  }
};

/// Changes the type of sharded flat parameters and states to the type of one
/// shard. Fails with an error on one that is not flat.
llvm::FailureOr<SlicedStates> declareSlices(mlir::ModuleOp module,
                                            dist::MeshOp mesh);

/// Declares a replicated state for a parameter or for one of its states:
/// @fc.flat.SLOT for @fc.flat, or another name if that is taken.
StateOp declareBeside(mlir::Operation *of, llvm::StringRef slot, StateKind kind,
                      mlir::RankedTensorType type, mlir::SymbolTable &symbols);

/// Declares the states that the first micro-step keeps for later ones, if a
/// step has several. Copies always have such a state, so that the memory of a
/// rank decreases from stage to stage.
void declareKept(mlir::ModuleOp module, ProgramOp micro, SlicedStates &states,
                 bool hasLater);

/// Erases the copies that programs compute themselves, and the programs that
/// only wrote them.
void eraseCopies(mlir::ModuleOp module, const SlicedStates &states);

/// A state and its new value, in the order of the program's return.
struct Write {
  mlir::FlatSymbolRefAttr state;
  mlir::Value value;
};
using Writes = llvm::SmallVector<Write>;

Writes getWrites(ProgramOp program);
/// Makes the program write these and no others.
void setWrites(ProgramOp program, llvm::ArrayRef<Write> writes);

/// Declares an accumulator for each sharded gradient: the full gradient that a
/// rank accumulates over the micro-steps of a step. Makes one program for
/// micro-steps that reduce it and one for micro-steps that keep it.
void declareAccumulators(ProgramOp micro, const SlicedStates &states);

/// Makes separate programs for the micro-steps after the first one.
void makeLaterForms(mlir::ModuleOp module);

/// The random numbers that a flat tensor of initial values consists of.
struct FlatDraws {
  mlir::Value seed;
  llvm::SmallVector<mlir::Attribute> draws; // DrawAttr, in order
};

/// Finds the draws of a flat tensor. Nothing if it contains other values than
/// random numbers and constants, or no random numbers.
std::optional<FlatDraws> findDraws(mlir::Value full);

} // namespace weft

#endif // WEFT_LIB_SHARDING_SLICEDSTATES_H
