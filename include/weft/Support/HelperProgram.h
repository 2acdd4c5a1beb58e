//===- HelperProgram.h - Helper processes -----------------------*- C++ -*-===//

#ifndef WEFT_SUPPORT_HELPERPROGRAM_H
#define WEFT_SUPPORT_HELPERPROGRAM_H

#include "weft/Base/Error.h"
#include "weft/Base/Temporaries.h"

#include <string>
#include <vector>

namespace weft {

/// A folder `STEM-PID-N` in the folder for temporary files (TMPDIR), for files
/// of a helper. It is removed with its owner, even when a signal ends the
/// process.
Expected<Temporary> makeHelperFolder(const std::string &stem);

/// The hint of errors about that folder.
inline constexpr char kHelperFolderHint[] =
    "TMPDIR names another folder for temporary files";

/// How a helper has ended.
struct HelperEnd {
  int code = 0;        // below 0: it could not be run, or a signal ended it
  std::string problem; // the system's message for that, or ""
  std::string said;    // the beginning of its output
};

/// Runs a program (command[0], a path) in a process group of its own, which a
/// signal that ends us ends as well, and waits for it. Its own temporaries go
/// to `folder`, its messages to the file `log` there.
HelperEnd waitForHelper(const std::vector<std::string> &command,
                        const std::string &folder);

/// The same. Failure gives the error "`work` failed: ..." with the helper's
/// output; a storage error if the disk of `folder` is full.
Status runHelper(const std::vector<std::string> &command,
                 const std::string &folder, const std::string &work);

} // namespace weft

#endif // WEFT_SUPPORT_HELPERPROGRAM_H
