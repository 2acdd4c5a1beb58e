//===- OutputFile.cpp - Checked writes and an atomic rename ---------------===//

#include "weft/Base/OutputFile.h"

#include "weft/Base/Durable.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

static constexpr int64_t bufferBytes = 1 << 20;

/// The file that a link leads to, there or not, so that the link stays.
static std::string withoutLinks(const std::string &path) {
  namespace fs = std::filesystem;
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

bool isWrittenInPlace(const std::string &path) {
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

Expected<Descriptor> openInPlace(const std::string &path) {
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
    return storageError("expects a file, but got a directory").at(path);
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
  if (int number = putInPlace(temporary.path(), target, ifTaken))
    return failed("cannot finish", number, finalPath);
  temporary.release();
  return syncPath(parentOf(target));
}

Status writeFile(const std::string &path, std::string_view text, FileMode mode,
                 IfTaken ifTaken) {
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

} // namespace weft
