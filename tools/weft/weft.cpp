//===- weft.cpp - The driver ----------------------------------------------===//

#include "Commands.h"

#include "weft/Formats/StandardStreams.h"
#include "weft/Formats/Temporaries.h"
#include "weft/Pipeline/Version.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cstdio>
#include <new>

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

/// Memory that the system does not give is no fault of the program.
static ExitCode runCommand(const Command &command, const Arguments &arguments) {
  // LLVM is built without exceptions: it asks this function before it aborts.
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { throw std::bad_alloc(); });
  try {
    Expected<ExitCode> code = command.run(arguments);
    return code ? *code : ExitCode(code.error().report());
  } catch (const std::bad_alloc &) {
    return ExitCode(
        Error(ExitCode::DoesNotFit, "the machine has no memory left").report());
  }
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
    return static_cast<int>(runCommand(command, args));
  }
  if (name.empty()) {
    printUsage(stderr);
    return static_cast<int>(ExitCode::Usage);
  }
  return usageError("unknown command " + inQuotes(name))
      .hint("weft --help lists the commands")
      .report();
}

int main(int argc, char **argv) {
  reserveStandardStreams();
  removeTemporariesOnSignals();
  std::string name = argc > 1 ? argv[1] : "";
  return finishOutput(
      dispatch(name, Arguments(argv + std::min(argc, 2), argv + argc)));
}
