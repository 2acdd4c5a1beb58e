//===- LaunchCommand.cpp - weft launch ------------------------------------===//

#include "ToolCommands.h"

#include "CachedProgram.h"
#include "LaunchedProcesses.h"
#include "LocalRun.h"
#include "TextServer.h"
#include "TokenizedData.h"

#include "weft/Base/CountText.h"
#include "weft/Base/FlagNames.h"
#include "weft/Base/RunFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Execute/Metadata.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

static std::string helpText() {
  const auto columns = static_cast<size_t>(outputColumns());
  const std::string purpose =
      "Runs a program that was compiled with --mesh as one process for each "
      "rank: with --target=cuda on the devices of this machine, otherwise as "
      "processes of mpirun, each bound to an equal part of the processors.";
  return wrapText("usage: weft launch [-n RANKS] [--tcp] [--restarts N] "
                  "PROGRAM [RUN FLAGS]",
                  7, columns) +
         "\n\n" + wrapText(purpose, 0, columns) + "\n\nRanks:\n" +
         helpLine("-n RANKS",
                  "number of ranks; must be the size of the mesh, the default",
                  columns) +
         helpLine("--tcp",
                  "start the processes on this machine without mpirun; they "
                  "communicate over TCP",
                  columns) +
         helpLine("--restarts N",
                  "resume from the newest checkpoint (--resume=auto) up to N "
                  "times after a rank failed (exit 7)",
                  columns) +
         "\n" +
         wrapText("RUN FLAGS are flags of the program: PROGRAM --help lists "
                  "them",
                  0, columns) +
         "\n";
}

namespace {
struct Launch {
  int64_t ranks = 0; // 0: the size of the mesh
  int64_t restarts = 0;
  bool help = false;
  bool overTcp = false;
  std::string program;
  Arguments args;
};
} // namespace

static Expected<int64_t> readNumber(const std::string &flag,
                                    const std::string &text, int64_t least) {
  char *end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || number < least || number > 100000)
    return usageError(flag + " expects a number from " + std::to_string(least) +
                      " to 100000, but got " + inQuotes(text));
  return int64_t(number);
}

/// Whether a flag or a name of another tool for one is the program's.
static bool isOfRun(const std::string &name) {
  const ForeignName *entry = findForeignFlag(name);
  const std::string own = entry ? entry->answer : name;
  const FlagSpec *known = findFlagName(own.substr(0, own.find('=')));
  return known && known->group == RunFlag;
}

/// The answer to a flag in front of the program; `value` is what follows it.
static Error unknownFlag(const std::string &shown, const std::string &value) {
  static const char kPlace[] = " in front of the program";
  const std::string plain =
      shown.substr(std::min(shown.find_first_not_of('-'), shown.size()));
  const std::string name = kebabCase(plain);
  Error error = usageError("unknown flag " + inQuotes(shown) + kPlace);
  if (name == "max-restarts")
    return error.hint("weft launch writes it '--restarts'");
  const ForeignName *entry = findForeignFlag(name);
  if (isOfRun(name))
    return error.hint(entry ? describeForeign(*entry) + ", after the program"
                            : "flags of the run follow the program");
  // The program was compiled, whatever with.
  static const std::map<std::string, std::string> compiled;
  FlagParseOptions options;
  options.program = "weft launch";
  options.compiledWith = &compiled;
  const FlagTable table({{"restarts", FlagKind::Int, DriverFlag, "0", "N", ""},
                         {"tcp", FlagKind::Switch, DriverFlag, "", "", ""},
                         helpFlag(DriverFlag)});
  Error answer = unknownFlagError({shown, plain, value}, table, options);
  return answer.message().rfind("unknown flag", 0) == 0
             ? error.hint(answer.hintText())
             : answer;
}

/// The value of the flag at `i`: behind '=', or the next argument unless that
/// is a flag too.
static std::string valueAt(const Arguments &args, size_t i) {
  if (const size_t equals = args[i].find('='); equals != std::string::npos)
    return args[i].substr(equals + 1);
  return i + 1 < args.size() && args[i + 1].rfind('-', 0) != 0 ? args[i + 1]
                                                               : "";
}

