//===- LaunchedProcesses.cpp - Stopping what was launched -----------------===//

#include "LaunchedProcesses.h"

#include "weft/Base/StandardStreams.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <map>
#include <string>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace weft;

//===----------------------------------------------------------------------===//
// Descendants
//===----------------------------------------------------------------------===//

void weft::adoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void weft::offerTerminal() {
  const std::string columns =
      std::to_string(canRedrawOutput() ? outputColumns() : 0);
  ::setenv(kTerminalVariable,
           ::isatty(STDOUT_FILENO) ? columns.c_str() : kNoTerminal,
           /*overwrite=*/1);
}

namespace {
struct ProcessState {
  char letter = 0; // 'T': stopped
  pid_t parent = 0;
};
} // namespace

/// Zeros if the process is gone. The name of a program, in parentheses, may
/// contain anything.
static ProcessState stateOf(const std::string &process) {
  ProcessState state;
  const std::string path = "/proc/" + process + "/stat";
  std::FILE *file = std::fopen(path.c_str(), "re");
  if (!file)
    return state;
  char text[512] = "";
  const size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[size] = 0;
  const char *behindName = std::strrchr(text, ')');
  if (!behindName ||
      std::sscanf(behindName + 1, " %c %d", &state.letter, &state.parent) != 2)
    return {};
  return state;
}

bool weft::isStopped(pid_t process) {
  return stateOf(std::to_string(process)).letter == 'T';
}

static std::vector<pid_t> descendantsOf(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  if (DIR *processes = ::opendir("/proc")) {
    while (const dirent *entry = ::readdir(processes))
      if (const pid_t parent = stateOf(entry->d_name).parent)
        children.insert({parent, pid_t(std::atoi(entry->d_name))});
    ::closedir(processes);
  }
  std::vector<pid_t> found = {root};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child)
      found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

/// The kernel may take a moment to end one. What a process starts meanwhile is
/// found the next time.
void weft::killDescendants() {
  constexpr int kTries = 500;
  for (int tries = 0; tries < kTries; ++tries) {
    const std::vector<pid_t> found = descendantsOf(::getpid());
    if (found.empty())
      return;
    for (const pid_t process : found)
      ::kill(process, SIGKILL);
    while (::waitpid(-1, nullptr, WNOHANG) > 0)
      continue;
    ::usleep(10000);
  }
}

//===----------------------------------------------------------------------===//
// StopSignals
//===----------------------------------------------------------------------===//

/// A signal that is ignored is not queued, however it is blocked.
static void doNothing(int) {}

/// As nohup leaves SIGHUP for the program that it starts.
static bool isIgnored(int number) {
  struct sigaction now;
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

StopSignals::StopSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) {
    if (number == SIGHUP && isIgnored(number))
      continue;
    sigaddset(&set, number);
    struct sigaction action = {};
    action.sa_handler = doNothing;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
  }
  ::sigprocmask(SIG_BLOCK, &set, &before);
  queue = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// A closed terminal sends SIGHUP twice, and a scheduler may repeat its
/// SIGUSR1: neither must cut the save short.
void StopSignals::take() {
  signalfd_siginfo info;
  while (queue && ::read(queue.get(), &info, sizeof info) == sizeof info) {
    const int number = int(info.ssi_signo);
    if (firstNumber == 0)
      firstNumber = number;
    else if (number == SIGINT || number == SIGTERM)
      secondNumber = number;
  }
}

void StopSignals::restore() const {
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

StopSignals &weft::stopSignals() {
  static StopSignals signals;
  return signals;
}
