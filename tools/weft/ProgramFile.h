//===- ProgramFile.h - What a compiled program holds ------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMFILE_H
#define WEFT_TOOLS_WEFT_PROGRAMFILE_H

#include "weft/Base/Error.h"

#include <vector>

namespace weft {

/// Sections of the ELF file.
struct ProgramFile {
  std::string metadata; // .weft.meta: JSON
  struct Images {
    std::string chip;  // "sm_90" for .weft.sm_90
    std::string bytes; // cubins (weft/Formats/Cubin.h)
  };
  std::vector<Images> images; // in the order of the sections
};

/// Exit 3 if the file is none that `weft compile` made.
Expected<ProgramFile> readProgramFile(const std::string &path);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_PROGRAMFILE_H
