//===- OutputFile.h - A file that appears whole or not at all ---*- C++ -*-===//
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

} // namespace weft

#endif // WEFT_BASE_OUTPUTFILE_H
