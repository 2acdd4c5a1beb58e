//===- CollectiveWaits.cpp - Check waits for collectives ------------------===//

#include "VerifyPlan.h"

#include "weft/Analysis/StreamOrder.h"
#include "weft/Plan/PlanCollectives.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace weft;

namespace {
/// The records and waits of one program.
class ProgramEvents {
public:
  LogicalResult visit(plan::RecordOp record);
  LogicalResult visit(plan::WaitOp wait);
  LogicalResult finish();

private:
  struct Use {
    plan::RecordOp record;
    llvm::SmallDenseMap<int64_t, plan::WaitOp> waits; // by stream
  };
  llvm::MapVector<StringAttr, Use> uses; // the last record of each event
};
} // namespace

static LogicalResult reportUnused(plan::RecordOp record) {
  return record.emitOpError("expects a wait for the collectives of its stream "
                            "below it, but got none");
}

LogicalResult ProgramEvents::visit(plan::RecordOp record) {
  Use &use = uses[record.getEventAttr().getAttr()];
  if (use.record && use.waits.empty())
    return reportUnused(use.record);
  use.record = record;
  use.waits.clear();
  return success();
}

LogicalResult ProgramEvents::visit(plan::WaitOp wait) {
  auto use = uses.find(wait.getEventAttr().getAttr());
  if (use == uses.end())
    return wait.emitOpError("expects a record of ")
           << wait.getEventAttr() << " above it, but got none";
  const int64_t stream =
      cast<plan::CommandOpInterface>(*wait).getStreamNumber();
  auto [first, isNew] = use->second.waits.try_emplace(stream, wait);
  if (isNew)
    return success();
  InFlightDiagnostic error = wait.emitOpError("expects stream ")
                             << stream
                             << " to wait for a record once, but got a second "
                                "wait";
  error.attachNote(first->second.getLoc()) << "the first one";
  return error;
}

LogicalResult ProgramEvents::finish() {
  for (auto &[name, use] : uses)
    if (use.waits.empty())
      return reportUnused(use.record);
  return success();
}

/// Whether the event of a record or wait belongs to a stream of collectives.
template <typename OpT>
static bool isOfCollectives(OpT op, SymbolTable &symbols) {
  auto event = symbols.lookup<plan::EventOp>(op.getEvent());
  return event &&
         static_cast<int64_t>(event.getStream()) >= plan::kGatherStream;
}

static LogicalResult verifyEvents(plan::ProgramOp program,
                                  SymbolTable &symbols) {
  ProgramEvents events;
  for (Operation &op : program.getBody().front()) {
    auto record = dyn_cast<plan::RecordOp>(op);
    auto wait = dyn_cast<plan::WaitOp>(op);
    if ((record && isOfCollectives(record, symbols) &&
         failed(events.visit(record))) ||
        (wait && isOfCollectives(wait, symbols) && failed(events.visit(wait))))
      return failure();
  }
  return events.finish();
}

/// Stream 0 must wait for all collectives, because the host uses states and
/// outputs after the program.
static LogicalResult verifyEnd(plan::ProgramOp program) {
  StreamOrder order(program->getParentOfType<ModuleOp>());
  SmallVector<std::pair<Operation *, StreamMoment>> collectives;
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>()) {
    StreamMoment moment = order.add(command);
    if (plan::isAsync(command))
      collectives.push_back({command, moment});
  }
  const StreamMoment end = order.getNow(plan::kComputeStream);
  for (const auto &[command, moment] : collectives)
    if (!moment.isBefore(end))
      return command->emitOpError("expects stream 0 to wait for it before the "
                                  "program ends, but got no wait");
  return success();
}

LogicalResult weft::verifyCollectiveEvents(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto program : module.getOps<plan::ProgramOp>())
    if (failed(verifyEvents(program, symbols)) || failed(verifyEnd(program)))
      return failure();
  return success();
}
