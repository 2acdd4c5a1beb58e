//===- HelperProgram.h - Programs that work for us --------------*- C++ -*-===//

#ifndef WEFT_SUPPORT_HELPERPROGRAM_H
#define WEFT_SUPPORT_HELPERPROGRAM_H

#include "weft/Formats/Error.h"
#include "weft/Formats/Temporaries.h"

#include <string>
#include <vector>

namespace weft {

/// A folder `STEM-PID-N` in that for temporary files (TMPDIR), for what a
/// helper reads and writes. Gone with its owner, whatever ends it.
Expected<Temporary> makeHelperFolder(const std::string &stem);

/// Runs a program (command[0], a path) in a process group of its own, which a
/// signal that ends us ends as well. Its own temporaries go to `folder`, its
/// messages to the file `log` there. On failure an internal error "`work`
/// failed: ..." with the beginning of the messages.
Status runHelper(const std::vector<std::string> &command,
                 const std::string &folder, const std::string &work);

} // namespace weft

#endif // WEFT_SUPPORT_HELPERPROGRAM_H