/// The flags in front of the program; what stands behind it is the program's.
static Expected<Launch> parseLaunch(const Arguments &args) {
  Launch launch;
  size_t i = 0;
  for (; i < args.size() && args[i].rfind("-", 0) == 0; ++i) {
    const size_t equals = args[i].find('=');
    const std::string name = args[i].substr(0, equals);
    if (name == "--help" || name == "-h") {
      launch.help = true;
      return launch;
    }
    if (args[i] == "--tcp") {
      launch.overTcp = true;
      continue;
    }
    if (name != "-n" && name != "--restarts")
      return unknownFlag(name, valueAt(args, i));
    if (equals == std::string::npos && i + 1 == args.size())
      return usageError(name + " expects a number, but got none");
    const std::string text =
        equals == std::string::npos ? args[++i] : args[i].substr(equals + 1);
    auto number = readNumber(name, text, name == "-n" ? 1 : 0);
    if (!number)
      return number.takeError();
    (name == "-n" ? launch.ranks : launch.restarts) = *number;
  }
  if (i == args.size())
    return usageError("expects a PROGRAM").hint("weft launch --help");
  launch.program = args[i];
  launch.args.assign(args.begin() + int64_t(i) + 1, args.end());
  return launch;
}

static bool has(const Arguments &args, const std::string &flag) {
  for (const std::string &arg : args)
    if (arg == flag || arg.rfind(flag + "=", 0) == 0)
      return true;
  return false;
}

/// The facts of a program that its start depends on.
namespace {
struct Compiled {
  int64_t ranks;
  bool isForCuda;        // its ranks do without MPI
  std::string tokenizer; // of a run that may sample text; "": none
};
} // namespace

static Expected<Compiled> readCompiled(const Launch &launch) {
  Program program;
  program.path = fs::absolute(launch.program).string();
  auto metadata = metadataOf(program);
  if (!metadata)
    return metadata.takeError();
  // mpirun would say so in many words.
  if (Status status = checkCanRun(program.path); !status)
    return status.takeError();
  const Arguments given = argumentsWithFile(launch.args);
  // The checkpoint of a resumed run may have --generate.
  const bool maySample = has(given, "--generate") || has(given, "--resume");
  return Compiled{metadata->ranks(), metadata->target.rfind("cuda", 0) == 0,
                  maySample ? tokenizerOf(*metadata, program) : ""};
}

/// The command line of a run that resumes from the newest checkpoint.
static Arguments resumed(const Arguments &args) {
  Arguments further;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--resume")
      ++i;
    else if (args[i].rfind("--resume=", 0) != 0)
      further.push_back(args[i]);
  }
  further.push_back("--resume=auto");
  return further;
}

Expected<ExitCode> weft::launchCommand(const Arguments &args) {
  // Before anything that takes time: an early signal is kept.
  stopSignals();
  auto launch = parseLaunch(args);
  if (!launch)
    return launch.takeError();
  if (launch->help) {
    printText(helpText());
    return ExitCode::Ok;
  }
  auto compiled = readCompiled(*launch);
  if (!compiled)
    return compiled.takeError();
  const int64_t ranks = compiled->ranks;
  if (launch->ranks != 0 && launch->ranks != ranks)
    return usageError("expects -n " + std::to_string(ranks) +
                      ", the ranks of the mesh of the program, but got " +
                      std::to_string(launch->ranks));
  if (launch->restarts > 0 &&
      !has(argumentsWithFile(launch->args), "--save-dir"))
    return usageError("--restarts expects a run with --save-dir");
  // mpirun looks for a bare name on the PATH.
  const std::string program = fs::absolute(launch->program).string();
  Arguments flags = launch->args;
  for (int64_t left = launch->restarts;; --left) {
    // The end of the ranks ends the tokenizer as well.
    if (!compiled->tokenizer.empty())
      if (Status s = startTextServer(compiled->tokenizer); !s)
        return s.takeError();
    auto code = launch->overTcp || compiled->isForCuda
                    ? runLocalRanks(ranks, program, flags,
                                    /*binds=*/!compiled->isForCuda)
                    : runRanks(ranks, program, flags);
    const ExitCode ended = code ? *code : code.error().code();
    if (ended != ExitCode::Communication || left == 0 ||
        stopSignals().first() != 0)
      return code;
    if (!code)
      code.error().report();
    warn("a rank failed: starting again from the newest checkpoint, " +
         countText(left - 1, "restart") + " left");
    flags = resumed(launch->args);
  }
}
