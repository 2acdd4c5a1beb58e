//===- Snapshots.cpp - Back to an earlier phase ---------------------------===//

#include "DiagnosticSink.h"

#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <utility>

using namespace mlir;
using namespace weft;

/// Where decisions of later phases may have to be made again: recomputation and
/// copies, collectives, order and memory.
static constexpr Phase kReturnPhases[] = {Phase::DerivePrograms,
                                          Phase::WorkingCopies,
                                          Phase::Partition, Phase::LowerToPlan};

void Compiler::keepSnapshot() {
  if (keepsSnapshots && llvm::is_contained(kReturnPhases, phases()[done].phase))
    snapshots.push_back({done, owned->clone()});
}

bool Compiler::keepSnapshots(bool keep) {
  const bool kept = std::exchange(keepsSnapshots, keep);
  if (!keep)
    snapshots.clear();
  else if (!kept && done >= 0)
    keepSnapshot();
  return kept;
}

/// The first phase up to `last` that one set of flags runs in another way than
/// the other set, or -1.
static int findDifference(const PhaseTable &before, const FlagValues &old,
                          const PhaseTable &after, const FlagValues &flags,
                          int last) {
  for (const char *flag : flagsOfImport())
    if (old.getText(flag) != flags.getText(flag))
      return 0;
  for (int i = 1; i <= last; ++i)
    if (before.printPasses(old, i - 1, i) != after.printPasses(flags, i - 1, i))
      return i;
  return -1;
}

/// "--batch=4 --seq=16": the flags whose values differ, with the new ones.
static std::string listChanges(const FlagValues &old, const FlagValues &flags) {
  std::vector<std::string> changes;
  for (const FlagSpec &spec : compileFlags())
    if (old.getText(spec.name) != flags.getText(spec.name))
      changes.push_back("--" + std::string(spec.name) + "=" +
                        flags.getText(spec.name));
  return llvm::join(changes, " ");
}

Status Compiler::goBack(Phase phase, FlagValues flags) {
  if (Status status = checkSupported(flags); !status)
    return status;
  Expected<PhaseTable> after = PhaseTable::get(flags);
  if (!after)
    return after.takeError();
  auto found = llvm::find_if(snapshots, [&](const Snapshot &snapshot) {
    return phase == phases()[snapshot.phase].phase;
  });
  if (found == snapshots.end())
    return Error(ExitCode::Internal,
                 "expects a phase with a snapshot to go back to, but got " +
                     inQuotes(getPhaseInfo(phase).name));
  int other = findDifference(phases(), values, *after, flags, found->phase);
  if (other >= 0)
    return usageError("expects changes that phase " +
                      std::string(phases()[other].name) +
                      " does not see, but got " + listChanges(values, flags));
  done = found->phase;
  owned = found->module->clone();
  snapshots.erase(found + 1, snapshots.end());
  values = std::move(flags);
  table = std::move(*after);
  storeOptions(*owned, values);
  return dump(done);
}

FlagValues Compiler::forTrials(FlagValues flags) {
  return flags.without("dump-dir").without("reproducer");
}

Status Compiler::tryFlags(const FlagValues &flags) {
  return tryFlags(flags, [this](int to) { return run(to); });
}

Status Compiler::tryFlags(const FlagValues &flags,
                          llvm::function_ref<Status(int)> run) {
  ScopedDiagnosticHandler errorsOnly(
      module().getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
      });
  if (Status status = goBack(Phase::DerivePrograms, forTrials(flags)); !status)
    return status;
  llvm::SaveAndRestore<bool> trial(isTrial, true);
  return run(phases().find(Phase::PlanMemory));
}
