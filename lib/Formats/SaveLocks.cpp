//===- SaveLocks.cpp - Locks of the writers and readers of checkpoints ----===//

#include "weft/Formats/SaveLocks.h"

#include "weft/Base/Descriptor.h"
#include "weft/Base/Durable.h"
#include "weft/Formats/StepDirectories.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// SaveLock
//===----------------------------------------------------------------------===//

static std::string lockPath(const std::string &directory) {
  return directory + "/.lock";
}

/// Leaves a word for whom the lock keeps out. No errors: it is only text.
static void writeHolder(int fd) {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  std::string text = "process " + std::to_string(::getpid()) + " on " + host;
  if (::ftruncate(fd, 0) == 0)
    (void)!::pwrite(fd, text.data(), text.size(), 0);
}

static std::string readHolder(int fd) {
  char text[300];
  ssize_t size = ::pread(fd, text, sizeof text, 0);
  return size > 0 ? printable({text, size_t(size)}, sizeof text)
                  : "another process";
}

SaveLock &SaveLock::operator=(SaveLock &&other) noexcept {
  std::swap(file, other.file);
  std::swap(place, other.place);
  std::swap(madeDirectory, other.madeDirectory);
  std::swap(directory, other.directory);
  return *this;
}

SaveLock::~SaveLock() {
  // Removed while it is held: whoever opened it meanwhile sees that the path
  // leads elsewhere, and opens again. By the directory itself, which may have
  // been moved: another run's lock may have the path.
  const std::string path =
      lockPath("/proc/self/fd/" + std::to_string(place.get()));
  if (file && !isGone(file.get(), path))
    ::unlink(path.c_str());
  file.close();
  if (madeDirectory)
    ::rmdir(directory.c_str());
}

/// False if the file or the directory went away meanwhile.
Expected<bool> SaveLock::tryOnce() {
  std::string path = lockPath(directory);
  struct stat info;
  bool existed = ::stat(directory.c_str(), &info) == 0;
  if (Status status = makeDirectories(directory); !status)
    return status.takeError();
  madeDirectory |= !existed;
  Descriptor opened(withoutInterrupts([&] {
    return ::open(path.c_str(),
                  O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  }));
  if (!opened && errno == ENOENT)
    return false;
  if (!opened)
    return systemError(ExitCode::Storage, "cannot open the lock", errno)
        .at(path);
  int failed = tryLock(opened.get(), LOCK_EX);
  // Others may remove or rename it between open and flock.
  if (failed == 0 && !isGone(opened.get(), path)) {
    file = std::move(opened);
    place = Descriptor(withoutInterrupts([&] {
      return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }));
    writeHolder(file.get());
    return true;
  }
  std::string holder = readHolder(opened.get());
  if (failed == 0)
    return false;
  if (failed == EWOULDBLOCK)
    return checkpointError("expects a save directory that no other run uses, "
                           "but " +
                           holder + " does")
        .at(directory)
        .hint("wait for its end, or choose another --save-dir");
  if (hasNoLocks(failed))
    return true;
  return systemError(ExitCode::Storage, "cannot lock", failed).at(path);
}

Expected<SaveLock> SaveLock::take(const std::string &saveDirectory) {
  SaveLock lock;
  lock.directory = saveDirectory;
  for (int tries = 0; tries < maxLockTries; ++tries) {
    auto done = lock.tryOnce();
    if (!done)
      return done.takeError();
    if (*done)
      return lock;
  }
  return lockGoesAway(lockPath(saveDirectory));
}

Expected<bool> SaveLock::renew() {
  if (!file || !isGone(file.get(), lockPath(directory)))
    return false;
  auto again = take(directory);
  if (!again)
    return again.takeError();
  const bool isMoved = !place || isGone(place.get(), directory);
  if (isMoved) {
    auto steps = findSteps(directory);
    if (!steps)
      return steps.takeError();
    if (!steps->empty())
      return checkpointError("expects the save directory of this run, but it "
                             "was moved, and another run has saved here")
          .at(directory);
  }
  *this = std::move(*again);
  return isMoved;
}

//===----------------------------------------------------------------------===//
// StepGuard
//===----------------------------------------------------------------------===//

StepGuard::StepGuard(const std::string &stepDirectory, int operation) {
  directory = Descriptor(withoutInterrupts([&] {
    return ::open(stepDirectory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }));
  if (!directory) {
    // A link to nothing is there, and of no use.
    struct stat info;
    there = errno != ENOENT || ::lstat(stepDirectory.c_str(), &info) == 0;
    return;
  }
  shared = tryLock(directory.get(), operation) == EWOULDBLOCK;
  there = !isGone(directory.get(), stepDirectory);
}

StepGuard StepGuard::ofReader(const std::string &stepDirectory) {
  StepGuard guard(stepDirectory, LOCK_SH);
  // Only who retires the step keeps readers out.
  guard.there &= !guard.shared;
  return guard;
}

StepGuard StepGuard::ofWriter(const std::string &stepDirectory) {
  return StepGuard(stepDirectory, LOCK_EX);
}
