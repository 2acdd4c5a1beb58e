//===- FileLock.h - Locks that end with their process -----------*- C++ -*-===//
//
// A metrics file is locked by the run that appends to it. The kernel drops the
// lock with the process, however that ends.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_FILELOCK_H
#define WEFT_BASE_FILELOCK_H

#include "weft/Base/Descriptor.h"
#include "weft/Base/Error.h"

#include <string>

namespace weft {

/// flock without waiting; 0 or an errno value.
int tryLock(int fd, int operation);
/// Whether an errno value of tryLock() means that the file system has no locks.
bool hasNoLocks(int number);
/// The error after a file was removed between its open and its lock each time.
Error lockGoesAway(const std::string &path);
/// Each further try needs a run that ended between two of our calls.
constexpr int maxLockTries = 100;

/// An exclusive flock on a file, for one that is going to be replaced or
/// appended to.
class FileLock {
public:
  /// A file that another process holds is a storage error. Holds nothing where
  /// there is no regular file that can be written, or no locks.
  static Expected<FileLock> take(const std::string &path);
  bool holds() const { return bool(file); }

private:
  Descriptor file;
};

} // namespace weft

#endif // WEFT_BASE_FILELOCK_H
