//===- StateOrder.cpp - States are written before they are read -----------===//
//
// Programs run one after the other: init, then micro-steps and an update again
// and again, with evaluations and samples between them. A run that goes on from
// a checkpoint has what that holds, and what refresh makes of it, in place of
// what init writes. Gradients start anew in each step: what they held before
// may reach no state and no output of micro.
//
//===----------------------------------------------------------------------===//

#include "StateOrder.h"

#include "ElementSet.h"
#include "OldGradients.h"
#include "weft/Formats/Names.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace weft {

namespace {
/// What has been written of each state, by its name.
using Writes = llvm::DenseMap<StringRef, ElementSet>;

/// What a run begins with.
enum class Start { Init, Checkpoint };

class StateOrder {
public:
  explicit StateOrder(ModuleOp module) : symbols(module) {
    for (auto program : module.getOps<plan::ProgramOp>())
      collect(program);
  }

  bool hasInit() const { return written.count(names::kInit); }
  LogicalResult verify(plan::ProgramOp program, Start start);

private:
  void collect(plan::ProgramOp program);
  /// Kinds of programs that have run before one of `kind`.
  SmallVector<StringRef> getEarlier(StringRef kind, Start start) const;
  /// Whether gradients start anew in the current program.
  bool startsGradients() { return current.getKind() == names::kMicro; }
  bool isOldGradient(Value buffer);
  LogicalResult reportOld(Operation *op, StringRef state);
  LogicalResult verifyCommand(plan::CommandOpInterface command,
                              OldGradients &old);
  LogicalResult verifyOutput(plan::OutputOp output, const OldGradients &old);
  LogicalResult verifyRead(Operation *op, Value buffer);
  InFlightDiagnostic reportUnwritten(Operation *op, plan::UseOp use);

  SymbolTable symbols;
  /// By the kind of program.
  llvm::StringMap<Writes> written;

  // The program that is verified.
  plan::ProgramOp current;
  SmallVector<StringRef> earlier;
  Writes known;
};
} // namespace

/// The state that a buffer is a part of, or null.
static plan::UseOp getUse(Value buffer) {
  return plan::getRoot(buffer).getDefiningOp<plan::UseOp>();
}

static MemRefType getType(Value buffer) {
  return cast<MemRefType>(buffer.getType());
}

/// Notes what a command writes of states.
static void addWrites(plan::CommandOpInterface command, Writes &writes) {
  for (auto [index, buffer] : llvm::enumerate(command->getOperands()))
    if (plan::UseOp use = getUse(buffer); use && command.isWritten(index))
      writes[use.getState()].add(getType(buffer),
                                 getType(use.getBuffer()).getNumElements());
}

void StateOrder::collect(plan::ProgramOp program) {
  Writes &writes = written[program.getKind()];
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>())
    addWrites(command, writes);
}

SmallVector<StringRef> StateOrder::getEarlier(StringRef kind,
                                              Start start) const {
  if (kind == names::kInit || (kind == names::kRefresh && start != Start::Init))
    return {};
  SmallVector<StringRef> kinds = {start == Start::Init ? names::kInit
                                                       : names::kRefresh};
  if (kind == names::kApply)
    kinds.push_back(names::kMicro);
  return kinds;
}

InFlightDiagnostic StateOrder::reportUnwritten(Operation *op, plan::UseOp use) {
  auto error = op->emitOpError("expects every element of @")
               << use.getState() << " that it reads to be written before, in @"
               << current.getSymName();
  for (StringRef kind : earlier)
    error << " or " << kind;
  bool isPart = !known[use.getState()].isEmpty();
  error << ", but got " << (isPart ? "a part of them" : "no write");
  error.attachNote(symbols.lookup(use.getState())->getLoc())
      << "the state is declared here";
  return error;
}

LogicalResult StateOrder::verifyRead(Operation *op, Value buffer) {
  plan::UseOp use = getUse(buffer);
  if (!use || known[use.getState()].covers(getType(buffer)))
    return success();
  return reportUnwritten(op, use);
}

/// Whether the buffer is a gradient that starts anew in this program and has
/// not been written.
bool StateOrder::isOldGradient(Value buffer) {
  plan::UseOp use = getUse(buffer);
  if (!use || !startsGradients())
    return false;
  auto state = symbols.lookup<plan::StateOp>(use.getState());
  return state.getKind() == plan::StateKind::Gradient &&
         !known[use.getState()].covers(getType(buffer));
}

