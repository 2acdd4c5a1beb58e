//===- weft.cpp - The driver ----------------------------------------------===//

#include "ToolCommands.h"

#include "weft/Base/FlagNames.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Pipeline/Metadata/Version.h"
#include "weft/Support/ToolMain.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/resource.h>
#endif

using namespace weft;

namespace {
struct Command {
  const char *name;
  Expected<ExitCode> (*run)(const Arguments &);
  const char *help;
  const char *heading = ""; // of this command and the following ones
};
} // namespace

static const Command kCommands[] = {
    {"train", trainCommand, "MODEL: compile (cached) and run",
     "Train and use models"},
    {"compile", compileCommand, "MODEL: make an executable, or any IR level"},
    {"launch", launchCommand, "PROGRAM: run it as the ranks of its mesh"},
    {"generate", generateCommand, "MODEL: print a sample of trained weights"},
    {"evaluate", evaluateCommand, "MODEL: the loss of trained weights"},
    {"predict", predictCommand, "MODEL: a file of results for rows of data"},
    {"inspect", inspectCommand,
     "PROGRAM: memory, schedule, parameters, kernels", "Look and check"},
    {"report", reportCommand, "RUN: one HTML page about a run"},
    {"bench", benchCommand, "a cost table of this machine"},
    {"check", checkCommand, "MODEL: gradients against finite differences"},
    {"ckpt", checkpointCommand, "ls, verify, diff, export of checkpoints",
     "Files"},
    {"cache", cacheCommand, "ls, clear of the programs that weft train keeps"},
    {"data", dataCommand, "prepare: text and JSON lines to a file of tokens"},
    {"tokenize", tokenizeCommand, "FILE: text to token numbers, and back"},
    {"help-markdown", helpMarkdownCommand, ""}, // for scripts/docs.sh
    {"serve-text", serveTextCommand, ""},       // for startTextServer()
};

static std::string commandLine(const Command &command, size_t columns) {
  constexpr size_t kTextColumn = 11;
  std::string line = "  " + std::string(command.name);
  line.resize(kTextColumn, ' ');
  return line + wrapText(command.help, kTextColumn, columns) + "\n";
}

static void printUsage(std::FILE *stream) {
  const auto columns = static_cast<size_t>(outputColumns());
  std::string text = "usage: weft COMMAND ...\n";
  for (const Command &command : kCommands) {
    if (*command.heading)
      text += "\n" + std::string(command.heading) + ":\n";
    if (*command.help)
      text += commandLine(command, columns);
  }
  text += "\n" +
          wrapText("weft help COMMAND shows the flags of a command; weft "
                   "--version the version",
                   0, columns) +
          "\n";
  std::fputs(text.c_str(), stream);
}

/// The command that a name is perhaps a misspelling of, or "".
static std::string similarCommand(const std::string &name) {
  std::vector<std::string> names;
  for (const Command &command : kCommands)
    if (*command.help)
      names.push_back(command.name);
  return similarName(name, names);
}

static Error unknownCommand(const std::string &name) {
  Error error = usageError("unknown command " + inQuotes(name));
  const char *all = "weft --help lists the commands";
  std::error_code ignored;
  if (name[0] == '-')
    return error.hint(std::string("a command comes before its flags: ") + all);
  if (const ForeignName *entry = findForeignCommand(kebabCase(name)))
    return error.hint(describeForeignCommand(*entry));
  if (std::string near = similarCommand(kebabCase(name)); !near.empty())
    return error.hint("the nearest command is 'weft " + near + "'; " + all);
  if (std::filesystem::exists(name, ignored))
    return error.hint("weft train " + printable(name, 80) +
                      " trains a model, weft inspect reads a program");
  return error.hint(all);
}

static int dispatch(const std::string &name, const Arguments &args) {
  const bool isOfCommand =
      name == "help" && !args.empty() && args[0].rfind("-", 0) != 0;
  if (isOfCommand && args.size() == 2 && args[1] == "--help-all")
    return dispatch(args[0], {args[1]});
  if (name == "help" && args.size() > 1)
    return usageError("unexpected argument " + inQuotes(args[1]))
        .hint("weft help COMMAND shows the flags of one command, and weft "
              "COMMAND VERB --help those of a verb")
        .report();
  if (isOfCommand)
    return dispatch(args[0], {"--help"});
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
  return unknownCommand(name).report();
}

/// A heap that grows by pages asks the kernel once per page, and each change of
/// the address space halts the threads that work beside it. Memory that is
/// asked for and not touched costs nothing. The thresholds are where glibc's
/// own end, which it no longer moves once one of these is set.
static void growHeapInLargeSteps() {
#ifdef __GLIBC__
  // Under a limit the address space itself is scarce. Each thread's heap
  // reserves 64 MiB, and where it cannot, every allocation tries to again.
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    mallopt(M_ARENA_MAX, 1);
    return;
  }
  constexpr int kStep = 32 << 20;
  mallopt(M_TOP_PAD, kStep);
  mallopt(M_MMAP_THRESHOLD, kStep);
  mallopt(M_TRIM_THRESHOLD, 2 * kStep);
#endif
}

int main(int argc, char **argv) {
  growHeapInLargeSteps();
  return runTool([&] {
    return dispatch(argc > 1 ? argv[1] : "",
                    Arguments(argv + std::min(argc, 2), argv + argc));
  });
}
