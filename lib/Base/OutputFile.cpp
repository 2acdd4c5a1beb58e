//===- OutputFile.cpp - Checked writes and an atomic rename ---------------===//

#include "weft/Base/OutputFile.h"

#include "weft/Base/Durable.h"
#include "weft/Base/OutputFolder.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace fs = std::filesystem;

using namespace weft;

static constexpr int64_t bufferBytes = 1 << 20;

/// The file that a link leads to, there or not, so that the link stays.
static std::string withoutLinks(const std::string &path) {
  std::error_code error;
  fs::path file = path;
  // As many links as Linux follows.
  for (int i = 0; i < 40; ++i) {
    fs::path to = fs::read_symlink(file, error);
    if (error)
      break;
    file = file.parent_path() / to;
  }
  return file.string();
}

/// A descriptor of this process, wherever it leads.
static bool isOwnDescriptor(const std::string &path) {
  for (const char *prefix : {"/dev/fd/", "/dev/std", "/proc/self/fd/"})
    if (path.rfind(prefix, 0) == 0)
      return true;
  return false;
}

bool weft::isWrittenInPlace(const std::string &path) {
  struct stat info;
  if (isOwnDescriptor(path))
    return true;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
         !S_ISDIR(info.st_mode);
}

static Error failed(const std::string &what, int number,
                    const std::string &path) {
  return storageError(what + ": " + errnoText(number)).at(path);
}

static Error isDirectory(const std::string &path) {
  return storageError("expects a file, but got a directory").at(path);
}

Expected<Descriptor> weft::openInPlace(const std::string &path) {
  // Opening a named pipe would wait for a reader.
  Descriptor file(withoutInterrupts([&] {
    return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
  }));
  if (!file && errno == ENXIO)
    return storageError("expects a named pipe with a reader").at(path);
  if (!file)
    return failed("cannot create", errno, path);
  ::fcntl(file.get(), F_SETFL, O_APPEND);
  return file;
}

Expected<OutputFile> OutputFile::create(const std::string &path) {
  OutputFile result;
  result.finalPath = path;
  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT)
    return systemError(ExitCode::Storage, "cannot create", errno).at(path);
  if (exists && S_ISDIR(info.st_mode))
    return isDirectory(path);
  // A rename would replace it.
  if (isWrittenInPlace(path)) {
    auto file = openInPlace(path);
    if (!file)
      return file.takeError();
    result.file = std::move(*file);
    return result;
  }
  result.target = withoutLinks(path);
  auto temporary = Temporary::file(result.target + ".tmp");
  if (!temporary)
    return temporary.takeError().at(path);
  result.temporary = std::move(*temporary);
  // The temporary keeps its lock until it is in place.
  result.file =
      Descriptor(::fcntl(result.temporary.descriptor(), F_DUPFD_CLOEXEC, 0));
  if (!result.file)
    return failed("cannot create", errno, path);
  return result;
}

Status OutputFile::writeAll(const char *data, int64_t bytes) {
  while (bytes > 0) {
    ssize_t written = ::write(file.get(), data, static_cast<size_t>(bytes));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return failed("cannot write", written < 0 ? errno : ENOSPC, finalPath);
    data += written;
    bytes -= written;
  }
  return Status::success();
}

Status OutputFile::flush() {
  Status status = writeAll(buffer.data(), static_cast<int64_t>(buffer.size()));
  buffer.clear();
  return status;
}

Status OutputFile::write(const void *data, int64_t bytes) {
  const char *text = static_cast<const char *>(data);
  if (static_cast<int64_t>(buffer.size()) + bytes > bufferBytes)
    if (Status status = flush(); !status)
      return status;
  if (bytes >= bufferBytes)
    return writeAll(text, bytes);
  buffer.insert(buffer.end(), text, text + bytes);
  return Status::success();
}

