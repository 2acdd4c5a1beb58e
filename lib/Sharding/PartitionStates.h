//===- PartitionStates.h - Programs over slices of states -------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_PARTITIONSTATES_H
#define WEFT_LIB_SHARDING_PARTITIONSTATES_H

#include "Reshard.h"
#include "SlicedStates.h"

namespace weft {

/// Values that are made of parts: elementwise ops make slices of slices.
using Slices = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Makes a program read and write slices. What reads a state as a whole reads
/// what ranks gather just before the first such op: what `reshard` frees once
/// for the forward pass, and again for the backward pass. What is kept of it is
/// written by the first micro-step and read by later ones. `known` are slices
/// of other values of the program.
void partitionStates(ProgramOp program, const MeshCollectives &mesh,
                     const SlicedStates &states, Slices known,
                     const Reshard &reshard);

} // namespace weft

#endif // WEFT_LIB_SHARDING_PARTITIONSTATES_H
