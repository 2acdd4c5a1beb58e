//===- LocalRun.cpp - Ranks that weft starts on this machine --------------===//

#include "LocalRun.h"

#include "LaunchedProcesses.h"

#include "weft/Runtime/Collectives/Rendezvous.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <random>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;

/// In which ranks find out by themselves that one of them has failed.
static constexpr std::chrono::seconds kGrace(3);

//===----------------------------------------------------------------------===//
// Environment and processors of a rank
//===----------------------------------------------------------------------===//

/// Variables of launchers that would lead a rank elsewhere.
static bool isReplaced(const std::string &variable) {
  for (const char *name :
       {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR",
        "MASTER_PORT", kSecretVariable, kListenerVariable})
    if (variable.rfind(std::string(name) + "=", 0) == 0)
      return true;
  return variable.rfind("TORCHELASTIC_", 0) == 0;
}

/// 128 bits that other users of the machine do not know.
static std::string makeSecret() {
  std::random_device random;
  char text[40];
  std::snprintf(text, sizeof text, "%08x%08x%08x%08x", random(), random(),
                random(), random());
  return text;
}

/// The environment of a rank.
static std::vector<std::string> rankEnvironment(int64_t rank, int64_t ranks,
                                                const LocalRendezvous &place,
                                                const std::string &secret) {
  std::vector<std::string> variables;
  for (char **each = environ; *each; ++each)
    if (!isReplaced(*each))
      variables.push_back(*each);
  const std::string number = std::to_string(rank),
                    count = std::to_string(ranks);
  for (const auto &[name, value] :
       {std::pair<const char *, std::string>{"RANK", number},
        {"WORLD_SIZE", count},
        {"LOCAL_RANK", number},
        {"LOCAL_WORLD_SIZE", count},
        {"MASTER_ADDR", place.host},
        {"MASTER_PORT", std::to_string(place.port)},
        {kSecretVariable, secret}})
    variables.push_back(std::string(name) + "=" + value);
  if (rank == 0)
    variables.push_back(std::string(kListenerVariable) + "=" +
                        std::to_string(place.listener.get()));
  return variables;
}

/// The processors of a rank: an equal share of this process's, or all of them
/// if there are more ranks than processors.
static cpu_set_t processorsOf(int64_t rank, int64_t ranks) {
  cpu_set_t all, part;
  CPU_ZERO(&part);
  if (::sched_getaffinity(0, sizeof all, &all) != 0)
    return part;
  const int64_t each = CPU_COUNT(&all) / ranks;
  if (each == 0)
    return all;
  int64_t number = 0;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &all) && number++ / each == rank)
      CPU_SET(processor, &part);
  return part;
}

static std::vector<char *> pointersTo(std::vector<std::string> &texts) {
  std::vector<char *> pointers;
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

//===----------------------------------------------------------------------===//
// The processes
//===----------------------------------------------------------------------===//

namespace {
/// The ranks, from their start to their end.
class LocalRanks {
public:
  explicit LocalRanks(bool binds) : binds(binds) {}
  Status start(int64_t ranks, const std::string &program,
               const Arguments &args);
  /// Until all have ended.
  void follow();
  Expected<ExitCode> code() const;

private:
  using Clock = std::chrono::steady_clock;

  struct Rank {
    pid_t process = 0;
    Descriptor file; // of the process
    int status = 0;
    bool hasEnded = false, wasKilled = false;
  };

  Status startOne(int64_t rank, int64_t ranks, std::vector<char *> argv,
                  const LocalRendezvous &place, const std::string &secret);
  void wait() const;
  void reap();
  void answerSignals();
  void signalAll(int number);
  bool canEnd() const;
  bool allHaveEnded() const;

  const bool binds;
  std::vector<Rank> all;
  std::vector<size_t> failed; // in the order in which they have ended
  int passedOn = 0;           // signals: the first, and the second
  std::optional<Clock::time_point> endBy;
};
} // namespace

/// Signals that stop a run stay blocked until the program keeps them. A
/// terminal sends its signals to the launcher alone.
[[noreturn]] static void becomeRank(pid_t parent, char **argv, char **variables,
                                    const cpu_set_t &processors,
                                    int inherited) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent)
    ::_exit(1);
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  if (CPU_COUNT(&processors) > 0)
    (void)::sched_setaffinity(0, sizeof processors, &processors);
  if (inherited >= 0)
    ::fcntl(inherited, F_SETFD, 0);
  ::execve(argv[0], argv, variables);
  ::_exit(127);
}

Status LocalRanks::startOne(int64_t rank, int64_t ranks,
                            std::vector<char *> argv,
                            const LocalRendezvous &place,
                            const std::string &secret) {
  std::vector<std::string> variables =
      rankEnvironment(rank, ranks, place, secret);
  std::vector<char *> pointers = pointersTo(variables);
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (binds)
    processors = processorsOf(rank, ranks);
  const pid_t self = ::getpid();
  const pid_t process = ::fork();
  if (process == 0)
    becomeRank(self, argv.data(), pointers.data(), processors,
               rank == 0 ? place.listener.get() : -1);
  if (process < 0)
    return systemError(ExitCode::Internal, "cannot start a rank", errno);
  Rank started;
  started.process = process;
  started.file = Descriptor(int(::syscall(SYS_pidfd_open, process, 0)));
  all.push_back(std::move(started));
  return Status::success();
}

