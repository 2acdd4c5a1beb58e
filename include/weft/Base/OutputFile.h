//===- OutputFile.h - Files that appear whole -------------------*- C++ -*-===//
//
// A command names all files that it will read and write before it writes the
// first one. Files are compared by device and inode, behind links; one that is
// not there yet by its folder and its name.
//
// Writes go to `path.tmp-PID-N`; commit() flushes to the disk and renames. A
// failed write (full disk) is a storage error and leaves the old file
// unchanged. A path that is no regular file (a device, a pipe) is written in
// place. A link stays, and its target is replaced.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_OUTPUTFILE_H
#define WEFT_BASE_OUTPUTFILE_H

#include "weft/Base/Temporaries.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace weft {

/// How commit() handles a path that was created in the meantime.
enum class IfTaken { Replace, Fail };

class OutputFile {
public:
  OutputFile() = default;

  /// The temporary file is removed if commit() is not reached.
  static Expected<OutputFile> create(const std::string &path);
  /// Appends; small pieces are buffered.
  Status write(const void *data, int64_t bytes);
  Status write(std::string_view text) {
    return write(text.data(), static_cast<int64_t>(text.size()));
  }
  /// Writes at an offset, which may be behind the end of the file. Use it
  /// without write(), and only for a regular file.
  Status writeAt(int64_t offset, const void *data, int64_t bytes);
  /// Lets the file be run, as far as the umask allows; before commit().
  Status makeExecutable();
  /// fsync, rename over `path`, fsync of the folder.
  Status commit(IfTaken ifTaken = IfTaken::Replace);

  const std::string &path() const { return finalPath; }

private:
  Status flush();
  Status writeAll(const char *data, int64_t bytes);
  Status closeChecked();

  Descriptor file;
  /// The path as given, and with its links resolved.
  std::string finalPath, target;
  Temporary temporary; // the file being written; none if in place
  std::vector<char> buffer;
};

/// Whether a path leads to a device, a pipe or a descriptor of this process
/// (/dev/stdout), which are written directly.
bool isWrittenInPlace(const std::string &path);
/// Such a file, open for appending. A named pipe without a reader is an error,
/// not a wait.
Expected<Descriptor> openInPlace(const std::string &path);

enum class FileMode { Data, Executable };

/// Writes `text` to `path` in one go, as above.
Status writeFile(const std::string &path, std::string_view text,
                 FileMode mode = FileMode::Data,
                 IfTaken ifTaken = IfTaken::Replace);

/// A file and why a command uses it: "--data", "the model".
struct FileUse {
  std::string role;
  std::string path;
};

/// The name of standard output, where a command writes text to it.
inline constexpr std::string_view kStandardOutput = "-";

/// The error of an output named `-` that is no text of a command; `role` is as
/// in FileUse.
Error notOnStandardOutput(const std::string &role);

/// No output is named `-`, which would look like standard output. None is one
/// of the inputs, another output, or a file in a folder that
/// holds a file `marker` (the manifest of a checkpoint); standard output leads
/// into no input. A usage error names both sides. Devices and pipes hold
/// nothing that could be lost: they may be shared.
Status checkOutputPaths(const std::vector<FileUse> &outputs,
                        const std::vector<FileUse> &inputs,
                        std::string_view marker);

/// Whether a file can be created at `path`, for a run that writes nothing.
Status checkFilePlace(const std::string &path);
/// The same of a folder, with the folders above it that do not exist.
Status checkFolderPlace(const std::string &path);

} // namespace weft

#endif // WEFT_BASE_OUTPUTFILE_H
