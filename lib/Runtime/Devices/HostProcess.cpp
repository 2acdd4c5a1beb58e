//===- HostProcess.cpp - Settings of the process for libgomp and oneDNN ---===//

#include "weft/Runtime/Devices/HostDevice.h"

#include "weft/Base/OutOfMemory.h"
#include "weft/Runtime/Execute/MachineMemory.h"
#include "weft/Runtime/Execute/ParallelFor.h"

#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

static std::string ownPath() {
  char path[4096];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 && size < ssize_t(sizeof path) ? std::string(path, size) : "";
}

/// Whether the path still leads to the program that is running.
static bool isRunning(const std::string &path) {
  struct stat here, running;
  return stat(path.c_str(), &here) == 0 &&
         stat("/proc/self/exe", &running) == 0 &&
         here.st_dev == running.st_dev && here.st_ino == running.st_ino;
}

/// libgomp's threads spin for milliseconds at every barrier, which collapses
/// as soon as another process wants a core. It reads its settings when it is
/// loaded, so the program starts itself again with a short spin, unless the
/// user has chosen. Where that fails it runs as it is: slower, not wrong.
static void limitSpinning(char **argv) {
  if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY"))
    return;
  if (setenv("GOMP_SPINCOUNT", "1000", /*replace=*/0) != 0)
    return;
  // By its path, which names the process; a program that was deleted or
  // replaced meanwhile is still there for itself.
  std::string program = ownPath();
  unbindThread();
  if (isRunning(program))
    execv(program.c_str(), argv);
  execv("/proc/self/exe", argv);
}

static bool isLeaving = false;

/// libgomp ends the process with status 1 when it cannot make a thread or get
/// memory in the middle of a run; it has said why on standard error.
static void explainExit() {
  if (isLeaving)
    return;
  std::fflush(stdout);
  if (isMemoryExhausted())
    _exit(noMemoryError().report());
  _exit(deviceError("a library ended the program; standard error says why")
            .hint("run with fewer --threads, or raise the limits on threads "
                  "and memory")
            .report());
}

void weft::watchExits() { std::atexit(explainExit); }

void weft::enterProcess(char **argv) {
  limitSpinning(argv);
  watchExits();
}

void weft::leaveProcess() { isLeaving = true; }

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Fewer threads than asked for are an error, fewer than there could be a
/// warning.
static Status checkThreads(const WeftContext &context,
                           const DeviceOptions &options) {
  if (context.threadShortage().empty())
    return Status::success();
  std::string most = std::to_string(context.threads());
  if (options.threads > 0)
    return deviceError("--threads expects at most ", most, " here, but got ",
                       options.threads, ": ", context.threadShortage());
  warn("uses " + most + " of " + std::to_string(availableThreads()) +
       " processors: " + context.threadShortage());
  return Status::success();
}

Expected<std::unique_ptr<WeftContext>>
weft::openDevice(const WeftExecutable &executable,
                 const DeviceOptions &options) {
  if (std::string wrong = checkHostTables(executable, options.ranks);
      !wrong.empty())
    return internalError(wrong);
  const int64_t bytes = executable.arenaBytes;
  if (Status s = checkMemory(bytes, processBudget(), options.ranksOfProcess);
      !s)
    return s.takeError();
  if (Status s = checkMemory(bytes, machineBudget(), options.ranksOfMachine);
      !s)
    return s.takeError();
  if (int64_t free = availableMemory(); bytes > free / options.ranksOfProcess)
    warn("the program needs " + humanBytes(bytes * options.ranksOfProcess) +
         ", but other programs leave " + humanBytes(free));
  std::string message;
  auto context = WeftContext::create(executable, options, message);
  if (!context)
    return memoryError(message).hint("compile with a smaller --batch or --seq");
  if (Status s = checkThreads(*context, options); !s)
    return s.takeError();
  return context;
}
