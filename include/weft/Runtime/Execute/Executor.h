//===- Executor.h - Runs the command table of a program ---------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTE_EXECUTOR_H
#define WEFT_RUNTIME_EXECUTE_EXECUTOR_H

#include "weft/Runtime/Execute/Context.h"

namespace weft {

/// Runs the commands of `program` in order. Stops at the first command that
/// reports an error, which is left in the context, and returns false.
bool runProgram(WeftContext &context, const WeftProgram &program);

/// The same by symbol or kind (findProgram); a program the executable lacks is
/// an error (70).
bool runProgram(WeftContext &context, const char *name);

/// Does the one-time work of the first run of the programs: allocates the pages
/// of the arena and plans products. Changes no number, and leaves errors to the
/// run itself.
void warmUp(WeftContext &context,
            const std::vector<const WeftProgram *> &programs);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_EXECUTOR_H
