//===- Phases.h - The phase table -------------------------------*- C++ -*-===//
//
// One table drives the order of phases, `--from` and `--to`, dumps,
// `--print-pipeline` and the documentation.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_PHASES_H
#define WEFT_PIPELINE_PHASES_H

#include "weft/Formats/Flags.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace weft {

/// What the module consists of after a phase, for `--emit`.
enum class Level { Graph, Dist, Plan, Llvm, Output };

struct Phase {
  const char *name;     // "autodiff"
  const char *contract; // what holds after it, one line
  Level level;
  /// Adds the passes, with the options that the flags ask for; null for an
  /// identity, and for import and emit, which are not passes.
  void (*addPasses)(const FlagValues &flags, mlir::OpPassManager &passes);
};

/// All phases in order, import first and emit last.
llvm::ArrayRef<Phase> phases();

/// Position of a phase, or -1.
int findPhase(llvm::StringRef name);

/// The phases in (from, to] as one textual pipeline that weft-opt accepts, a
/// pass per line; a usage error if a path in it has no such text. Passes must
/// be registered.
Expected<std::string> pipelineText(const FlagValues &flags, int from, int to);

/// Markdown table of the phases.
std::string phasesMarkdown();

/// "05-autodiff.mlir": the file of a phase in --dump-dir.
std::string dumpFileName(int index);

} // namespace weft

#endif // WEFT_PIPELINE_PHASES_H
