//===- Entry.cpp - From the command line to the exit status ---------------===//

#include "weft/Runtime/Run/Entry.h"

#include "weft/Base/OutOfMemory.h"
#include "weft/Base/RunFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Runtime/Checkpoints/WeightSource.h"
#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Collectives/Rendezvous.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Execute/CpuFeatures.h"
#include "weft/Runtime/Execute/CpuLevel.h"
#include "weft/Runtime/Execute/StateSegments.h"
#include "weft/Runtime/Run/Evaluate.h"
#include "weft/Runtime/Run/Run.h"
#include "weft/Runtime/Run/Signals.h"
#include "weft/Runtime/Run/Trainer.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <unistd.h>

using namespace weft;

/// The file that is running; relative weights are looked for beside it.
static std::string ownPath(const char *fallback) {
  char path[4096];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 && size < ssize_t(sizeof path) ? std::string(path, size)
                                                 : fallback;
}

static Status checkMachine(const Metadata &metadata) {
  std::vector<std::string> missing = missingCpuFeatures(metadata.cpuFeatures);
  if (missing.empty())
    return isForCuda(metadata) ? Status::success() : checkCpuLevel();
  return deviceError("the program was compiled for ", metadata.target,
                     "; this processor lacks ", joined(missing))
      .hint("compile with --target=cpu on this machine, or with a lower level "
            "such as --target=cpu:x86-64-v3");
}

/// That ranks are threads of this process, or the only one.
static Status checkAlone(const RunOptions &options) {
  const std::optional<Launcher> launcher = findLauncher();
  if (!launcher || launcher->processes <= 1)
    return Status::success();
  const std::string started = ", but " + launcher->name + " has started " +
                              std::to_string(launcher->processes);
  if (options.loopback != 0)
    return usageError("--loopback expects one process", started)
        .hint("leave --loopback out");
  return usageError("expects one process, since the program has one rank",
                    started)
      .hint("compile with --mesh=dp:" + std::to_string(launcher->processes));
}

static Error notLaunched(int64_t ranks, const std::string &program) {
  const std::string count = std::to_string(ranks);
  return usageError("expects ", count,
                    " ranks, as the mesh of the program has, but got 1")
      .hint("weft launch " + program + " starts them; --loopback " + count +
            " runs them as threads");
}

static bool has(const std::vector<std::string> &args, const std::string &flag) {
  return std::any_of(args.begin(), args.end(), [&](const std::string &arg) {
    return arg == flag || arg.rfind(flag + "=", 0) == 0;
  });
}

static Error otherRanks(int64_t ranks, const Launcher &launcher, int started) {
  return usageError("expects ", ranks,
                    " ranks, as the mesh of the program has, but ",
                    launcher.name, " has started ", started)
      .saidBy(launcher.rank == 0);
}

/// Joins the processes of a launcher without MPI.
static Expected<std::unique_ptr<RankProcess>> joinOverTcp(int64_t ranks,
                                                          double timeout) {
  auto rendezvous = findRendezvous();
  if (!rendezvous)
    return rendezvous.takeError();
  // Others may not come at all.
  if (rendezvous->ranks != ranks)
    return otherRanks(ranks, *findLauncher(), rendezvous->ranks);
  return joinTcp(*rendezvous, timeout);
}

/// The other processes of the run, before anything that could be wrong with the
/// command line of one of them alone; null if all ranks are in this one.
static Expected<std::unique_ptr<RankProcess>>
joinOthers(int64_t ranks, const std::vector<std::string> &args,
           JoinProcesses joinMpi) {
  const std::optional<Launcher> launcher = findLauncher();
  if (!launcher || ranks == 1 || has(args, "--loopback"))
    return std::unique_ptr<RankProcess>();
  if (!launcher->hasMpi || !joinMpi)
    return joinOverTcp(ranks, readTimeout(args));
  auto process = [&] {
    LaunchHeartbeat heartbeat(RankStage::Starting, RankStage::Running,
                              "MPI_Init", readTimeout(args));
    return joinMpi();
  }();
  // The one that speaks has to be heard before mpirun ends it.
  if (!process || (*process)->ranks() == ranks)
    return process;
  return otherRanks(ranks, *launcher, (*process)->ranks());
}

/// Whether the run stops and saves when a signal asks it to.
static bool savesAtSignals(const RunOptions &options) {
  return options.trains() && !options.saveDir.empty() && !options.dryRun &&
         options.tune.empty() && !options.help && !options.version &&
         !options.config;
}

/// The text of a process that only answers its command line.
static std::optional<std::string> answerOf(const RunOptions &options,
                                           const Metadata &metadata,
                                           const std::string &program) {
  if (options.help)
    return runHelp(metadata, program, *options.help);
  if (options.version)
    return metadata.name + ", compiled by weft " + metadata.version + "\n";
  return options.config;
}

namespace {
/// One start of a program, from the command line to the exit status.
class Start {
public:
  Start(const WeftExecutable &executable, std::vector<std::string> args,
        std::string program, JoinProcesses join, EarlySignals &signals)
      : executable(executable), args(std::move(args)),
        early(argumentsWithFile(this->args)), program(std::move(program)),
        join(join), signals(signals) {}

