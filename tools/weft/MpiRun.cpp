//===- MpiRun.cpp - Ranks that mpirun starts ------------------------------===//
//
// mpirun has no codes of its own for what befell a rank: what it prints about
// that stands between two lines of dashes on its standard error. These blocks
// are kept from the user where they only repeat what the ranks or we say.
//
//===----------------------------------------------------------------------===//

#include "MpiRun.h"

#include "llvm/Support/Program.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
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
  command.push_back(program);
  command.insert(command.end(), args.begin(), args.end());
  return command;
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

static volatile sig_atomic_t launcher = 0; // the process of mpirun
static volatile sig_atomic_t hasAsked = 0;

/// mpirun hands SIGUSR1 on to the ranks, and ends them at SIGTERM.
static void passOn(int) {
  if (launcher > 0)
    ::kill(launcher, hasAsked ? SIGTERM : SIGUSR1);
  hasAsked = 1;
}

static void catchSignals() {
  struct sigaction action = {};
  action.sa_handler = passOn;
  action.sa_flags = SA_RESTART;
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1})
    ::sigaction(number, &action, nullptr);
}

//===----------------------------------------------------------------------===//
// What mpirun says
//===----------------------------------------------------------------------===//

namespace {
/// Passes on what comes from the ranks.
class Messages {
public:
  void line(const std::string &text);
  void end();

  /// "rank 2 was ended by signal 9 (Killed)", if that befell one.
  const std::string &death() const { return killed; }
  /// "rank 2 has ended with 3", if one was the first to end with an error.
  const std::string &departure() const { return left; }
  /// Blocks of mpirun that say something else.
  const std::string &rest() const { return others; }
  bool hasError() const { return said; }

private:
  void close();

  bool isInBlock = false, said = false;
  std::string block, others, killed, left;
};
} // namespace

void Messages::line(const std::string &text) {
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
  if (std::regex_search(block, found, death))
    killed = "rank " + found[1].str() + " was ended by signal " +
             found[2].str() + " (" + found[3].str() + ")";
  else if (!std::regex_search(block, exit))
    others += block;
  if (std::regex_search(block, found, first))
    left = "rank " + found[1].str() + " has ended with " + found[2].str();
  block.clear();
}

void Messages::end() {
  if (isInBlock)
    close();
}

static void readMessages(int file, Messages &messages) {
  std::string pending;
  char piece[4096];
  for (;;) {
    const ssize_t size = ::read(file, piece, sizeof piece);
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      break;
    pending.append(piece, size_t(size));
    for (size_t end; (end = pending.find('\n')) != std::string::npos;
         pending.erase(0, end + 1)) {
      std::string text = pending.substr(0, end);
      while (!text.empty() && text.back() == '\r')
        text.pop_back();
      messages.line(text);
    }
  }
  if (!pending.empty())
    messages.line(pending);
  messages.end();
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

/// Becomes mpirun. A terminal sends its signals to us alone.
[[noreturn]] static void becomeLauncher(pid_t parent, char **argv, int errors) {
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

static constexpr char kGoOn[] = "the checkpoints so far are whole: "
                                "--resume=auto goes on from the newest";

/// A run that was told to stop ends so, with a note or none.
static bool isOwnEnd(int code) {
  for (ExitCode known :
       {ExitCode::StoppedAndSaved, ExitCode::Interrupted, ExitCode::Terminated})
    if (code == int(known))
      return true;
  return false;
}

/// The exit code for how mpirun ended.
static Expected<ExitCode> codeOf(int status, const Messages &messages) {
  if (!messages.death().empty())
    return Error(ExitCode::Communication, messages.death()).hint(kGoOn);
  const int code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code == 0 || messages.hasError())
    return ExitCode(code);
  if (code == 127)
    return Error(ExitCode::Device, "cannot run mpirun");
  if (!messages.departure().empty() && !isOwnEnd(code))
    return Error(ExitCode::Communication,
                 messages.departure() + " without a word")
        .hint(kGoOn);
  if (!messages.rest().empty())
    return Error(ExitCode::Communication,
                 "mpirun cannot run the ranks: " +
                     llvm::StringRef(messages.rest()).trim().str());
  return ExitCode(code);
}

Expected<ExitCode> weft::runRanks(int64_t ranks, const std::string &program,
                                  const Arguments &args) {
  auto mpirun = llvm::sys::findProgramByName("mpirun");
  if (!mpirun)
    return Error(ExitCode::Device, "found no mpirun on the PATH")
        .hint("install openmpi-bin, or run the ranks as threads with "
              "--loopback " +
              std::to_string(ranks));
  std::vector<std::string> command =
      mpirunCommand(*mpirun, ranks, program, args);
  std::vector<char *> argv;
  for (std::string &word : command)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return systemError(ExitCode::Internal, "cannot make a pipe", errno);
  const pid_t self = ::getpid();
  hasAsked = 0;
  catchSignals();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0)
    becomeLauncher(self, argv.data(), ends[1]);
  launcher = child;
  ::close(ends[1]);
  Messages messages;
  if (child > 0)
    readMessages(ends[0], messages);
  ::close(ends[0]);
  if (child < 0)
    return systemError(ExitCode::Internal, "cannot start mpirun", errno);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  launcher = 0;
  return codeOf(status, messages);
}
