//===- PartitionStates.h - Programs over slices of states -------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_PARTITIONSTATES_H
#define WEFT_LIB_SHARDING_PARTITIONSTATES_H

#include "MeshCollectives.h"

#include "weft/Weft/Weft.h"

namespace weft {

/// Values that are made of parts: elementwise ops make slices of slices.
using Slices = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Makes the flat parameters and states with a sharded layout those of one
/// slice, and returns them. Fails with an error on one that is not flat.
llvm::FailureOr<llvm::DenseSet<mlir::StringAttr>>
declareSlices(mlir::ModuleOp module, dist::MeshOp mesh);

/// Makes a program read and write the slices of such states. What reads one as
/// a whole reads what ranks gather just before the first such op: with
/// `reshard` once for the forward pass, and again for the backward pass. A
/// state that is whole and made of slices is gathered before it is written.
/// `known` are slices of other values of the program.
void partitionStates(ProgramOp program, const MeshCollectives &mesh,
                     const llvm::DenseSet<mlir::StringAttr> &sharded,
                     Slices known, bool reshard);

} // namespace weft

#endif // WEFT_LIB_SHARDING_PARTITIONSTATES_H
