//===- MpiRun.cpp - Ranks that mpirun starts ------------------------------===//
//
// mpirun has no exit codes of its own for the failure of a rank. It prints the
// reason between two lines of dashes on its standard error. The user does not
// see a block that only repeats messages of the ranks or of weft launch.
//
//===----------------------------------------------------------------------===//

#include "LocalRun.h"

#include "LaunchWatch.h"
#include "LaunchedProcesses.h"

#include "weft/Base/RunFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Runtime/Run/Signals.h"

#include "llvm/Support/Program.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <regex>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Processors that this process may use.
static int64_t countProcessors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static std::vector<std::string> mpirunCommand(const std::string &mpirun,
                                              int64_t ranks,
                                              const std::string &program,
                                              const Arguments &args) {
  std::vector<std::string> command = {mpirun, "-n", std::to_string(ranks)};
  if (::geteuid() == 0)
    command.push_back("--allow-run-as-root");
  const int64_t processors = countProcessors();
  std::vector<std::string> binding = {"--oversubscribe", "--bind-to", "none"};
  if (ranks <= processors)
    binding = {"--map-by", "slot:PE=" + std::to_string(processors / ranks),
               "--bind-to", "core"};
  command.insert(command.end(), binding.begin(), binding.end());
  // To ranks on other machines too.
  command.insert(command.end(),
                 {"-x", kLaunchVariable, "-x", kTerminalVariable});
  command.push_back(program);
  command.insert(command.end(), args.begin(), args.end());
  return command;
}

//===----------------------------------------------------------------------===//
// Messages of mpirun
//===----------------------------------------------------------------------===//

namespace {
/// Passes on what comes from the ranks, but for their heartbeats.
class Messages {
public:
  explicit Messages(LaunchWatch &watch) : watch(watch) {}

  /// Takes what was read; a line may come in several reads.
  void take(const char *text, size_t size);
  void end();
  /// From now on nothing is passed on.
  void mute() { isMuted = true; }

  /// "rank 2 was ended by signal 9 (Killed)", if that befell one.
  const std::string &death() const { return killed; }
  /// "rank 2 has ended with 3", if one was the first to end with an error.
  const std::string &departure() const { return left; }
  /// Blocks of mpirun that say something else.
  const std::string &rest() const { return others; }
  bool hasError() const { return said; }
  bool isDeathOf(int signal) const { return deathSignal == signal; }

private:
  void line(std::string text);
  void close();

  LaunchWatch &watch;
  bool isInBlock = false, said = false, isMuted = false;
  int deathSignal = 0;
  std::string pending, block, others, killed, left;
};
} // namespace

void Messages::take(const char *text, size_t size) {
  pending.append(text, size);
  for (size_t end; (end = pending.find('\n')) != std::string::npos;
       pending.erase(0, end + 1)) {
    std::string whole = pending.substr(0, end);
    while (!whole.empty() && whole.back() == '\r')
      whole.pop_back();
    line(whole);
  }
}

void Messages::line(std::string text) {
  const bool wasEmpty = text.empty();
  watch.take(text);
  if (isMuted || (text.empty() && !wasEmpty))
    return;
  const bool isRule =
      text.size() > 40 && text.find_first_not_of('-') == std::string::npos;
  if (isRule && isInBlock)
    return close();
  if (isRule) {
    isInBlock = true;
    return;
  }
  if (isInBlock) {
    block += text + "\n";
    return;
  }
  if (text.rfind("mpirun: Forwarding signal", 0) == 0)
    return;
  said |= text.rfind("weft: error:", 0) == 0;
  std::fputs((text + "\n").c_str(), stderr);
}

void Messages::close() {
  static const std::regex death(
      "process rank ([0-9]+) with PID [0-9]+ on\\s+node \\S+\\s+exited on "
      "signal ([0-9]+) \\(([^)]*)\\)");
  static const std::regex exit("returned\\s+a non-zero exit code|exited with "
                               "non-zero status");
  static const std::regex first(
      "Process name: \\[\\[[0-9]+,[0-9]+\\],([0-9]+)\\]\\s+Exit "
      "code:\\s+([0-9]+)");
  isInBlock = false;
  std::smatch found;
  if (std::regex_search(block, found, death)) {
    deathSignal = std::atoi(found[2].str().c_str());
    killed = "rank " + found[1].str() + " was ended by signal " +
             found[2].str() + " (" + found[3].str() + ")";
  } else if (!std::regex_search(block, exit))
    others += block;
  if (std::regex_search(block, found, first))
    left = "rank " + found[1].str() + " has ended with " + found[2].str();
  block.clear();
}

void Messages::end() {
  if (!pending.empty())
    line(pending);
  if (isInBlock)
    close();
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

/// Becomes mpirun. A terminal sends its signals to us alone.
[[noreturn]] static void becomeLauncher(pid_t parent, char **argv, int errors) {
  stopSignals().restore();
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent)
    ::_exit(1);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execv(argv[0], argv);
  ::_exit(127);
}

namespace {
/// mpirun, from its start to its end.
class Session {
public:
  Session(int64_t ranks, double timeout)
      : watch(ranks, timeout), messages(watch) {}

  Status start(std::vector<char *> &argv);
  /// Until mpirun has closed its standard error.
  void follow();
  Expected<ExitCode> finish();

private:
  using Clock = std::chrono::steady_clock;

  bool read();
  void answerSignals();
  void endRanks();
  Expected<ExitCode> codeOf(int status) const;
  Expected<ExitCode> endOfUnsaved(int asked) const;

  LaunchWatch watch;
  Messages messages;
  pid_t mpirun = 0;
  Descriptor errors; // the standard error of mpirun
  bool hasPassedOn = false;
  std::string silence;                    // why the ranks were ended
  std::optional<Clock::time_point> endBy; // of the ranks that were ended
};
} // namespace

