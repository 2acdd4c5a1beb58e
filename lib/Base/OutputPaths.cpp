//===- OutputPaths.cpp - Comparing files before the first write -----------===//

#include "weft/Base/OutputPaths.h"

#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace fs = std::filesystem;

namespace weft {

/// Two paths with equal identities are the same file: device, inode, and, for a
/// file that is not there, its name in that folder.
using FileIdentity = std::tuple<dev_t, ino_t, std::string>;

/// The folder of a file. A link to nowhere is replaced, not followed.
static fs::path folderOf(const fs::path &path) {
  fs::path folder = path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

static std::optional<FileIdentity> identityOf(const struct stat &info) {
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino, ""};
}

/// Nothing for devices, pipes, and files in a folder that does not exist.
static std::optional<FileIdentity> identify(const std::string &path) {
  struct stat info;
  if (path.empty())
    return std::nullopt;
  if (::stat(path.c_str(), &info) == 0)
    return identityOf(info);
  fs::path asPath = fs::path(path);
  if (::stat(folderOf(asPath).c_str(), &info) != 0)
    return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino, asPath.filename().string()};
}

/// Whether a file is in the folder of a checkpoint.
static bool isInCheckpoint(const std::string &path, std::string_view marker) {
  std::error_code error;
  return fs::exists(folderOf(fs::path(path)) / marker, error);
}

static Error sameFile(const FileUse &output, const FileUse &other) {
  return usageError(output.role +
                    " expects a file of its own, but got that of " +
                    other.role + ", " + inQuotes(other.path))
      .at(output.path)
      .hint("nothing was written; give another file");
}

static Status checkOne(const FileUse &output,
                       const std::vector<FileUse> &others, size_t count) {
  std::optional<FileIdentity> file = identify(output.path);
  for (size_t i = 0; file && i < count; ++i)
    if (identify(others[i].path) == file)
      return sameFile(output, others[i]);
  return Status::success();
}

/// `program --data x >> x` would make the input grow under the program.
static Status checkStandardOutput(const std::vector<FileUse> &inputs) {
  struct stat info;
  if (::fstat(STDOUT_FILENO, &info) != 0)
    return Status::success();
  std::optional<FileIdentity> file = identityOf(info);
  for (const FileUse &input : inputs)
    if (file && identify(input.path) == file)
      return usageError("standard output expects a file of its own, but got "
                        "that of " +
                        input.role + ", " + inQuotes(input.path));
  return Status::success();
}

Status checkOutputPaths(const std::vector<FileUse> &outputs,
                        const std::vector<FileUse> &inputs,
                        std::string_view marker) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const FileUse &output = outputs[i];
    if (Status s = checkOne(output, inputs, inputs.size()); !s)
      return s;
    if (Status s = checkOne(output, outputs, i); !s)
      return s;
    if (isInCheckpoint(output.path, marker))
      return usageError(output.role + " expects a file outside of checkpoints")
          .at(output.path);
    if (fs::path(output.path).filename() == ".lock")
      return usageError(output.role + " expects another name than .lock, that "
                                      "of the lock of a save directory")
          .at(output.path);
  }
  return checkStandardOutput(inputs);
}

} // namespace weft
