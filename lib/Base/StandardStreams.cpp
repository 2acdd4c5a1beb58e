//===- StandardStreams.cpp - Reserving 0 to 2, and the last flush ---------===//

#include "weft/Base/StandardStreams.h"

#include "weft/Base/Error.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace weft;

void weft::reserveStandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      // The lowest free number, which is fd.
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
}

/// Whether standard output is a pipe that nobody reads.
static bool hasNoReader() {
  struct pollfd out = {STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

// A failed write loses the buffered text, and later writes may succeed. So the
// first failure is kept here.
static int flushFailure = 0;

void weft::printText(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() &&
      flushFailure == 0)
    flushFailure = errno;
}

void weft::flushOutput() {
  if (std::fflush(stdout) != 0 && flushFailure == 0)
    flushFailure = errno;
}

bool weft::outputHasFailed() {
  return flushFailure != 0 || std::ferror(stdout) != 0;
}

int weft::finishOutput(int status, ReaderGone gone) {
  flushOutput();
  // A network disk may report only here.
  if (::close(::dup(STDOUT_FILENO)) != 0 && flushFailure == 0)
    flushFailure = errno;
  if (flushFailure == 0 && std::ferror(stdout) == 0)
    return status;
  const int number = hasNoReader() ? EPIPE : flushFailure;
  const auto storage = static_cast<int>(ExitCode::Storage);
  if (number == EPIPE && gone == ReaderGone::Quiet)
    return status ? status : storage;
  storageError("cannot write to standard output: " +
               (number ? errnoText(number) : "an earlier write failed"))
      .report();
  return status ? status : storage;
}

bool weft::canRedrawOutput() {
  const char *terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) &&
         (!terminal || std::string_view(terminal) != "dumb");
}

/// The columns that a variable names; 0 if it names none.
static int columnsOf(const char *variable) {
  const char *text = std::getenv(variable);
  return text ? std::max(std::atoi(text), 0) : 0;
}

int weft::launcherColumns() { return columnsOf(kTerminalVariable); }

int weft::outputColumns() {
  constexpr int kPlain = 80;
  if (!::isatty(STDOUT_FILENO))
    return kPlain;
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  const int columns = columnsOf("COLUMNS");
  return columns > 0 ? columns : kPlain;
}

/// The terminal of a rank may be mpirun's, which passes its text on to a file.
static bool endsInTerminal() {
  const char *told = std::getenv(kTerminalVariable);
  return ::isatty(STDOUT_FILENO) &&
         !(told && std::string_view(told) == kNoTerminal);
}

std::string weft::forTerminal(std::string_view text) {
  return endsInTerminal() ? escaped(text, "\n\t") : std::string(text);
}

void weft::printEscaped(std::string_view text) {
  std::string safe = escaped(text, "\n");
  printText(safe);
}