LogicalResult StateOrder::reportOld(Operation *op, StringRef state) {
  InFlightDiagnostic error =
      op->emitOpError("expects values of this step, but got some that depend "
                      "on what @")
      << state << " held before @" << current.getSymName() << " has written it";
  error.attachNote(symbols.lookup(state)->getLoc())
      << "the state is declared here";
  return error;
}

LogicalResult StateOrder::verifyCommand(plan::CommandOpInterface command,
                                        OldGradients &old) {
  for (auto [index, buffer] : llvm::enumerate(command->getOperands()))
    if (command.isRead(index) && !isOldGradient(buffer) &&
        failed(verifyRead(command, buffer)))
      return failure();
  if (startsGradients()) {
    auto isOld = [&](Value buffer) { return isOldGradient(buffer); };
    if (StringRef kept = old.add(command, isOld); !kept.empty())
      return reportOld(command, kept);
  }
  addWrites(command, known);
  return success();
}

LogicalResult StateOrder::verifyOutput(plan::OutputOp output,
                                       const OldGradients &old) {
  if (StringRef state = old.lookup(output.getBuffer()); !state.empty())
    return reportOld(output, state);
  return verifyRead(output, output.getBuffer());
}

/// Whether a checkpoint holds the state.
static bool isSaved(plan::StateOp state) {
  return state.getKind() != plan::StateKind::Gradient &&
         state.getKind() != plan::StateKind::Working;
}

LogicalResult StateOrder::verify(plan::ProgramOp program, Start start) {
  current = program;
  earlier = getEarlier(program.getKind(), start);
  known.clear();
  for (StringRef kind : earlier)
    for (const auto &[state, elements] : written.lookup(kind))
      known[state].add(elements);
  if (start == Start::Checkpoint)
    for (auto use : program.getBody().front().getOps<plan::UseOp>())
      if (isSaved(symbols.lookup<plan::StateOp>(use.getState())))
        known[use.getState()].add(getType(use.getBuffer()),
                                  getType(use.getBuffer()).getNumElements());
  OldGradients old(program, symbols);
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>())
    if (failed(verifyCommand(command, old)))
      return failure();
  for (auto output : program.getBody().front().getOps<plan::OutputOp>())
    if (failed(verifyOutput(output, old)))
      return failure();
  return success();
}

/// By parameter.
static llvm::DenseMap<StringRef, plan::StateOp> findCopies(ModuleOp module) {
  llvm::DenseMap<StringRef, plan::StateOp> copies;
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getKind() == plan::StateKind::Working && state.getParam())
      copies[*state.getParam()] = state;
  return copies;
}

static LogicalResult verifyCopies(plan::ProgramOp program) {
  auto copies = findCopies(program->getParentOfType<ModuleOp>());
  auto commands = program.getBody().front().getOps<plan::CommandOpInterface>();
  Writes written;
  for (auto command : commands)
    addWrites(command, written);
  for (auto command : commands)
    for (auto [index, buffer] : llvm::enumerate(command->getOperands())) {
      plan::UseOp use = getUse(buffer);
      if (!use || !command.isWritten(index) || !copies.count(use.getState()))
        continue;
      plan::StateOp copy = copies[use.getState()];
      if (!written[copy.getSymName()].covers(getType(buffer)))
        return command->emitOpError("expects @")
               << copy.getSymName() << ", the copy of @" << use.getState()
               << ", to be written in @" << program.getSymName()
               << " as well, but got no write";
    }
  return success();
}

static LogicalResult verifySteps(plan::ProgramOp program) {
  Writes counted;
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>()) {
    if (auto optimizer = dyn_cast<plan::OptimizerOp>(*command)) {
      plan::UseOp use = getUse(optimizer.getStep());
      if (use && !counted[use.getState()].covers(getType(optimizer.getStep())))
        return optimizer.emitOpError("expects a step that @")
               << program.getSymName() << " has counted before, but got @"
               << use.getState() << " as it was";
    }
    addWrites(command, counted);
  }
  return success();
}

LogicalResult verifyStateOrder(ModuleOp module) {
  StateOrder order(module);
  for (auto program : module.getOps<plan::ProgramOp>()) {
    if (failed(verifySteps(program)) || failed(verifyCopies(program)))
      return failure();
    if (order.hasInit() && failed(order.verify(program, Start::Init)))
      return failure();
    if (order.hasInit() && program.getKind() != names::kInit &&
        failed(order.verify(program, Start::Checkpoint)))
      return failure();
  }
  return success();
}

} // namespace weft
