//===- MpiCalls.h - Calls of MPI --------------------------------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_MPICALLS_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_MPICALLS_H

#include "weft/Base/Error.h"

// The C++ bindings bring a global that is made at start.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

namespace weft {

/// An error that names the call, unless it has succeeded.
inline Status checked(int code, const char *call) {
  if (code == MPI_SUCCESS)
    return Status::success();
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return Error(ExitCode::Communication, std::string("expects ") + call +
                                            " to succeed, but got " +
                                            std::string(text, size_t(length)));
}

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_MPICALLS_H
