//===- Compiler.h - A model through the phases ------------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_DRIVER_COMPILER_H
#define WEFT_PIPELINE_DRIVER_COMPILER_H

#include "weft/Base/Flags.h"
#include "weft/Pipeline/Driver/Link.h"
#include "weft/Pipeline/Driver/PhaseTable.h"
#include "weft/Pipeline/Targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <optional>

namespace mlir {
class PassManager;
} // namespace mlir

namespace weft {

/// The notices of a compilation as text: those about training only for a
/// program that trains.
std::string shownNotices(llvm::StringRef notices, bool trains);

/// Compiles one model through the phase table. Every failure is one Error at
/// the location of the first diagnostic. Further diagnostics go to standard
/// error.
class Compiler {
public:
  Compiler();
  ~Compiler();

  /// Imports a model, or with `--from` loads a dump and its options. The flags
  /// come from compilerFlagTable().
  Status load(const std::string &model, FlagValues flags);
  /// Runs the phases after the current one up to `to`, with dumps. A program
  /// that exceeds the memory limit of its flags is an error (exit 4).
  /// runWithinMemory() searches for flags with which it fits.
  Status run(int to);
  /// The index of the last phase that ran; -1 before load().
  int lastPhase() const { return done; }

  /// Sets whether a copy of the module is kept after each phase that goBack()
  /// accepts, including the current one: derive-programs, working-copies,
  /// partition and lower-to-plan. False drops all copies. Returns the previous
  /// setting.
  bool keepSnapshots(bool keep = true);
  /// Restores the module as it was after `phase`, with new flags for the later
  /// phases; run() continues from there. It may follow a failed run. Later
  /// snapshots are dropped and the one of `phase` stays, so it can be called
  /// again. It is an error, which changes nothing, if `phase` has no snapshot,
  /// or if the flags change import or a phase up to `phase`.
  Status goBack(Phase phase, FlagValues flags);

  /// Compiles from derive-programs to plan-memory with trial flags. Remarks,
  /// dumps and checks belong to the final compilation: a trial reports errors
  /// only.
  Status tryFlags(const FlagValues &flags);
  /// The same with `run` in place of run(), such as runWithinMemory().
  Status tryFlags(const FlagValues &flags,
                  llvm::function_ref<Status(int to)> run);
  /// The flags of a trial: `flags` without --dump-dir and --reproducer. For
  /// callers of goBack() that do not run the later phases.
  static FlagValues forTrials(FlagValues flags);

  /// Verifies every op of the module. Phases verify only at the end of a level
  /// of IR, so call it before text is written for others.
  Status verify();
  /// The module as text that parses back. Resources and constants are whole.
  std::string text();
  /// The estimated timeline of the plan as a Chrome trace.
  Expected<std::string> timeline();
  /// LLVM IR, PTX and object code; precondition: the phases before emit ran.
  Expected<std::string> llvmIr();
  Expected<std::string> ptx();
  Expected<std::vector<char>> objectCode();
  /// The objects that an executable is linked from. Kernels and tables are
  /// separate objects where the target supports it. Precondition: the phases
  /// before emit ran.
  Expected<Objects> programObjects();

  mlir::ModuleOp module();
  /// The first error diagnostic of a failure on module(); `what` names the work
  /// if there is none.
  Error takeError(const std::string &what);
  /// The warnings and remarks so far, without --explain, for shownNotices().
  const std::string &notices() const;
  /// Whether warnings about training are printed, too (default: yes).
  void showTrainingNotices(bool shows);
  /// The current flags, including the options that a loaded dump carries.
  const FlagValues &flags() const { return values; }
  /// The target of the flags. Precondition: load() succeeded.
  const Target &target() const;
  const PhaseTable &phases() const { return *table; }
  /// A memory limit and the memory of the module that was planned within it.
  struct Fit {
    MemoryBound bound;
    MemoryReport report;
  };
  /// Nothing without a limit, or before memory is planned.
  const std::optional<Fit> &fit() const { return fitted; }

private:
  class DiagnosticSink;
  Status importModel(const std::string &model);
  Status loadDump(const std::string &path);
  Status loadDialects(const std::vector<std::string> &plugins);
  Status loadPluginsOfDump(const std::string &path);
  Status checkDump(int index);
  Status takeDumpOptions(const std::string &path);
  Status runPhase(int index);
  Error explainPhase(Error error, int index) const;
  Status runPasses(int index, mlir::PassManager &manager);
  Status verifyPhase(int index);
  Status checkMemoryLimit();
  Status finishPhase(int index);
  void keepSnapshot();
  Status dump(int index);

  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<DiagnosticSink> sink;
  mlir::OwningOpRef<mlir::ModuleOp> owned;
  FlagValues values;
  std::optional<Fit> fitted;
  std::optional<PhaseTable> table;
  int done = -1; // index of the last phase that ran

  struct Snapshot {
    int phase;
    mlir::OwningOpRef<mlir::ModuleOp> module;
  };
  bool isTrial = false;
  bool keepsSnapshots = false;
  std::vector<Snapshot> snapshots; // of phases that ran with `values`, in order
};

} // namespace weft

#endif // WEFT_PIPELINE_DRIVER_COMPILER_H
