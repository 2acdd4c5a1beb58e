//===- Durable.cpp - Flushes, renames and new folders ---------------------===//

#include "weft/Base/Durable.h"

#include "weft/Base/Descriptor.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

std::string weft::parentOf(const std::string &path) {
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Flushes `file`, which was opened at `path`; it is empty if the opening
/// failed just now.
static Status syncOpened(const Descriptor &file, const std::string &path) {
  if (!file || withoutInterrupts([&] { return ::fsync(file.get()); }) != 0)
    return systemError(ExitCode::Storage, "cannot flush to disk", errno)
        .at(path);
  return Status::success();
}

static Descriptor openToSync(const std::string &path) {
  return Descriptor(withoutInterrupts(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
}

Status weft::syncPath(const std::string &path) {
  return syncOpened(openToSync(path), path);
}

Expected<HeldDirectory> HeldDirectory::open(const std::string &path) {
  Descriptor directory = openToSync(path);
  if (!directory)
    return systemError(ExitCode::Storage, "cannot flush to disk", errno)
        .at(path);
  return HeldDirectory(std::move(directory), path);
}

Status HeldDirectory::sync() const { return syncOpened(directory, path); }

int weft::renameToNew(const std::string &from, const std::string &to) {
  auto result = withoutInterrupts([&] {
    return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                       RENAME_NOREPLACE);
  });
  if (result == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;
  struct stat info;
  if (::lstat(to.c_str(), &info) == 0)
    return EEXIST;
  if (errno != ENOENT)
    return errno;
  result =
      withoutInterrupts([&] { return ::rename(from.c_str(), to.c_str()); });
  return result == 0 ? 0 : errno;
}

/// Each further try needs a run that ended between two of our calls.
static constexpr int manyTries = 100;

/// Makes one directory of a path whose parent is there. Others may make it,
/// and take it away again, between any two calls.
static Status makeDirectory(const std::string &path) {
  for (int tries = 0; tries < manyTries; ++tries) {
    // The name of a new directory lies in its parent.
    if (::mkdir(path.c_str(), 0777) == 0)
      return syncPath(parentOf(path));
    const int number = errno;
    struct stat info;
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
      return Status::success();
    // Unlike a link to nothing, which is in the way and stays.
    const bool wentAway = number == EEXIST &&
                          ::lstat(path.c_str(), &info) != 0 && errno == ENOENT;
    if (!wentAway)
      return systemError(ExitCode::Storage, "cannot create the directory",
                         number)
          .at(path);
  }
  return storageError(
             "cannot create the directory: it goes away again and again")
      .at(path);
}

Status weft::makeDirectories(const std::string &path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (Status status = makeDirectory(path.substr(0, slash)); !status)
      return status;
    if (slash == path.npos)
      return Status::success();
  }
}