Status OutputFile::writeAt(int64_t offset, const void *data, int64_t bytes) {
  const char *text = static_cast<const char *>(data);
  while (bytes > 0) {
    const ssize_t written =
        ::pwrite(file.get(), text, static_cast<size_t>(bytes), offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return failed("cannot write", written < 0 ? errno : ENOSPC, finalPath);
    text += written;
    offset += written;
    bytes -= written;
  }
  return Status::success();
}

Status OutputFile::makeExecutable() {
  if (!temporary)
    return Status::success();
  // Readers may also execute it: the umask already restricts the read bits.
  struct stat info;
  if (::fstat(file.get(), &info) != 0 ||
      ::fchmod(file.get(), info.st_mode | ((info.st_mode & 0444) >> 2)) != 0)
    return failed("cannot make it executable", errno, finalPath);
  return Status::success();
}

/// close() may be the first call to report a full network disk.
Status OutputFile::closeChecked() {
  if (int number = file.close())
    return failed("cannot finish", number, finalPath);
  return Status::success();
}

/// 0, or an errno value.
static int putInPlace(const std::string &from, const std::string &to,
                      IfTaken ifTaken) {
  if (ifTaken == IfTaken::Fail)
    return renameToNew(from, to);
  auto rename = [&] { return ::rename(from.c_str(), to.c_str()); };
  return withoutInterrupts(rename) == 0 ? 0 : errno;
}

Status OutputFile::commit(IfTaken ifTaken) {
  if (Status status = flush(); !status)
    return status;
  if (!temporary)
    return closeChecked();
  if (withoutInterrupts([&] { return ::fsync(file.get()); }) != 0)
    return failed("cannot flush to disk", errno, finalPath);
  if (Status status = closeChecked(); !status)
    return status;
  // The folder may be moved as soon as the file is in it.
  Expected<HeldDirectory> folder = HeldDirectory::open(parentOf(target));
  if (!folder)
    return folder.takeError();
  const int number = putInPlace(temporary.path(), target, ifTaken);
  if (number == EEXIST && ifTaken == IfTaken::Fail)
    return storageError("expects a new file, but another program has made it "
                        "meanwhile")
        .at(finalPath);
  if (number)
    return failed("cannot finish", number, finalPath);
  temporary.release();
  return folder->sync();
}

Status weft::writeFile(const std::string &path, std::string_view text,
                       FileMode mode, IfTaken ifTaken) {
  auto out = OutputFile::create(path);
  if (!out)
    return out.takeError();
  if (Status status = out->write(text); !status)
    return status;
  if (mode == FileMode::Executable)
    if (Status status = out->makeExecutable(); !status)
      return status;
  return out->commit(ifTaken);
}

//===----------------------------------------------------------------------===//
// Comparing files before the first write
//===----------------------------------------------------------------------===//

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

Error weft::notOnStandardOutput(const std::string &role) {
  return usageError(role + " expects a file, but got '-', the name of standard "
                           "output")
      .hint(role == "--metrics"
                ? "--progress=json prints the same records"
                : "give the file a name; ./- is one that is named -");
}

Status weft::checkFolderName(const std::string &role, const std::string &path) {
  if (path != kStandardOutput)
    return Status::success();
  return usageError(role + " expects a folder, but got '-', the name of "
                           "standard output")
      .hint("./- is a folder that is named -");
}

static Error sameFile(const FileUse &output, const FileUse &other) {
  return usageError(output.role +
                    " expects a file of its own, but got the file of " +
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
      return usageError(
          "standard output expects a file of its own, but got the file of " +
          input.role + ", " + inQuotes(input.path));
  return Status::success();
}

Status weft::checkOutputPaths(const std::vector<FileUse> &outputs,
                              const std::vector<FileUse> &inputs,
                              std::string_view marker) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const FileUse &output = outputs[i];
    if (output.path == kStandardOutput)
      return notOnStandardOutput(output.role);
    if (Status s = checkOne(output, inputs, inputs.size()); !s)
      return s;
    if (Status s = checkOne(output, outputs, i); !s)
      return s;
    if (isInCheckpoint(output.path, marker))
      return usageError(output.role + " expects a file outside of checkpoints")
          .at(output.path);
    if (fs::path(output.path).filename() == ".lock")
      return usageError(
                 output.role +
                 " expects another name than .lock, which save directories use")
          .at(output.path);
  }
  return checkStandardOutput(inputs);
}

//===----------------------------------------------------------------------===//
// Places of outputs
//===----------------------------------------------------------------------===//

/// 0, or why nothing can be created in a folder.
static int findObstacle(const fs::path &folder) {
  const std::string path = folder.empty() ? "." : folder.string();
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return errno;
  if (!S_ISDIR(info.st_mode))
    return ENOTDIR;
  return ::access(path.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

Status weft::checkFilePlace(const std::string &path) {
  if (isWrittenInPlace(path))
    return Status::success();
  const fs::path target = withoutLinks(path);
  std::error_code ignored;
  if (fs::is_directory(target, ignored))
    return isDirectory(path);
  if (int number = findObstacle(target.parent_path()))
    return failed("cannot create", number, path);
  return Status::success();
}

Status weft::checkFolderPlace(const std::string &path) {
  std::error_code ignored;
  fs::path above = path;
  // A link to nothing is in the way, too.
  while (above.has_relative_path() &&
         !fs::exists(fs::symlink_status(above, ignored)))
    above = above.parent_path();
  if (int number = findObstacle(above))
    return failed("cannot create the directory", number, path);
  return Status::success();
}
