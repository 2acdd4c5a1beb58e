//===- Descriptor.cpp - Open files and their locks ------------------------===//

#include "weft/Base/Descriptor.h"

#include "weft/Base/OutputFile.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

int Descriptor::close() {
  int closing = std::exchange(fd, -1);
  if (closing < 0 || ::close(closing) == 0 || errno == EINTR)
    return 0;
  return errno;
}

bool weft::isGone(int fd, const std::string &path) {
  struct stat there, open;
  if (::stat(path.c_str(), &there) != 0)
    return errno == ENOENT;
  return ::fstat(fd, &open) == 0 &&
         (there.st_dev != open.st_dev || there.st_ino != open.st_ino);
}

int weft::tryLock(int fd, int operation) {
  int result =
      withoutInterrupts([&] { return ::flock(fd, operation | LOCK_NB); });
  return result == 0 ? 0 : errno;
}

bool weft::hasNoLocks(int number) {
  return number == ENOLCK || number == EOPNOTSUPP || number == ENOSYS ||
         number == EINVAL;
}

Error weft::lockGoesAway(const std::string &path) {
  return storageError("cannot lock: the file goes away again and again")
      .at(path);
}

Expected<FileLock> FileLock::take(const std::string &path) {
  // To open and close a pipe would be its end for who reads it.
  if (isWrittenInPlace(path))
    return FileLock();
  for (int tries = 0; tries < maxLockTries; ++tries) {
    FileLock lock;
    lock.file = Descriptor(withoutInterrupts(
        [&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK); }));
    const int fd = lock.file.get();
    struct stat info;
    if (!lock.holds() || ::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
      return FileLock();
    int failed = tryLock(fd, LOCK_EX);
    if (failed == 0 && !isGone(fd, path))
      return lock;
    if (failed == EWOULDBLOCK)
      return storageError("expects a file that no other run writes, but "
                          "another process has locked it")
          .at(path);
    if (failed != 0 && hasNoLocks(failed))
      return FileLock();
    if (failed != 0)
      return systemError(ExitCode::Storage, "cannot lock", failed).at(path);
  }
  return lockGoesAway(path);
}
