//===- StateOrder.cpp - States are written before they are read -----------===//
//
// Programs run in sequence: init, then repeatedly micro-steps and an update,
// with evaluations and samples between them. If the denominators of losses
// depend on data, they are computed before the micro-steps of a step, and
// before an evaluation. A run that resumes has the states of the checkpoint,
// and the states that refresh computes from them, instead of the states that
// init writes. Gradients start anew in each step: micro reads old gradients but
// ignores them in the first micro-step.
//
//===----------------------------------------------------------------------===//

#include "VerifyPlan.h"

#include "StateTable.h"
#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"

using namespace mlir;
using namespace weft;

namespace {
/// The start of a run.
enum class Start { Init, Checkpoint };
/// The number of micro-steps per step.
enum class Steps { One, Several };

class StateOrder {
public:
  explicit StateOrder(const StateTable &states);

  LogicalResult verify(const ProgramAccesses &program, Start start) const;

private:
  bool runsBefore(plan::ProgramOp micro, plan::ProgramOp next,
                  Steps steps) const;
  /// The elements that have been written before a program.
  StateElements getKnown(plan::ProgramOp next, Start start, Steps steps) const;
  LogicalResult verify(const ProgramAccesses &program, Start start,
                       Steps steps) const;
  InFlightDiagnostic reportUnwritten(const StateAccess &access,
                                     plan::ProgramOp program, Start start,
                                     bool isPart) const;

  const StateTable &states;
  /// In the order of the programs.
  std::vector<StateElements> written;
  /// Whether there are separate programs for micro-steps before the last one,
  /// and for micro-steps after the first one.
  bool hasKeeping = false, hasLater = false;
};
} // namespace

static StringRef getKind(const ProgramAccesses &program) {
  return plan::ProgramOp(program.op).getKindName();
}

static bool isLater(plan::ProgramOp program) {
  return names::isLaterMicro(program.getSymName());
}

static bool keepsGradients(plan::ProgramOp program) {
  return names::keepsGradients(program.getSymName());
}

static void addWrites(ArrayRef<StateAccess> accesses, StateElements &elements) {
  for (const StateAccess &access : accesses)
    if (access.isWritten)
      elements[access.state].add(access.type, access.rootType.getNumElements());
}

StateOrder::StateOrder(const StateTable &states) : states(states) {
  for (const ProgramAccesses &program : states.getPrograms()) {
    addWrites(program.accesses, written.emplace_back(states.size()));
    hasKeeping |= keepsGradients(plan::ProgramOp(program.op));
    hasLater |= isLater(plan::ProgramOp(program.op));
  }
}

/// The kinds of programs that run before this one.
static SmallVector<StringRef> getEarlier(plan::ProgramOp program, Start start) {
  StringRef kind = program.getKindName();
  if (kind == names::kInit || (kind == names::kRefresh && start != Start::Init))
    return {};
  SmallVector<StringRef> kinds = {start == Start::Init ? names::kInit
                                                       : names::kRefresh};
  if (kind == names::kApply || isLater(program))
    kinds.push_back(names::kMicro);
  if (kind == names::kDecode)
    kinds.push_back(names::kPrefill);
  if (kind == names::kMicro || kind == names::kApply || kind == names::kEval)
    kinds.push_back(names::kDenominators);
  return kinds;
}

/// Whether programs of a kind compute a state anew in each step. They read its
/// old contents but do not use them.
static bool isMadeBy(StringRef program, StateKind state) {
  if (state == StateKind::Denominator)
    return program == names::kDenominators;
  return program == names::kMicro && isMadeByStep(state);
}

/// Whether a checkpoint holds the state.
static bool isSaved(plan::StateOp state) {
  return !isScratch(state.getKind()) && state.getKind() != StateKind::Working;
}

/// Whether a micro-step is certain to run before `next`, a micro-step of the
/// same step or the update. The first micro-step does, and before the update
/// also the last one.
bool StateOrder::runsBefore(plan::ProgramOp micro, plan::ProgramOp next,
                            Steps steps) const {
  bool areSeveral = steps == Steps::Several || isLater(next);
  bool isFirst =
      !isLater(micro) && keepsGradients(micro) == (areSeveral && hasKeeping);
  bool isLast = !keepsGradients(micro) && isLater(micro) == hasLater;
  return isFirst || (areSeveral && isLast && !isLater(next));
}

StateElements StateOrder::getKnown(plan::ProgramOp next, Start start,
                                   Steps steps) const {
  StateElements known(states.size());
  SmallVector<StringRef> earlier = getEarlier(next, start);
  for (auto [program, elements] : llvm::zip(states.getPrograms(), written))
    if (llvm::is_contained(earlier, getKind(program)) &&
        (getKind(program) != names::kMicro ||
         runsBefore(plan::ProgramOp(program.op), next, steps)) &&
        !names::keepsDenominators(plan::ProgramOp(program.op).getSymName()))
      for (auto [state, more] : llvm::zip(known, elements))
        state.add(more);
  for (unsigned i = 0; start == Start::Checkpoint && i != known.size(); ++i)
    if (isSaved(states.getState(i)))
      known[i].addAll();
  return known;
}

