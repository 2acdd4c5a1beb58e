//===- ExplainSchedule.cpp - Where collectives begin and end --------------===//

#include "ExplainSchedule.h"

#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace weft {

namespace {
/// A collective that stream 0 has not waited for.
struct Begun {
  plan::CommandOpInterface command;
  int64_t computed; // by stream 0 before it
};

/// Follows one program.
class Explainer {
public:
  void visit(plan::CommandOpInterface command);

private:
  void await(plan::WaitOp wait);

  int64_t computed = 0;
  llvm::DenseMap<int64_t, std::vector<Begun>> inFlight; // by stream
  /// The stream of an event, and how many of its collectives are done then.
  llvm::DenseMap<StringAttr, std::pair<int64_t, size_t>> records;
  llvm::DenseMap<int64_t, size_t> done; // collectives waited for, by stream
};
} // namespace

/// The command of stream 0 that a wait holds up, or null at the end.
static plan::CommandOpInterface findNext(plan::WaitOp wait) {
  for (Operation *op = wait->getNextNode(); op; op = op->getNextNode()) {
    auto command = dyn_cast<plan::CommandOpInterface>(op);
    if (command && command.getStreamNumber() == 0 &&
        !isa<plan::RecordOp, plan::WaitOp>(op) &&
        !command.getCommandScope().empty())
      return command;
  }
  return {};
}

void Explainer::await(plan::WaitOp wait) {
  auto record = records.find(wait.getEventAttr().getAttr());
  if (record == records.end())
    return;
  auto [stream, count] = record->second;
  for (size_t &next = done[stream]; next < count; ++next) {
    auto [command, before] = inFlight[stream][next];
    InFlightDiagnostic remark =
        command->emitRemark()
        << (isa<plan::AllGatherOp>(*command) ? "is gathered beside "
                                             : "is reduced beside ")
        << computed - before << " commands";
    if (!command.getCommandScope().empty())
      remark << " for " << command.getCommandScope();
    if (plan::CommandOpInterface next = findNext(wait))
      remark << ", until " << next.getCommandKind() << " of "
             << next.getCommandScope();
  }
}

void Explainer::visit(plan::CommandOpInterface command) {
  const int64_t stream = command.getStreamNumber();
  if (auto record = dyn_cast<plan::RecordOp>(*command))
    records[record.getEventAttr().getAttr()] = {stream,
                                                inFlight[stream].size()};
  else if (auto wait = dyn_cast<plan::WaitOp>(*command); wait && stream == 0)
    await(wait);
  else if (stream != 0 && plan::isCollective(command))
    inFlight[stream].push_back({command, computed});
  else if (stream == 0)
    ++computed;
}

void explainSchedule(plan::ProgramOp program) {
  Explainer explainer;
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>())
    explainer.visit(command);
}

} // namespace weft
