//===- MarkBesideCollectives.cpp - Mark products beside collectives -------===//

#include "weft/Schedule/Passes.h"

#include "weft/Analysis/Cost.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace weft {
#define GEN_PASS_DEF_MARKBESIDECOLLECTIVESPASS
#include "weft/Schedule/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// Counts the collectives that may be in flight while stream 0 runs a command.
class InFlight {
public:
  /// The next command of the program.
  void visit(plan::CommandOpInterface command);
  bool any() const {
    return llvm::any_of(queues, [](const auto &each) {
      return each.second.awaited < each.second.begun;
    });
  }

private:
  /// Collectives of one stream: given to it, and awaited by stream 0.
  struct Queue {
    int64_t begun = 0, awaited = 0;
  };
  llvm::DenseMap<int64_t, Queue> queues;
  /// The stream of an event, and the collectives that it covers.
  llvm::DenseMap<StringAttr, std::pair<int64_t, int64_t>> records;
};
} // namespace

void InFlight::visit(plan::CommandOpInterface command) {
  const int64_t stream = command.getStreamNumber();
  if (auto record = dyn_cast<plan::RecordOp>(*command)) {
    records[record.getEventAttr().getAttr()] = {stream, queues[stream].begun};
  } else if (auto wait = dyn_cast<plan::WaitOp>(*command)) {
    auto record = records.find(wait.getEventAttr().getAttr());
    if (stream != plan::kComputeStream || record == records.end())
      return;
    Queue &queue = queues[record->second.first];
    queue.awaited = std::max(queue.awaited, record->second.second);
  } else if (plan::isAsync(command)) {
    ++queues[stream].begun;
  }
}

namespace {
struct MarkBesideCollectivesPass
    : weft::impl::MarkBesideCollectivesPassBase<MarkBesideCollectivesPass> {
  using MarkBesideCollectivesPassBase::MarkBesideCollectivesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkOptions()))
      return signalPassFailure();
    if (countRanks(module) == 1)
      return;
    module->setAttr(plan::PlanDialect::kCollectiveCtasAttr,
                    Builder(&getContext()).getI64IntegerAttr(ctas));
    for (auto program : module.getOps<plan::ProgramOp>())
      mark(program);
  }

private:
  LogicalResult checkOptions() {
    if (ctas >= 1 && ctas <= 64)
      return success();
    return getOperation().emitError("expects `ctas` from 1 to 64, but got ")
           << ctas.getValue();
  }

  void mark(plan::ProgramOp program) {
    InFlight inFlight;
    for (auto command :
         program.getBody().front().getOps<plan::CommandOpInterface>()) {
      inFlight.visit(command);
      auto product = dyn_cast<plan::GemmOp>(*command);
      if (!product)
        continue;
      product.setBesideCollectives(inFlight.any());
      if (product.getBesideCollectives())
        ++numMarked;
      else
        ++numAlone;
    }
  }
};
} // namespace