static InFlightDiagnostic noteState(InFlightDiagnostic error,
                                    plan::StateOp state) {
  error.attachNote(state.getLoc()) << "the state is declared here";
  return error;
}

InFlightDiagnostic StateOrder::reportUnwritten(const StateAccess &access,
                                               plan::ProgramOp program,
                                               Start start, bool isPart) const {
  plan::StateOp state = states.getState(access.state);
  auto error = access.op->emitOpError("expects every element of @")
               << state.getSymName() << " that it reads to be written before, "
               << "in ";
  for (StringRef earlier : getEarlier(program, start))
    if (earlier != names::kDenominators ||
        state.getKind() == StateKind::Denominator)
      error << earlier << " or ";
  error << (isLater(program) ? program.getSymName() : program.getKindName())
        << ", but got " << (isPart ? "a part of them" : "no write");
  if (start == Start::Checkpoint)
    error << ", in a run that resumes from a checkpoint";
  return noteState(std::move(error), state);
}

LogicalResult StateOrder::verify(const ProgramAccesses &program,
                                 Start start) const {
  if (failed(verify(program, start, Steps::One)))
    return failure();
  bool hasOther = getKind(program) == names::kApply && (hasKeeping || hasLater);
  return hasOther ? verify(program, start, Steps::Several) : success();
}

LogicalResult StateOrder::verify(const ProgramAccesses &program, Start start,
                                 Steps steps) const {
  plan::ProgramOp op(program.op);
  StringRef kind = op.getKindName();
  StateElements known = getKnown(op, start, steps);
  auto isOld = [&](const StateAccess &access) {
    return isMadeBy(kind, states.getState(access.state).getKind());
  };
  return program.forEachCommand([&](ArrayRef<StateAccess> command) {
    for (const StateAccess &access : command) {
      ElementSet &elements = known[access.state];
      if (access.isRead && !isOld(access) && !elements.covers(access.type))
        return LogicalResult(
            reportUnwritten(access, op, start, !elements.isEmpty()));
    }
    addWrites(command, known);
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Working copies
//===----------------------------------------------------------------------===//

using Copies = std::vector<SmallVector<unsigned, 1>>;

static LogicalResult reportStale(const StateAccess &access, plan::StateOp state,
                                 plan::StateOp copy, bool isPart) {
  auto program = access.op->getParentOfType<plan::ProgramOp>();
  return access.op->emitOpError("expects those elements of @")
         << copy.getSymName() << ", the copy of @" << state.getSymName()
         << ", to be written here or after it in @" << program.getSymName()
         << ", but got " << (isPart ? "a part of them" : "no write");
}

/// Elements of copies that are written by commands that do not read the
/// parameter. Their position does not matter, because they do not depend on an
/// old value of it.
static StateElements findUnordered(const ProgramAccesses &program,
                                   size_t numStates, const Copies &copies) {
  StateElements unordered(numStates);
  (void)program.forEachCommand([&](ArrayRef<StateAccess> command) {
    SmallVector<unsigned> ordered;
    for (const StateAccess &access : command)
      if (access.isRead)
        llvm::append_range(ordered, copies[access.state]);
    for (const StateAccess &access : command)
      if (!llvm::is_contained(ordered, access.state))
        addWrites(access, unordered);
    return success();
  });
  return unordered;
}

/// Visits commands from the last to the first. `fresh` contains the elements
/// that the current and later commands have written.
static LogicalResult verifyCopies(const ProgramAccesses &program,
                                  const StateTable &states,
                                  const Copies &copies) {
  if (copies.empty())
    return success();
  StateElements fresh = findUnordered(program, states.size(), copies);
  return program.forEachCommandBackward([&](ArrayRef<StateAccess> command) {
    addWrites(command, fresh);
    for (const StateAccess &access : command)
      for (unsigned copy : copies[access.state])
        if (access.isWritten && !fresh[copy].covers(access.type))
          return reportStale(access, states.getState(access.state),
                             states.getState(copy), !fresh[copy].isEmpty());
    return success();
  });
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

static LogicalResult verifyOrder(const StateTable &states) {
  StateOrder order(states);
  bool hasInit = states.hasProgram(names::kInit);
  bool trains = hasInit || states.hasProgram(names::kMicro) ||
                states.hasProgram(names::kApply);
  for (const ProgramAccesses &program : states.getPrograms()) {
    if (hasInit && failed(order.verify(program, Start::Init)))
      return failure();
    if (trains && getKind(program) != names::kInit &&
        failed(order.verify(program, Start::Checkpoint)))
      return failure();
  }
  return success();
}

LogicalResult weft::verifyStateOrder(ModuleOp module) {
  StateTable states(module);
  Copies copies = states.findCopies();
  for (const ProgramAccesses &program : states.getPrograms())
    if (failed(verifyCopies(program, states, copies)))
      return failure();
  return verifyOrder(states);
}
