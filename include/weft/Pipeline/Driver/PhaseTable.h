//===- PhaseTable.h - The phases of a target in order -----------*- C++ -*-===//
//
// The phases that one target runs, for `--from` and `--to`, dumps,
// `--print-pipeline` and the documentation. Names and contracts of phases are
// in Targets/Phase.h, their passes in PhasePasses.cpp, checks of contracts in
// VerifyContract.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_DRIVER_PHASETABLE_H
#define WEFT_PIPELINE_DRIVER_PHASETABLE_H

#include "weft/Base/Flags.h"
#include "weft/Pipeline/Targets/Phase.h"

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace weft {

class Target;
struct TargetKind;

/// Passes of --add-pass: they run after the phase with this index.
struct AddedPasses {
  int phase;
  std::string pipeline;
};

/// The phases of a compilation for one target in order, import first and emit
/// last.
class PhaseTable {
public:
  /// For the target that --target names; a usage error if it names none. Loads
  /// the plug-ins of --load-pass-plugin. With --add-pass, passes must be
  /// registered.
  static Expected<PhaseTable> get(const FlagValues &flags);
  /// Without passes: names, contracts and levels of a kind.
  explicit PhaseTable(const TargetKind &kind);

  int size() const { return static_cast<int>(entries.size()); }
  const PhaseInfo &operator[](int index) const { return entries[index]; }
  /// Position of a phase, or -1.
  int find(Phase phase) const;
  /// Position of the phase with that name, or -1.
  int find(llvm::StringRef name) const;
  /// Position of the last phase whose level is at most this.
  int findLast(Level level) const;
  /// "05-autocast.mlir": the file of a phase in --dump-dir.
  std::string dumpFileName(int index) const;

  /// Adds the passes of a phase with the options of the flags. It adds none for
  /// an identity, nor for import and emit, which are not passes. The passes of
  /// --add-pass come last.
  void addPasses(int index, const FlagValues &flags,
                 mlir::OpPassManager &passes) const;
  /// Whether --add-pass adds passes to a phase.
  bool hasAddedPasses(int index) const;
  /// "PHASE:PIPELINE" of --add-pass for the phases in (from, to].
  std::vector<std::string> listAddedPasses(int from, int to) const;
  /// Whether a phase has passes with these flags.
  bool hasPasses(int index, const FlagValues &flags) const;
  /// The phases in (from, to] in MLIR's text of pipelines, a pass per line.
  std::string printPasses(const FlagValues &flags, int from, int to) const;

  const Target &target() const { return *targetObject; }

private:
  std::vector<PhaseInfo> entries;
  std::shared_ptr<const Target> targetObject;
  std::vector<AddedPasses> added;
};

/// Whether a phase of some target has this name.
bool isPhaseName(llvm::StringRef name);

/// The text of printPasses() for weft-opt. A usage error if a path has no
/// spelling in the text of a pipeline. Passes must be registered.
Expected<std::string> pipelineText(const PhaseTable &phases,
                                   const FlagValues &flags, int from, int to);

/// A phase and its contract, for the help text and the documentation.
struct PhaseLine {
  std::string name, contract;
};

/// The phases of all targets. A phase that only some kinds have names them.
std::vector<PhaseLine> listPhases();
/// The same as a table in Markdown.
std::string phasesMarkdown();

} // namespace weft

#endif // WEFT_PIPELINE_DRIVER_PHASETABLE_H
