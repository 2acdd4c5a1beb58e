//===- UseModel.h - Run a model without training it -------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_USEMODEL_H
#define WEFT_TOOLS_WEFT_USEMODEL_H

#include "weft/Base/Results.h"
#include "weft/Base/RunFile.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// A command that runs a program of trained weights.
struct UseCommand {
  const char *name;  // "weft generate"
  const char *usage; // behind the name
  RunUse use;
  std::vector<std::string_view> runFlags;
  /// Names of other commands and tools for its flags.
  std::map<std::string, std::string> renamed = {};

  bool samples() const { return use == RunUse::Sample; }
};

/// Runs the compiled program, or the program of the model, that the first
/// positional argument names.
Expected<ExitCode> useModel(const UseCommand &command, const FlagValues &flags);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_USEMODEL_H
