//===- RunWithinMemory.cpp - Compile with flags that fit into memory ------===//

#include "weft/Pipeline/Driver/MemoryFit.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

std::string weft::listChosen(const FlagValues &given,
                             const FlagValues &chosen) {
  const std::vector<std::string> before = given.canonical(CompileFlag);
  std::string text;
  for (const std::string &flag : chosen.canonical(CompileFlag))
    if (!llvm::is_contained(before, flag))
      text += (text.empty() ? "" : " ") + flag;
  return text;
}

/// With --loss-chunks=auto only a limit has a reason to choose.
static void remarkOfChunks(Compiler &compiler) {
  if (compiler.flags().getText("loss-chunks") != "auto")
    return;
  Location nowhere = UnknownLoc::get(compiler.module().getContext());
  InFlightDiagnostic remark = emitRemark(nowhere);
  remark
      << "--loss-chunks=auto computes the loss in 1 chunk, since there is no "
         "memory limit";
  remark.attachNote(nowhere)
      << "--memory-limit=BYTES or --device=NAME lets it choose more; "
         "--loss-chunks=N sets them";
}

Status weft::runWithinMemory(Compiler &compiler, int to) {
  const PhaseTable &phases = compiler.phases();
  const bool isEarly = compiler.lastPhase() < phases.find(Phase::MarkRecompute);
  const bool plansMemory = isEarly && to >= phases.find(Phase::PlanMemory);
  const std::optional<MemoryBound> bound =
      getMemoryBound(compiler.flags(), compiler.target());
  if (isEarly && !bound)
    remarkOfChunks(compiler);
  if (!plansMemory || !bound)
    return compiler.run(to);
  const FlagValues given = compiler.flags();
  const bool keptSnapshots = compiler.keepSnapshots();
  Expected<FlagValues> chosen = given;
  Status status = compiler.run(phases.find(Phase::DerivePrograms));
  if (status) {
    chosen = MemoryFit(compiler, given).choose(*bound);
    status = compiler.goBack(Phase::DerivePrograms, chosen ? *chosen : given);
  }
  compiler.keepSnapshots(keptSnapshots);
  // A program that does not fit has dumps too; the error of choose() says more.
  const bool isLookedAt = given.isSet("dump-dir") || given.isSet("reproducer");
  if (status && (chosen || isLookedAt))
    status = compiler.run(to);
  if (!chosen)
    return chosen.takeError();
  return status;
}
