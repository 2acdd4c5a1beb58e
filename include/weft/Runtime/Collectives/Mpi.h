//===- Mpi.h - Ranks that are processes of MPI ------------------*- C++ -*-===//
//
// The library WeftRuntimeMpi, for programs with a mesh alone: no other one
// links MPI.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_MPI_H
#define WEFT_RUNTIME_COLLECTIVES_MPI_H

#include "weft/Runtime/Collectives/Processes.h"

namespace weft {

/// Joins the processes that mpirun or srun has started. MPI itself ends the
/// process where that fails.
Expected<std::unique_ptr<RankProcess>> joinMpi();

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_MPI_H
