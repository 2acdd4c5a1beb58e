//===- SaveLocks.h - Locks of checkpoint readers and writers ----*- C++ -*-===//
//
// One run at a time writes into a save directory: it holds an exclusive flock
// on the file `.lock` inside for its life. The kernel drops the lock with the
// process, however that ends; the process and host in the file are only for the
// message of the next one.
//
// Whoever reads a step holds a shared flock on its directory, so that the
// writer does not retire it meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_SAVELOCKS_H
#define WEFT_FORMATS_SAVELOCKS_H

#include "weft/Base/Descriptor.h"
#include "weft/Base/Error.h"

namespace weft {

class SaveLock {
public:
  SaveLock() = default;
  SaveLock(SaveLock &&other) noexcept { *this = std::move(other); }
  SaveLock &operator=(SaveLock &&other) noexcept;
  /// Removes the file, and the directory if it was made here and is empty.
  ~SaveLock();

  /// Makes the directory if needed. A save directory that another process
  /// holds is a checkpoint error. A file system without locks gives an object
  /// that holds nothing.
  static Expected<SaveLock> take(const std::string &saveDirectory);
  bool holds() const { return bool(file); }

  /// For each save: whether the directory is still this one. If it was moved or
  /// removed, takes the one that is made in its place and says true; one that
  /// another run holds, or has saved into, is a checkpoint error.
  Expected<bool> renew();

private:
  Expected<bool> tryOnce();

  Descriptor file, place; // the lock, and the directory it lies in
  bool madeDirectory = false;
  std::string directory;
};

class StepGuard {
public:
  StepGuard() = default;

  /// Keeps a step directory from being retired; see isThere().
  static StepGuard ofReader(const std::string &stepDirectory);
  /// For who retires it; see isAlone().
  static StepGuard ofWriter(const std::string &stepDirectory);
  void release() { directory.close(); }

  /// Whether the directory was there and not being retired. What cannot be
  /// opened or locked for another reason counts as there: reading tells why.
  bool isThere() const { return there; }
  /// Whether nobody reads it, as far as the file system knows; what cannot be
  /// opened may be read.
  bool isAlone() const { return directory && there && !shared; }

private:
  StepGuard(const std::string &stepDirectory, int operation);

  Descriptor directory;
  bool there = true, shared = false;
};

} // namespace weft

#endif // WEFT_FORMATS_SAVELOCKS_H
