//===- ProgramProcess.cpp - A program whose output is read ----------------===//

#include "ProgramProcess.h"

#include "weft/Base/Results.h"
#include "weft/Base/StandardStreams.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;

Expected<ProgramProcess> weft::startProgram(const Program &program,
                                            const ProgramRanks &ranks,
                                            const Arguments &runFlags) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return storageError("cannot make a pipe: " + errnoText(errno));
  Descriptor output(ends[0]), input(ends[1]);
  flushOutput();
  const pid_t id = ::fork();
  if (id < 0)
    return storageError("cannot start the program: " + errnoText(errno));
  if (id == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(input.get(), STDOUT_FILENO);
    Expected<ExitCode> code = runProgram(program, ranks, runFlags);
    ::_exit(code ? static_cast<int>(*code) : code.error().report());
  }
  return ProgramProcess{id, std::move(output)};
}

Status
weft::forProgramLines(const ProgramProcess &process,
                      const std::function<void(const std::string &)> &use) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t n = ::read(process.output.get(), part, sizeof part);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return storageError("cannot read the output of the program: " +
                          errnoText(errno));
    if (n == 0)
      break;
    text.append(part, size_t(n));
    for (size_t end; (end = text.find('\n')) != std::string::npos;) {
      use(text.substr(0, end));
      text.erase(0, end + 1);
    }
  }
  if (!text.empty())
    use(text);
  return Status::success();
}

Expected<ExitCode> weft::waitForProgram(ProgramProcess &process) {
  process.output = Descriptor();
  int status = 0;
  while (::waitpid(process.id, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(status))
    return static_cast<ExitCode>(WEXITSTATUS(status));
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (number == SIGINT)
    return ExitCode::Interrupted;
  if (number == SIGTERM)
    return ExitCode::Terminated;
  return internalError("signal ", number, " has ended the program");
}
