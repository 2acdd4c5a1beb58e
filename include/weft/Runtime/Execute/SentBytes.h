//===- SentBytes.h - What the collectives of a program send -----*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTE_SENTBYTES_H
#define WEFT_RUNTIME_EXECUTE_SENTBYTES_H

#include "weft/Abi/Executable.h"

namespace weft {

/// Bytes that a rank sends to others in one run of a program, by the records of
/// its collectives. Each slice or number counts once for every other
/// rank, as in CPU programs.
int64_t sentBytes(const WeftProgram &program);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_SENTBYTES_H