Status Session::start(std::vector<char *> &argv) {
  int ends[2];
  if (stopSignals().file() < 0 || ::pipe2(ends, O_CLOEXEC) != 0)
    return systemError(ExitCode::Internal, "cannot make a pipe", errno);
  errors = Descriptor(ends[0]);
  ::fcntl(errors.get(), F_SETFL, O_NONBLOCK);
  ::setenv(kLaunchVariable, watch.word().c_str(), /*overwrite=*/1);
  offerTerminal();
  adoptOrphans();
  const pid_t self = ::getpid();
  std::fflush(nullptr);
  mpirun = ::fork();
  if (mpirun == 0)
    becomeLauncher(self, argv.data(), ends[1]);
  const int number = errno;
  ::close(ends[1]);
  if (mpirun < 0)
    return systemError(ExitCode::Internal, "cannot start mpirun", number);
  return Status::success();
}

/// All that is there. False at the end.
bool Session::read() {
  char piece[4096];
  for (;;) {
    const ssize_t size = ::read(errors.get(), piece, sizeof piece);
    if (size > 0)
      messages.take(piece, size_t(size));
    else if (size == 0 || errno != EINTR)
      return size < 0 && errno == EAGAIN;
  }
}

/// mpirun hands SIGUSR1 on to the ranks, and ends them at SIGTERM. A rank that
/// has not sent a heartbeat may not keep the signal yet.
void Session::answerSignals() {
  stopSignals().take();
  if (stopSignals().second() != 0 && !endBy)
    endRanks();
  if (stopSignals().first() == 0 || hasPassedOn || !watch.haveAllStarted())
    return;
  ::kill(mpirun, SIGUSR1);
  hasPassedOn = true;
}

/// mpirun ends the ranks of all machines, and takes a second for it.
void Session::endRanks() {
  constexpr std::chrono::seconds grace(5);
  messages.mute();
  ::kill(mpirun, SIGTERM);
  ::kill(mpirun, SIGCONT);
  endBy = Clock::now() + grace;
}

void Session::follow() {
  for (Clock::time_point before = Clock::now();;) {
    pollfd files[] = {{errors.get(), POLLIN, 0},
                      {stopSignals().file(), POLLIN, 0}};
    ::poll(files, 2, int(watch.pause() * 1000) + 1);
    const Clock::time_point now = Clock::now();
    watch.pass(std::chrono::duration<double>(now - before).count());
    before = now;
    if (!read() || (endBy && now >= *endBy))
      break;
    answerSignals();
    if (!endBy && !(silence = watch.findSilence()).empty())
      endRanks();
  }
  messages.end();
}

Expected<ExitCode> Session::finish() {
  if (endBy)
    ::kill(mpirun, SIGKILL);
  int status = 0;
  while (::waitpid(mpirun, &status, 0) < 0 && errno == EINTR)
    ;
  killDescendants();
  return codeOf(status);
}

//===----------------------------------------------------------------------===//
// Exit codes
//===----------------------------------------------------------------------===//

/// A run that was told to stop ends so, with a note or none.
static bool isOwnEnd(int code) {
  for (ExitCode known :
       {ExitCode::StoppedAndSaved, ExitCode::Interrupted, ExitCode::Terminated})
    if (code == int(known))
      return true;
  return false;
}

/// Ranks that save nothing end at the signal that they get. None of them can
/// say so: mpirun ends the others after the first, and drops what they have
/// written.
Expected<ExitCode> Session::endOfUnsaved(int asked) const {
  const ExitCode code = ExitCode(128 + asked);
  if (!watch.isUnsaved())
    return code;
  return Error(code, std::string("ended by SIG") + ::sigabbrev_np(asked) +
                         kStepsAreLost)
      .hint(kStepsAreLostHint);
}

/// The exit code for how mpirun ended.
Expected<ExitCode> Session::codeOf(int status) const {
  const int code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const int asked = stopSignals().first();
  if (stopSignals().second() != 0)
    return endOfUnsaved(stopSignals().second());
  if (!silence.empty())
    return Error(ExitCode::Communication, silence)
        .hint("a larger --timeout waits longer");
  if (asked != 0 && (code == 128 + SIGUSR1 || messages.isDeathOf(SIGUSR1)))
    return endOfUnsaved(asked);
  if (!messages.death().empty())
    return Error(ExitCode::Communication, messages.death()).hint(kResumeHint);
  if (code == 0 || messages.hasError())
    return ExitCode(code);
  if (code == 127)
    return Error(ExitCode::Device, "cannot run mpirun");
  if (!messages.departure().empty() && !isOwnEnd(code))
    return Error(ExitCode::Communication,
                 messages.departure() + " without a word")
        .hint(kResumeHint);
  if (!messages.rest().empty())
    return Error(ExitCode::Communication,
                 "mpirun cannot run the ranks: " +
                     llvm::StringRef(messages.rest()).trim().str());
  return ExitCode(code);
}

Expected<ExitCode> weft::runRanks(int64_t ranks, const std::string &program,
                                  const Arguments &args) {
  stopSignals();
  auto mpirun = llvm::sys::findProgramByName("mpirun");
  if (!mpirun)
    return Error(ExitCode::Device, "found no mpirun on the PATH")
        .hint("install openmpi-bin, start the ranks with weft launch --tcp, "
              "or run them as threads with --loopback " +
              std::to_string(ranks));
  std::vector<std::string> command =
      mpirunCommand(*mpirun, ranks, program, args);
  std::vector<char *> argv;
  for (std::string &word : command)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  Session session(ranks, readTimeout(argumentsWithFile(args)));
  if (Status started = session.start(argv); !started)
    return started.takeError();
  session.follow();
  return session.finish();
}