Status LocalRanks::start(int64_t ranks, const std::string &program,
                         const Arguments &args) {
  auto place = listenLocally();
  if (!place)
    return place.takeError();
  if (stopSignals().file() < 0)
    return systemError(ExitCode::Internal, "cannot keep signals", errno);
  std::vector<std::string> words = {program};
  words.insert(words.end(), args.begin(), args.end());
  const std::string secret = makeSecret();
  adoptOrphans();
  offerTerminal();
  std::fflush(nullptr);
  for (int64_t rank = 0; rank < ranks; ++rank)
    if (Status s = startOne(rank, ranks, pointersTo(words), *place, secret);
        !s) {
      killDescendants();
      return s;
    }
  return Status::success();
}

/// Whether a rank that has not ended may do so by itself.
bool LocalRanks::canEnd() const {
  for (const Rank &rank : all)
    if (!rank.hasEnded && !isStopped(rank.process))
      return true;
  return false;
}

bool LocalRanks::allHaveEnded() const {
  for (const Rank &rank : all)
    if (!rank.hasEnded)
      return false;
  return true;
}

void LocalRanks::wait() const {
  std::vector<pollfd> files = {{stopSignals().file(), POLLIN, 0}};
  int milliseconds = -1;
  for (const Rank &rank : all)
    if (!rank.hasEnded && rank.file)
      files.push_back({rank.file.get(), POLLIN, 0});
    else if (!rank.hasEnded)
      milliseconds = 50; // a system without such files
  if (endBy)
    milliseconds = int(std::max<int64_t>(
        0, std::chrono::ceil<std::chrono::milliseconds>(*endBy - Clock::now())
               .count()));
  ::poll(files.data(), files.size(), milliseconds);
}

void LocalRanks::reap() {
  for (size_t number = 0; number < all.size(); ++number) {
    Rank &rank = all[number];
    if (rank.hasEnded ||
        ::waitpid(rank.process, &rank.status, WNOHANG) != rank.process)
      continue;
    rank.hasEnded = true;
    if (rank.status != 0)
      failed.push_back(number);
    if (rank.status != 0 && !endBy)
      endBy = Clock::now() + kGrace;
  }
}

void LocalRanks::signalAll(int number) {
  for (const Rank &rank : all)
    if (!rank.hasEnded)
      ::kill(rank.process, number);
}

void LocalRanks::answerSignals() {
  stopSignals().take();
  const int numbers[] = {stopSignals().first(), stopSignals().second()};
  for (; passedOn < 2 && numbers[passedOn] != 0; ++passedOn) {
    signalAll(numbers[passedOn]);
    if (passedOn == 1 && !endBy)
      endBy = Clock::now() + kGrace;
  }
}

void LocalRanks::follow() {
  while (!allHaveEnded()) {
    wait();
    reap();
    answerSignals();
    if (!endBy || (Clock::now() < *endBy && canEnd()))
      continue;
    for (Rank &rank : all)
      rank.wasKilled |= !rank.hasEnded;
    signalAll(SIGKILL);
    endBy = Clock::now() + kGrace;
  }
  killDescendants();
}

//===----------------------------------------------------------------------===//
// Exit codes
//===----------------------------------------------------------------------===//

static std::string nameOf(size_t rank) {
  return "rank " + std::to_string(rank);
}

/// The first rank that has failed gives the code, unless others have missed it.
Expected<ExitCode> LocalRanks::code() const {
  if (stopSignals().second() != 0)
    return ExitCode(128 + stopSignals().second());
  bool wereMissed = false;
  for (size_t number : failed)
    wereMissed |=
        WIFEXITED(all[number].status) &&
        WEXITSTATUS(all[number].status) == int(ExitCode::Communication);
  for (size_t number : failed) {
    const Rank &rank = all[number];
    if (rank.wasKilled)
      continue;
    if (WIFSIGNALED(rank.status))
      return Error(ExitCode::Communication,
                   nameOf(number) + " was ended by signal " +
                       std::to_string(WTERMSIG(rank.status)) + " (" +
                       ::strsignal(WTERMSIG(rank.status)) + ")")
          .hint(kResumeHint);
    const int code = WEXITSTATUS(rank.status);
    if (code == 127)
      return Error(ExitCode::Device, "cannot run the program");
    if (wereMissed && code != int(ExitCode::Communication))
      return Error(ExitCode::Communication,
                   nameOf(number) + " has ended with " + std::to_string(code))
          .hint(kResumeHint);
    if (!wereMissed)
      return ExitCode(code);
  }
  return failed.empty() ? ExitCode::Ok : ExitCode::Communication;
}

Expected<ExitCode> weft::runLocalRanks(int64_t ranks,
                                       const std::string &program,
                                       const Arguments &args, bool binds) {
  LocalRanks local(binds);
  if (Status s = local.start(ranks, program, args); !s)
    return s.takeError();
  local.follow();
  return local.code();
}
