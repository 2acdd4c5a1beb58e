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

class KernelsAhead;

/// Takes one model through the phase table. Every failure is one Error with
/// the first diagnostic's place; further diagnostics go to standard error.
class Compiler {
public:
  Compiler();
  ~Compiler();

  /// Imports a model, or with `--from` loads a dump and its options. The flags
  /// come from compilerFlagTable().
  Status load(const std::string &model, FlagValues flags);
  /// Runs the phases behind the current one up to `to`, with dumps. A program
  /// that exceeds the memory limit of its flags is an error (exit 4);
  /// runWithinMemory() looks for flags with which it fits.
  Status run(int to);
  /// The index of the last phase that ran; -1 before load().
  int lastPhase() const { return done; }

  /// From now on keeps a copy of the module after each phase that goBack takes,
  /// the current one included: derive-programs, working-copies, partition and
  /// lower-to-plan. False drops all copies. Returns what was set before.
  bool keepSnapshots(bool keep = true);
  /// Makes the module that of `phase` again, after a run or a failed one, with
  /// other flags for the phases behind it; run() goes on there. It works as
  /// often as it is called, with snapshots up to `phase`. Without a snapshot,
  /// or with flags that import or a phase up to there would have seen: an
  /// error, and nothing has changed.
  Status goBack(Phase phase, FlagValues flags);

  /// Goes back to derive-programs and on to plan-memory, to see what flags
  /// give. What is asked to be said, dumped or checked on the way is meant for
  /// the compilation that counts: of a trial there are errors alone.
  Status tryFlags(const FlagValues &flags);
  /// The same with `run` in place of run(), such as runWithinMemory().
  Status tryFlags(const FlagValues &flags,
                  llvm::function_ref<Status(int to)> run);
  /// What a trial makes of flags, for who goes back without going on.
  static FlagValues forTrials(FlagValues flags);

  /// Asks every op of the module for its rules. Inside a level of IR no phase
  /// does: precondition of text that is written for others.
  Status verify();
  /// The module as text that parses back. Resources and constants are whole.
  std::string text();
  /// The plan as a Chrome trace, by its estimates.
  Expected<std::string> timeline();
  /// LLVM IR, PTX, twins and object code; precondition: the phases before emit
  /// ran.
  Expected<std::string> llvmIr();
  Expected<std::string> ptx();
  Expected<std::vector<char>> twins(bool isChecked);
  Expected<std::vector<char>> objectCode();
  /// The objects that an executable is linked from: kernels apart from tables
  /// where the target can do that. Precondition: the phases before emit ran.
  /// After a run of all phases for an executable a thread may still work, and
  /// this waits for it: call it behind such a run, or destroy the compiler.
  Expected<Objects> programObjects();

  mlir::ModuleOp module();
  /// The error behind a failure of something that ran on module().
  Error takeError(const std::string &what);
  /// Flags, with those of a dump.
  const FlagValues &flags() const { return values; }
  /// What they are compiled for: after load().
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
  Status checkDump(int index);
  Status takeDumpOptions(const std::string &path);
  Status runPhase(int index, int to);
  void startKernels(int to);
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
  /// From the phase fuse until the objects of the executable are made.
  std::unique_ptr<KernelsAhead> ahead;

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
