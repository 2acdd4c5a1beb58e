//===- Durable.h - Names and folders that reach the disk --------*- C++ -*-===//
//
// Primitives of files that survive a crash: flushes, renames that replace
// nothing, and folders whose names are on the disk.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_DURABLE_H
#define WEFT_BASE_DURABLE_H

#include "weft/Base/Descriptor.h"

#include <string>

namespace weft {

/// The folder that a path lies in.
std::string parentOf(const std::string &path);
/// fsync of a file or a directory.
Status syncPath(const std::string &path);

/// An open directory, which can be flushed wherever it is moved.
class HeldDirectory {
public:
  static Expected<HeldDirectory> open(const std::string &path);
  Status sync() const;

private:
  HeldDirectory(Descriptor directory, std::string path)
      : directory(std::move(directory)), path(std::move(path)) {}

  Descriptor directory;
  std::string path; // for messages
};

/// Renames what nothing may replace: EEXIST if `to` is there. 0 or an errno
/// value. File systems that cannot rename so (NFS) are asked first, which is
/// safe for the holder of the SaveLock.
int renameToNew(const std::string &from, const std::string &to);
/// Like mkdir -p, and flushes the new directories to the disk; an existing
/// directory is fine.
Status makeDirectories(const std::string &path);

} // namespace weft

#endif // WEFT_BASE_DURABLE_H
