//===- RunModule.h - Run programs of a module -------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_INTERP_RUNMODULE_H
#define WEFT_TOOLS_WEFT_INTERP_RUNMODULE_H

#include "weft/Interp/Interp.h"

#include <map>
#include <string>
#include <vector>

namespace weft {

/// The command line, read.
struct Settings {
  std::vector<std::string> files;
  std::string program, outputsPath, statePath;
  ComputeMode mode = ComputeMode::F64;
  int64_t steps = 0, accum = 1, inputSeed = 0, stateSeed = 0, streamOrder = 0;
  double tolerance = 0;
  bool compares = false, prints = true, printsEachRank = false;
  TensorMap inputs, states;
  std::map<std::string, double> fills;
};

/// Runs steps, one program or all of them, as the settings say, and writes the
/// files that they name. Returns an exit code; errors have been reported.
int runModule(mlir::ModuleOp module, const Settings &settings);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_INTERP_RUNMODULE_H
