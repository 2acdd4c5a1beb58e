//===- Locks.cpp - Who writes and who reads checkpoints -------------------===//

#include "weft/Formats/Locks.h"

#include "weft/Formats/Durable.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

/// flock without waiting; 0 or an errno value.
static int tryLock(int fd, int operation) {
  int result =
      withoutInterrupts([&] { return ::flock(fd, operation | LOCK_NB); });
  return result == 0 ? 0 : errno;
}

/// Whether the path leads to another file than the open one, or to none:
/// others may remove or rename it between open and flock.
static bool leadsAway(const std::string &path, int fd) {
  struct stat there, here;
  if (::stat(path.c_str(), &there) != 0)
    return errno == ENOENT;
  return ::fstat(fd, &here) != 0 || there.st_dev != here.st_dev ||
         there.st_ino != here.st_ino;
}

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
  std::swap(fd, other.fd);
  std::swap(madeDirectory, other.madeDirectory);
  std::swap(directory, other.directory);
  return *this;
}

SaveLock::~SaveLock() {
  // Removed while it is held: whoever opened it meanwhile sees that the path
  // leads elsewhere, and opens again.
  if (fd >= 0) {
    ::unlink(lockPath(directory).c_str());
    ::close(fd);
  }
  if (madeDirectory)
    ::rmdir(directory.c_str());
}

static bool hasNoLocks(int number) {
  return number == ENOLCK || number == EOPNOTSUPP || number == ENOSYS ||
         number == EINVAL;
}

/// Each further try needs a run that ended between two of our calls.
static constexpr int manyTries = 100;

static Error goesAway(const std::string &path) {
  return storageError("cannot lock: the file goes away again and again")
      .at(path);
}

/// False if the file or the directory went away meanwhile.
Expected<bool> SaveLock::tryOnce() {
  std::string path = lockPath(directory);
  struct stat info;
  bool existed = ::stat(directory.c_str(), &info) == 0;
  if (Status status = makeDirectories(directory); !status)
    return status.takeError();
  madeDirectory |= !existed;
  int opened = withoutInterrupts([&] {
    return ::open(path.c_str(),
                  O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  });
  if (opened < 0 && errno == ENOENT)
    return false;
  if (opened < 0)
    return systemError(ExitCode::Storage, "cannot open the lock", errno)
        .at(path);
  int failed = tryLock(opened, LOCK_EX);
  if (failed == 0 && !leadsAway(path, opened)) {
    fd = opened;
    writeHolder(fd);
    return true;
  }
  std::string holder = readHolder(opened);
  ::close(opened);
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
  for (int tries = 0; tries < manyTries; ++tries) {
    auto done = lock.tryOnce();
    if (!done)
      return done.takeError();
    if (*done)
      return lock;
  }
  return goesAway(lockPath(saveDirectory));
}

//===----------------------------------------------------------------------===//
// FileLock
//===----------------------------------------------------------------------===//

FileLock &FileLock::operator=(FileLock &&other) noexcept {
  std::swap(fd, other.fd);
  return *this;
}

FileLock::~FileLock() {
  if (fd >= 0)
    ::close(fd);
}

Expected<FileLock> FileLock::take(const std::string &path) {
  for (int tries = 0; tries < manyTries; ++tries) {
    FileLock lock;
    lock.fd = withoutInterrupts(
        [&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK); });
    struct stat info;
    if (lock.fd < 0 || ::fstat(lock.fd, &info) != 0 || !S_ISREG(info.st_mode))
      return FileLock();
    int failed = tryLock(lock.fd, LOCK_EX);
    if (failed == 0 && !leadsAway(path, lock.fd))
      return lock;
    if (failed == EWOULDBLOCK)
      return storageError(
                 "expects a file that no other run writes, but another "
                 "process holds it")
          .at(path);
    if (failed != 0 && hasNoLocks(failed))
      return FileLock();
    if (failed != 0)
      return systemError(ExitCode::Storage, "cannot lock", failed).at(path);
  }
  return goesAway(path);
}

//===----------------------------------------------------------------------===//
// StepGuard
//===----------------------------------------------------------------------===//

StepGuard &StepGuard::operator=(StepGuard &&other) noexcept {
  std::swap(fd, other.fd);
  std::swap(there, other.there);
  std::swap(shared, other.shared);
  return *this;
}

StepGuard::StepGuard(const std::string &stepDirectory, int operation) {
  fd = withoutInterrupts([&] {
    return ::open(stepDirectory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  });
  if (fd < 0) {
    // A link to nothing is there, and of no use.
    struct stat info;
    there = errno != ENOENT || ::lstat(stepDirectory.c_str(), &info) == 0;
    return;
  }
  shared = tryLock(fd, operation) == EWOULDBLOCK;
  // A step that cannot be asked about is not taken for a retired one.
  struct stat info;
  there = ::fstat(fd, &info) != 0 || !leadsAway(stepDirectory, fd);
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

void StepGuard::release() {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

} // namespace weft
