//===- OutOfMemory.h - Ends of a process without memory ---------*- C++ -*-===//
//
// A process under a limit on memory (ulimit -v) runs out of it anywhere: in a
// library without exceptions, in a thread that others wait for, in the frame of
// a function. It always ends with 4 and one sentence.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_OUTOFMEMORY_H
#define WEFT_BASE_OUTOFMEMORY_H

#include "weft/Base/Error.h"

#include <exception>

namespace weft {

Error noMemoryError();

/// Of a thread that could not be made: noMemoryError() if there was no memory
/// for its stack, else exit 9.
Error noThreadError();

/// The error of a process that an unexpected exception ends.
Error errorOf(const std::exception &failure);

/// Whether the system gives no more memory, not even the little that any work
/// needs. Where nothing limits a process, it always does.
bool isMemoryExhausted();

/// Reports noMemoryError(), removes temporaries and ends the process with 4.
/// Allocates nothing and may be called by a signal handler. Of several threads
/// one speaks.
[[noreturn]] void endWithoutMemory();

/// Turns the ends that come of a lack of memory, or of threads, into errors:
/// std::terminate(), and a fault or an abort() while there is no more memory:
/// an allocation that nobody has checked, or a stack that cannot grow.
void explainEnds();

} // namespace weft

#endif // WEFT_BASE_OUTOFMEMORY_H
