//===- StateTable.cpp - Accesses of programs to states --------------------===//

#include "StateTable.h"

using namespace mlir;
using namespace weft;

plan::UseOp weft::getUse(Value buffer) {
  return plan::getRoot(buffer).getDefiningOp<plan::UseOp>();
}

//===----------------------------------------------------------------------===//
// ProgramAccesses
//===----------------------------------------------------------------------===//

LogicalResult ProgramAccesses::forEachCommand(Visitor visit) const {
  for (ArrayRef<StateAccess> rest = accesses; !rest.empty();) {
    Operation *op = rest.front().op;
    auto command =
        rest.take_while([&](const StateAccess &next) { return next.op == op; });
    if (failed(visit(command)))
      return failure();
    rest = rest.drop_front(command.size());
  }
  return success();
}

LogicalResult ProgramAccesses::forEachCommandBackward(Visitor visit) const {
  for (ArrayRef<StateAccess> rest = accesses; !rest.empty();) {
    size_t begin = rest.size() - 1;
    while (begin != 0 && rest[begin - 1].op == rest.back().op)
      --begin;
    if (failed(visit(rest.drop_front(begin))))
      return failure();
    rest = rest.take_front(begin);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// StateTable
//===----------------------------------------------------------------------===//

StateTable::StateTable(ModuleOp module) {
  for (auto state : module.getOps<plan::StateOp>()) {
    numbers[state.getSymNameAttr()] = states.size();
    states.push_back(state);
  }
  for (auto program : module.getOps<plan::ProgramOp>())
    addAccesses(programs.emplace_back(program));
}

void StateTable::addAccesses(ProgramAccesses &program) const {
  auto add = [&](Operation *op, Value buffer, plan::UseOp use, bool isRead,
                 bool isWritten) {
    unsigned state = numbers.find(use.getStateAttr().getAttr())->second;
    program.accesses.push_back({op, cast<MemRefType>(buffer.getType()),
                                cast<MemRefType>(use.getType()), state, isRead,
                                isWritten});
  };
  Block &body = program.op.getBody().front();
  for (auto command : body.getOps<plan::CommandOpInterface>())
    for (auto [buffer, isRead, isWritten] : command.getAccesses())
      if (plan::UseOp use = getUse(buffer))
        add(command, buffer, use, isRead, isWritten);
  for (auto output : body.getOps<plan::OutputOp>())
    if (plan::UseOp use = getUse(output.getBuffer()))
      add(output, output.getBuffer(), use, true, false);
}

bool StateTable::hasProgram(StringRef kind) const {
  return llvm::any_of(programs, [&](const ProgramAccesses &program) {
    return plan::ProgramOp(program.op).getKindName() == kind;
  });
}

int StateTable::findOriginal(plan::StateOp copy) const {
  if (FlatSymbolRefAttr param = copy.getParamAttr()) {
    auto number = numbers.find(param.getAttr());
    // A state with gathered shards is not a copy: a micro-step keeps it for
    // later micro-steps of its step.
    bool isCopy =
        number != numbers.end() &&
        plan::StateOp(states[number->second]).getSlices() == copy.getSlices();
    return isCopy ? static_cast<int>(number->second) : -1;
  }
  ArrayAttr segments = copy.getSegmentsAttr();
  ArrayRef<int64_t> shape = copy.getBufferType().getShape();
  for (auto [number, state] : llvm::enumerate(states))
    if (segments && plan::StateOp(state).getKind() == StateKind::Param &&
        plan::StateOp(state).getSegmentsAttr() == segments &&
        plan::StateOp(state).getSlices() == copy.getSlices() &&
        plan::StateOp(state).getBufferType().getShape() == shape)
      return number;
  return -1;
}

std::vector<SmallVector<unsigned, 1>> StateTable::findCopies() const {
  std::vector<SmallVector<unsigned, 1>> copies;
  for (auto [number, constState] : llvm::enumerate(states)) {
    plan::StateOp state = constState;
    if (state.getKind() != StateKind::Working)
      continue;
    copies.resize(states.size());
    if (int original = findOriginal(state); original >= 0)
      copies[original].push_back(number);
  }
  return copies;
}
