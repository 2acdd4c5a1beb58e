//===- CompileProgram.h - A loaded model as an executable -------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMPILEPROGRAM_H
#define WEFT_TOOLS_WEFT_COMPILEPROGRAM_H

#include "weft/Pipeline/Driver/Compiler.h"

#include <string>

namespace weft {

/// Runs the phases that are left and links: the bytes of the executable.
Expected<std::string> compileProgram(Compiler &compiler);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMPILEPROGRAM_H
