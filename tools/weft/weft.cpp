//===- weft.cpp - The driver ----------------------------------------------===//

#include "Commands.h"

#include "weft/Pipeline/Version.h"
#include "weft/Support/ToolMain.h"

#include <algorithm>
#include <cstdio>
#include <malloc.h>

using namespace weft;

namespace {
struct Command {
  const char *name;
  Expected<ExitCode> (*run)(const Arguments &);
  const char *help;
};
} // namespace

static const Command kCommands[] = {
    {"train", trainCommand, "MODEL: compile (cached) and run"},
    {"compile", compileCommand, "MODEL: make an executable, or any IR level"},
    {"inspect", inspectCommand,
     "PROGRAM: memory, schedule, parameters, kernels"},
    {"check", checkCommand, "MODEL: gradients against finite differences"},
    {"ckpt", checkpointCommand, "ls, verify, diff, export of checkpoints"},
    {"cache", cacheCommand, "ls, clear of the programs that weft train keeps"},
    {"help-markdown", helpMarkdownCommand, ""}, // for scripts/docs.sh
};

static void printUsage(std::FILE *stream) {
  std::fprintf(stream, "usage: weft COMMAND ...\n\ncommands:\n");
  for (const Command &command : kCommands)
    if (*command.help)
      std::fprintf(stream, "  %-8s %s\n", command.name, command.help);
  std::fprintf(stream, "\nweft COMMAND --help shows the flags of a command; "
                       "weft --version the version\n");
}

static int dispatch(const std::string &name, const Arguments &args) {
  if (name == "--help" || name == "-h" || name == "help") {
    printUsage(stdout);
    return 0;
  }
  if (name == "--version") {
    std::printf("weft %s\n", kVersion);
    return 0;
  }
  for (const Command &command : kCommands) {
    if (name != command.name)
      continue;
    Expected<ExitCode> code = command.run(args);
    return code ? static_cast<int>(*code) : code.error().report();
  }
  if (name.empty()) {
    printUsage(stderr);
    return static_cast<int>(ExitCode::Usage);
  }
  return usageError("unknown command " + inQuotes(name))
      .hint("weft --help lists the commands")
      .report();
}

/// A heap that grows by pages asks the kernel once per page, and each change of
/// the address space halts the threads that work beside it. Memory that is
/// asked for and not touched costs nothing.
static void growHeapInLargeSteps() {
#ifdef __GLIBC__
  mallopt(M_TOP_PAD, 32 << 20);
#endif
}

int main(int argc, char **argv) {
  growHeapInLargeSteps();
  return runTool([&] {
    return dispatch(argc > 1 ? argv[1] : "",
                    Arguments(argv + std::min(argc, 2), argv + argc));
  });
}
