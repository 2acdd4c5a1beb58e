//===- Descriptor.h - Open files and their locks ----------------*- C++ -*-===//
//
// A metrics file is locked by the run that appends to it. The kernel drops the
// lock with the process, however that ends.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_DESCRIPTOR_H
#define WEFT_BASE_DESCRIPTOR_H

#include "weft/Base/Error.h"

#include <string>
#include <utility>

namespace weft {

/// A file descriptor and its only owner.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(Descriptor &&other) noexcept { std::swap(fd, other.fd); }
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }
  /// Closes it now, if it is open: 0, or what went wrong. Linux closes a file
  /// even when a signal interrupts it, which is no error.
  int close();

private:
  int fd = -1;
};

/// Whether a path surely leads no longer to the descriptor, of a lock for one:
/// what cannot be asked (no permission, an I/O error) is no reason to begin
/// again, which would never end where it stays so.
bool isGone(int fd, const std::string &path);

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

#endif // WEFT_BASE_DESCRIPTOR_H
