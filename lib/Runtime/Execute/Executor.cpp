//===- Executor.cpp - Runs the command table of a program -----------------===//

#include "weft/Runtime/Execute/Executor.h"

#include <chrono>
#include <utility>

namespace weft {
namespace {

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void runCommand(WeftContext &context, const WeftCommand &command,
                void *const *buffers) {
  if (command.library)
    return command.library(&context, &command, buffers);
  WeftKernelFn kernel = command.kernel;
  context.parallelFor(command.extent, command.grain, [&](RangePart part) {
    kernel(buffers, part.begin, part.end);
  });
}

void runTraced(WeftContext &context, const WeftProgram &program,
               const WeftCommand &command, void *const *buffers) {
  int64_t start = nowNs();
  runCommand(context, command, buffers);
  if (!std::exchange(context.isTracedLater, false))
    context.traceHook({&program, &command, start, nowNs() - start});
}

} // namespace

bool runProgram(WeftContext &context, const WeftProgram &program) {
  if (!context.ensureTeam())
    return false;
  context.running = &program;
  void *const *buffers = context.resolve(program).data();
  for (int32_t i = 0; i < program.numCommands; ++i) {
    const WeftCommand &command = program.commands[i];
    if (context.traceHook)
      runTraced(context, program, command, buffers);
    else
      runCommand(context, command, buffers);
    if (context.failed() ||
        (context.checkHook && !context.checkHook(program, command, buffers)))
      return false;
    buffers += command.numBuffers;
  }
  return true;
}

bool runProgram(WeftContext &context, const char *name) {
  if (const WeftProgram *program = context.findProgram(name))
    return runProgram(context, *program);
  context.fail(70, std::string("expects a program '") + name +
                       "' in the executable, but got none");
  return false;
}

} // namespace weft
