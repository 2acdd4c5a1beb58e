//===- Executor.cpp - Runs the command table of a program -----------------===//

#include "weft/Runtime/Execute/Context.h"

#include <utility>

// Weak: a program without products links no oneDNN.
extern "C" [[gnu::weak]] void weft_cpu_gemm_prepare(WeftContext *,
                                                    const WeftCommand *);

using namespace weft;

static void runCommand(WeftContext &context, const WeftCommand &command,
                       void *const *buffers) {
  if (command.library)
    return command.library(&context, &command, buffers);
  WeftKernelFn kernel = command.kernel;
  context.parallelFor(command.extent, command.grain, [&](RangePart part) {
    kernel(buffers, part.begin, part.end);
  });
}

static void runTraced(WeftContext &context, const WeftProgram &program,
                      const WeftCommand &command, void *const *buffers) {
  // A clock of processor time is a system call: it stays outside of the
  // duration.
  const int64_t used = threadNs(), start = steadyNs();
  runCommand(context, command, buffers);
  const int64_t duration = steadyNs() - start;
  if (!std::exchange(context.isTracedLater, false))
    context.traceHook(
        {&program, &command, start, duration, /*stream=*/0, threadNs() - used});
}

bool weft::runProgram(WeftContext &context, const WeftProgram &program) {
  if (!context.ensureTeam())
    return false;
  context.running = &program;
  void *const *buffers = context.resolve(program).data();
  for (const WeftCommand &command : commandsOf(program)) {
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

bool weft::runProgram(WeftContext &context, const char *name) {
  if (const WeftProgram *program = context.findProgram(name))
    return runProgram(context, *program);
  context.fail(70, std::string("expects a program '") + name +
                       "' in the executable, but got none");
  return false;
}

//===- Contexts of the host -----------------------------------------------===//

// The parts of a context that need libgomp. A program for another device does
// not link libgomp.

/// Forms a team with as many threads as the options ask for, but no more than
/// the program has workspaces for.
static ThreadTeam formTeam(const ContextOptions &options) {
  int wanted = options.threads > 0 ? options.threads : availableThreads();
  if (options.maxThreads <= 0 || wanted <= options.maxThreads)
    return weft::formTeam(wanted);
  ThreadTeam team = weft::formTeam(options.maxThreads);
  if (team.shortage.empty())
    team.shortage = "the program is compiled for at most " +
                    std::to_string(options.maxThreads) + " (--threads-max)";
  return team;
}

WeftContext::WeftContext(const ContextOptions &options)
    : WeftContext(options, formTeam(options)) {}

bool WeftContext::ensureTeam() {
  if (weft::ensureTeam(team.members))
    return true;
  fail(9, "expects " + std::to_string(team.members) +
              " threads, as when the context was made, but the thread that "
              "runs the program gets fewer");
  return false;
}

void WeftContext::touchMemory() {
  constexpr int64_t page = 4096;
  parallelFor((arenaBytes() + page - 1) / page, 512, [&](RangePart part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      volatile char *first = arena + i * page;
      *first = *first;
    }
  });
}

void weft::warmUp(WeftContext &context,
                  const std::vector<const WeftProgram *> &programs) {
  for (const WeftProgram *program : programs)
    for (const WeftCommand &command : commandsOf(*program))
      if (command.kind == WEFT_GEMM && weft_cpu_gemm_prepare)
        weft_cpu_gemm_prepare(&context, &command);
  context.touchMemory();
  context.clearError();
}