  int run();

private:
  Expected<ExitCode> runProgram();
  Status readOptions(const Metadata &metadata);
  Status checkProcesses(const Metadata &metadata) const;
  Status finish();
  int report(const Error &error);

  const WeftExecutable &executable;
  const std::vector<std::string> args;
  const std::vector<std::string> early; // with the flags of a file behind
  const std::string program;
  const JoinProcesses join;
  EarlySignals &signals;
  RunOptions options;
  Faults faults;
  std::unique_ptr<RankProcess> process; // of several
};
} // namespace

/// A checkpoint may be exported from anywhere.
static void locateCompanions(Metadata &metadata,
                             const std::string &executablePath) {
  for (InitialFile &file : metadata.companionFiles) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(
        locateWeights(file.path, executablePath), error);
    if (!error)
      file.path = path.lexically_normal().string();
  }
}

Expected<ExitCode> Start::runProgram() {
  if (executable.abiVersion != WEFT_ABI_VERSION)
    return internalError("expects ABI version ", WEFT_ABI_VERSION, ", but got ",
                         executable.abiVersion);
  auto metadata = parseMetadata(
      std::string_view(executable.metadata, size_t(executable.metadataBytes)));
  if (!metadata)
    return metadata.takeError();
  if (std::string wrong = checkSegments(executable, int(metadata->ranks()));
      !wrong.empty())
    return Error(ExitCode::Internal, std::move(wrong));
  if (Status s = checkPorts(executable, *metadata); !s)
    return s.takeError();
  if (Status s = assign(joinOthers(metadata->ranks(), early, join), process);
      !s)
    return s.takeError();
  Status ready = readOptions(*metadata);
  if (ready && !savesAtSignals(options))
    signals.endProcess();
  if (auto text = answerOf(options, *metadata, program); ready && text) {
    if (!process || process->rank() == 0)
      printText(*text);
    return ExitCode::Ok;
  }
  locateCompanions(*metadata, ownPath(program.c_str()));
  const RunInputs inputs = {executable, *metadata, options, faults,
                            process.get()};
  return Run(inputs, ownPath(program.c_str())).execute(std::move(ready));
}

/// Checks that a process that has not joined others can run all ranks.
Status Start::checkProcesses(const Metadata &metadata) const {
  if (process)
    return Status::success();
  if (metadata.ranks() == 1 || options.loopback != 0)
    return checkAlone(options);
  if (options.dryRun)
    return Status::success();
  return notLaunched(metadata.ranks(), program);
}

/// Parses the command line and checks its requirements on machine and program.
Status Start::readOptions(const Metadata &metadata) {
  auto parsed = parseRunOptions(args, metadata, executable, program);
  if (!parsed)
    return parsed.takeError();
  options = std::move(*parsed);
  if (options.help || options.version || options.config)
    return Status::success();
  if (Status s = checkProcesses(metadata); !s)
    return s;
  if (Status s = checkMachine(metadata); !s)
    return s;
  if (Status s = checkHyperParameters(executable, metadata, options); !s)
    return s;
  if (Status s = checkGenerate(options, metadata, executable); !s)
    return s;
  if (Status s = checkPredict(options, executable); !s)
    return s;
  if (Status s = assign(Faults::fromEnvironment(), faults); !s)
    return s;
  return checkFaults(executable, metadata.ranks(), faults);
}

/// A process that ends with all others waits for them in finish(): the one that
/// reports the error does so before the launcher ends it.
int Start::report(const Error &error) {
  const int status = error.report();
  if (!error.isOfAllProcesses())
    process.reset();
  return status;
}

/// The end of a process that every other one ends with.
Status Start::finish() {
  if (!process)
    return Status::success();
  LaunchHeartbeat heartbeat(RankStage::Ending, RankStage::Ended, "MPI_Finalize",
                            readTimeout(early));
  return process->finish();
}

int Start::run() {
  int status = 0;
  try {
    auto code = runProgram();
    status = code ? int(*code) : report(code.error());
  } catch (const std::exception &failure) {
    status = report(errorOf(failure));
  }
  const bool onlySamples = options.generate && !options.trains();
  status = finishOutput(status,
                        onlySamples ? ReaderGone::Quiet : ReaderGone::Reported);
  try {
    Status left = finish();
    return left || status != 0 ? status : left.error().report();
  } catch (const std::exception &failure) {
    return status != 0 ? status : errorOf(failure).report();
  }
}

void weft::beginProcess() {
  blockStopSignals();
  explainEnds();
}

int weft::weftMain(const WeftExecutable &executable, int argc, char **argv,
                   JoinProcesses join) {
  beginProcess();
  reserveStandardStreams();
  enterProcess(argv);
  EarlySignals signals;
  std::string program = argc > 0 ? argv[0] : "weft";
  std::vector<std::string> args(argv + (argc > 0), argv + argc);
  int status =
      Start(executable, std::move(args), std::move(program), join, signals)
          .run();
  leaveProcess();
  return status;
}
