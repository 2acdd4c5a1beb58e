//===- HeldText.cpp - Text that waits until it is whole -------------------===//

#include "HeldText.h"

#include "weft/Base/InputFile.h"
#include "weft/Base/Results.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <unistd.h>

using namespace weft;

static constexpr int64_t kSpillBytes = int64_t(4) << 20;

Status HeldText::add(std::string_view text) {
  waiting += text;
  return int64_t(waiting.size()) < kSpillBytes ? Status::success() : spill();
}

/// Moves the text in memory to the temporary file.
Status HeldText::spill() {
  if (!spilled) {
    std::error_code missing;
    const auto folder = std::filesystem::temp_directory_path(missing);
    if (missing)
      return storageError("expects a folder for temporary files in TMPDIR: " +
                          missing.message());
    if (Status s = assign(Temporary::file((folder / "weft-text.tmp").string()),
                          spilled);
        !s)
      return s;
  }
  for (size_t at = 0; at < waiting.size();) {
    const ssize_t n =
        ::write(spilled.descriptor(), waiting.data() + at, waiting.size() - at);
    if (n < 0 && errno != EINTR)
      return storageError("cannot write: " + errnoText(errno))
          .at(spilled.path());
    at += size_t(std::max<ssize_t>(n, 0));
  }
  spilledBytes += int64_t(waiting.size());
  waiting.clear();
  return Status::success();
}

Status HeldText::release(const std::function<Status(std::string_view)> &write) {
  if (spilled) {
    // Another descriptor, since the temporary's is for writing.
    Expected<std::unique_ptr<ByteSource>> file =
        InputFile::open(spilled.path());
    if (!file)
      return file.takeError();
    std::string part;
    for (int64_t at = 0; at < spilledBytes; at += int64_t(part.size())) {
      part.resize(size_t(std::min(kSpillBytes, spilledBytes - at)));
      if (Status s = (*file)->read(at, int64_t(part.size()), part.data()); !s)
        return s;
      if (Status s = write(part); !s)
        return s;
    }
  }
  return write(waiting);
}
