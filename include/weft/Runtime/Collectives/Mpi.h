//===- Mpi.h - Ranks that are processes of MPI ------------------*- C++ -*-===//
//
// The library WeftRuntimeMpi, for programs with a mesh alone: no other one
// links MPI.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_MPI_H
#define WEFT_RUNTIME_COLLECTIVES_MPI_H

#include "weft/Runtime/Collectives/Transport.h"

namespace weft {

/// The place of this process among those that mpirun or srun has started. A
/// process has one, and its transports end before it.
class MpiProcess {
public:
  /// Joins the others. MPI itself ends the process where that fails.
  static Expected<std::unique_ptr<MpiProcess>> start();
  /// Without finish() it leaves MPI as it is: to finalize waits for all ranks,
  /// and after a failure some never come. mpirun then ends all others.
  virtual ~MpiProcess();

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// The connection of all ranks, once; further ones are its split(), one at a
  /// time in a process.
  virtual std::unique_ptr<Transport> connect() = 0;
  /// The end of a process that has not failed, when its transports are gone.
  virtual Status finish() = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_MPI_H
