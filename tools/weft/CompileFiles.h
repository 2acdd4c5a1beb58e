//===- CompileFiles.h - Inputs and outputs of weft compile ------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMPILEFILES_H
#define WEFT_TOOLS_WEFT_COMPILEFILES_H

#include "weft/Base/Flags.h"
#include "weft/Pipeline/Driver/Compiler.h"

#include <string>

namespace weft {

/// `-o FILE`, else the model's name with an extension, in the current folder.
/// For output that is not text.
std::string outputName(const FlagValues &flags, const std::string &model);

/// The files of a model, of its compile flags, and of the compiler itself.
Expected<std::vector<FileUse>> compileInputs(const FlagValues &flags,
                                             const std::string &model);

/// Nothing that is written up to the phase `last` is one of these, or written
/// twice.
Status checkCompileFiles(const FlagValues &flags, const std::string &model,
                         const PhaseTable &phases, int last);
/// The same for the weights that a dump records, which its program will read.
Status checkRecordedWeights(Compiler &compiler, const std::string &model,
                            int last);

/// Runs the phases that are left and links: the bytes of the executable.
Expected<std::string> compileProgram(Compiler &compiler);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMPILEFILES_H
