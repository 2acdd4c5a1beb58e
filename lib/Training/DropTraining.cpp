//===- DropTraining.cpp - Remove the programs and states of training ------===//

#include "weft/Training/Passes.h"

#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Programs.h"

#include "llvm/ADT/DenseSet.h"

namespace weft {
#define GEN_PASS_DEF_DROPTRAININGPASS
#include "weft/Training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

using Symbols = llvm::DenseSet<Attribute>;

/// The parameters and states that programs read.
static Symbols findReads(ModuleOp module) {
  Symbols reads;
  for (auto program : module.getOps<ProgramOp>())
    for (auto read : program.getOps<ReadOp>())
      reads.insert(read.getSourceAttr());
  return reads;
}

/// Removes the writes of these states, with the ops that compute their values.
static void removeWrites(ProgramOp program, const Symbols &states) {
  ReturnOp terminator = program.getTerminator();
  SmallVector<std::pair<StringRef, Value>> kept;
  for (auto [target, value] :
       llvm::zip_equal(terminator.getTargets(), terminator.getValues()))
    if (!states.contains(target))
      kept.push_back({cast<FlatSymbolRefAttr>(target).getValue(), value});
  if (kept.size() == terminator.getTargets().size())
    return;
  terminator.getValuesMutable().clear();
  terminator.setTargetsAttr(ArrayAttr::get(program.getContext(), {}));
  terminator.addWrites(kept);
  eraseDeadOps(program);
}

/// Keeps the facts about data and outputs, which evaluations need as well.
static void dropUpdateFacts(ModuleOp module) {
  module->removeAttr(kUpdateGroupsAttr);
  auto training =
      module->getAttrOfType<TrainingAttr>(WeftDialect::kTrainingAttr);
  if (!training)
    return;
  MLIRContext *context = module.getContext();
  module->setAttr(WeftDialect::kTrainingAttr,
                  TrainingAttr::get(context, ArrayAttr::get(context, {}),
                                    /*counters=*/{}, /*scaler=*/{},
                                    training.getIndexInputs(),
                                    training.getMetrics()));
}

namespace {
struct DropTrainingPass : weft::impl::DropTrainingPassBase<DropTrainingPass> {
  void runOnOperation() override {
    erasePrograms();
    eraseStates();
    dropUpdateFacts(getOperation());
  }

  void erasePrograms() {
    for (auto program :
         llvm::make_early_inc_range(getOperation().getOps<ProgramOp>())) {
      if (program.getKind() != ProgramKind::Micro &&
          program.getKind() != ProgramKind::Apply)
        continue;
      program.erase();
      ++numPrograms;
    }
  }

  void eraseStates() {
    const Symbols reads = findReads(getOperation());
    Symbols unused;
    for (auto state :
         llvm::make_early_inc_range(getOperation().getOps<StateOp>())) {
      auto symbol = FlatSymbolRefAttr::get(state.getSymNameAttr());
      if (reads.contains(symbol))
        continue;
      unused.insert(symbol);
      ++numStates;
      state.erase();
    }
    for (auto program : getOperation().getOps<ProgramOp>())
      removeWrites(program, unused);
  }
};
} // namespace
