//===- PartitionStates.h - Programs over sharded states ---------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_PARTITIONSTATES_H
#define WEFT_LIB_SHARDING_PARTITIONSTATES_H

#include "Reshard.h"
#include "SlicedStates.h"

namespace weft {

/// The shard of each full value. Elementwise ops compute shards from shards.
using Slices = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Makes a program read and write shards. Ops that need a full state read the
/// value that is gathered right before the first of them. States that `reshard`
/// frees are gathered once for the forward pass and again for the backward
/// pass. The first micro-step writes the values of `states.kept`, and later
/// micro-steps read them. `known` are shards of other values of the program.
void partitionStates(ProgramOp program, const MeshCollectives &mesh,
                     const SlicedStates &states, Slices known,
                     const Reshard &reshard);

} // namespace weft

#endif // WEFT_LIB_SHARDING_PARTITIONSTATES_H
