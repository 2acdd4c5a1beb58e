//===- OutputPaths.h - No output may replace an input -----------*- C++ -*-===//
//
// A command names all files that it will read and write before it writes the
// first one. Files are compared by device and inode, behind links; one that is
// not there yet by its folder and its name.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_OUTPUTPATHS_H
#define WEFT_BASE_OUTPUTPATHS_H

#include "weft/Base/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// A file and why a command uses it: "--data", "the model".
struct FileUse {
  std::string role;
  std::string path;
};

/// No output is one of the inputs, another output, or a file in a folder that
/// holds a file `marker` (the manifest of a checkpoint); standard output leads
/// into no input. A usage error names both sides. Devices and pipes hold
/// nothing that could be lost: they may be shared.
Status checkOutputPaths(const std::vector<FileUse> &outputs,
                        const std::vector<FileUse> &inputs,
                        std::string_view marker);

} // namespace weft

#endif // WEFT_BASE_OUTPUTPATHS_H
