//===- MpiLibrary.h - The entry points of MPI -------------------*- C++ -*-===//
//
// Opened at run time: a program with a mesh also runs on a machine without MPI,
// where its ranks are threads or processes that talk over TCP.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_MPILIBRARY_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_MPILIBRARY_H

#include "weft/Base/Results.h"

// The C++ bindings bring a global that is made at start.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

namespace weft {

/// The functions and the objects of the library. Its ABI is the ABI of the MPI
/// that weft was built with.
struct MpiLibrary {
  decltype(&::MPI_Cancel) cancel;
  decltype(&::MPI_Comm_get_attr) commGetAttr;
  decltype(&::MPI_Comm_rank) commRank;
  decltype(&::MPI_Comm_set_errhandler) commSetErrhandler;
  decltype(&::MPI_Comm_size) commSize;
  decltype(&::MPI_Error_string) errorString;
  decltype(&::MPI_Finalize) finalize;
  decltype(&::MPI_Init_thread) initThread;
  decltype(&::MPI_Initialized) initialized;
  decltype(&::MPI_Iprobe) iprobe;
  decltype(&::MPI_Irecv) irecv;
  decltype(&::MPI_Isend) isend;
  decltype(&::MPI_Recv) recv;
  decltype(&::MPI_Request_free) requestFree;
  decltype(&::MPI_Testsome) testsome;
  decltype(&::MPI_Wait) wait;

  MPI_Comm world;
  MPI_Datatype byte;
  MPI_Request noRequest;
  MPI_Errhandler errorsReturn;
};

/// Opens the library; exit 9 if there is none, or one of another ABI.
Status openMpi();

/// Precondition: openMpi() has succeeded.
const MpiLibrary &mpi();

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_MPILIBRARY_H
