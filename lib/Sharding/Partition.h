//===- Partition.h - Steps of weft-partition --------------------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_PARTITION_H
#define WEFT_LIB_SHARDING_PARTITION_H

#include "PassUses.h"
#include "ShardedStates.h"

#include <optional>

namespace weft {

/// The shard of each full value. Elementwise ops compute shards from shards.
using Shards = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Makes a program read and write shards. Ops that need a full state read the
/// value that is gathered right before the first of them. States that `reshard`
/// frees are gathered once for the forward pass and again for the backward
/// pass. The first micro-step writes the values of `states.kept`, and later
/// micro-steps read them. `known` are shards of other values of the program.
void partitionStates(ProgramOp program, const MeshCollectives &mesh,
                     const ShardedStates &states, Shards known,
                     const Reshard &reshard);

/// The random numbers that a flat tensor of initial values consists of.
struct FlatDraws {
  mlir::Value seed;
  llvm::SmallVector<mlir::Attribute> draws; // DrawAttr, in order
};

/// Finds the draws of a flat tensor. Nothing if it contains other values than
/// random numbers and constants, or no random numbers.
std::optional<FlatDraws> findDraws(mlir::Value full);

/// Checks each path of `reshard`. It names a module with ops, and all forward
/// uses of at least one state are in that module: parameters that are gathered
/// together can only be freed together.
llvm::LogicalResult verifyReshard(mlir::ModuleOp module,
                                  const Reshard &reshard);

/// Puts what each write needs next to each other, so that the wholes of which a
/// rank keeps shards are gone before the next ones are made.
void orderByWrites(ProgramOp program);

//===----------------------------------------------------------------------===//
// Writes of a program
//===----------------------------------------------------------------------===//

/// A state and its new value, in the order of the program's return.
struct Write {
  mlir::FlatSymbolRefAttr state;
  mlir::Value value;
};
using Writes = llvm::SmallVector<Write>;

Writes getWrites(ProgramOp program);
/// Makes the program write these and no others.
void setWrites(ProgramOp program, llvm::ArrayRef<Write> writes);

//===----------------------------------------------------------------------===//
// Variants of programs
//===----------------------------------------------------------------------===//

/// Declares an accumulator for each sharded gradient: the full gradient that a
/// rank accumulates over the micro-steps of a step. Makes one program for
/// micro-steps that reduce it and one for micro-steps that keep it.
void declareAccumulators(ProgramOp micro, const ShardedStates &states);

/// Makes separate programs for the micro-steps after the first one.
void makeLaterForms(ProgramOp micro);

/// Declares `@denominators_keep`, a copy of `denominators` for micro-batches
/// but the last one of a step, which joins no counts.
void keepDenominators(ProgramOp denominators);

/// Replaces the totals that `denominators` has accumulated by their mean over
/// ranks, in one message. Returns how many there are.
unsigned joinDenominators(ProgramOp denominators, const MeshCollectives &mesh);

} // namespace weft

#endif // WEFT_LIB_SHARDING_PARTITION_H
