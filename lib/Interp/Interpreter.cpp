//===- Interpreter.cpp - Runs programs op by op ---------------------------===//

#include "OpFunctions.h"
#include "PlanInterpreter.h"
#include "ProgramRun.h"
#include "weft/Base/CountText.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace weft;

Interpreter::Interpreter(ModuleOp module, ComputeMode mode)
    : ModuleRunner(module, mode) {
  for (StateOp state : module.getOps<StateOp>())
    states.emplace(state.getSymName().str(), Tensor(state.getTensorType()));
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// The declaration whose tensor `name` stands for: follows ties.
static Operation *findDeclaration(ModuleOp module, StringRef name) {
  Operation *declaration = SymbolTable::lookupSymbolIn(module, name);
  SmallPtrSet<Operation *, 4> seen;
  while (auto param = dyn_cast_or_null<ParamOp>(declaration)) {
    std::optional<StringRef> tie = param.getTie();
    if (!tie || !seen.insert(declaration).second)
      break;
    declaration = SymbolTable::lookupSymbolIn(module, *tie);
  }
  return declaration;
}

static RankedTensorType declaredType(Operation *declaration) {
  if (auto param = dyn_cast_or_null<ParamOp>(declaration))
    return param.getTensorType();
  if (auto state = dyn_cast_or_null<StateOp>(declaration))
    return state.getTensorType();
  return {};
}

static std::string symbolOf(Operation *declaration) {
  return SymbolTable::getSymbolName(declaration).str();
}

LogicalResult Interpreter::setState(StringRef name, Tensor value) {
  Operation *declaration = findDeclaration(module, name);
  RankedTensorType type = declaredType(declaration);
  if (!type)
    return module.emitError()
           << "expects a parameter or state, but there is no '@" << name << "'";
  FailureOr<Tensor> adopted = adopt(
      std::move(value), type, declaration->getLoc(), ("'@" + name + "'").str());
  if (failed(adopted))
    return failure();
  states[symbolOf(declaration)] = std::move(*adopted);
  return success();
}

const Tensor *Interpreter::findState(StringRef name) const {
  Operation *declaration = findDeclaration(module, name);
  if (!declaredType(declaration))
    return nullptr;
  auto found = states.find(symbolOf(declaration));
  return found == states.end() ? nullptr : &found->second;
}

LogicalResult Interpreter::initialize(int64_t seed) {
  for (ParamOp param : module.getOps<ParamOp>()) {
    std::optional<InitAttr> init = param.getInit();
    if (!init)
      continue;
    Tensor value(param.getTensorType());
    for (int64_t i = 0; i < value.size(); ++i)
      value.at(i) = drawInitial(*init, param.getSymName(), seed, i);
    if (failed(setState(param.getSymName(), std::move(value))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops and blocks
//===----------------------------------------------------------------------===//

/// The call of an op with results of zeros.
static OpCall makeCall(Interpreter &interpreter, Operation *op,
                       SmallVector<const Tensor *> operands) {
  OpCall call{op, std::move(operands), interpreter, {}};
  for (Type type : op->getResultTypes())
    call.results.emplace_back(cast<RankedTensorType>(type));
  return call;
}

FailureOr<SmallVector<Tensor>>
Interpreter::evaluateOp(Operation *op, ArrayRef<Tensor> operands) {
  if (operands.size() != op->getNumOperands())
    return op->emitOpError()
           << "expects " << countText(op->getNumOperands(), "operand")
           << ", but got " << operands.size();
  SmallVector<Tensor> adopted;
  for (auto [value, type] : llvm::zip(operands, op->getOperandTypes())) {
    FailureOr<Tensor> tensor =
        adopt(value, cast<RankedTensorType>(type), op->getLoc(), "operand");
    if (failed(tensor))
      return failure();
    adopted.push_back(std::move(*tensor));
  }
  SmallVector<const Tensor *> refs;
  for (const Tensor &tensor : adopted)
    refs.push_back(&tensor);
  OpCall call = makeCall(*this, op, std::move(refs));
  if (failed(weft::evaluate(call)))
    return failure();
  return std::move(call.results);
}

namespace {
/// The values of a block that are still needed.
class ValueStore {
public:
  void define(Value value, Tensor tensor) {
    if (!value.use_empty())
      values[value] = {std::make_unique<Tensor>(std::move(tensor)),
                       std::distance(value.use_begin(), value.use_end())};
  }
  const Tensor *get(Value value) const {
    return values.find(value)->second.tensor.get();
  }
  SmallVector<const Tensor *> getOperands(Operation *op) const {
    SmallVector<const Tensor *> operands;
    for (Value operand : op->getOperands())
      operands.push_back(get(operand));
    return operands;
  }
  /// Drops the operands of `op` that have no use after it.
  void releaseOperands(Operation *op) {
    for (Value operand : op->getOperands()) {
      auto found = values.find(operand);
      if (--found->second.usesLeft == 0)
        values.erase(found);
    }
  }

private:
  struct Entry {
    std::unique_ptr<Tensor> tensor;
    int64_t usesLeft;
  };
  DenseMap<Value, Entry> values;
};
} // namespace

static SmallVector<Tensor> copyTensors(ArrayRef<const Tensor *> refs) {
  return llvm::map_to_vector(refs, [](const Tensor *t) { return *t; });
}

/// The ops of a block up to its terminator, inlined regions as if their ops
/// stood in front of them.
static void collectOps(Block &block, std::vector<Operation *> &ops) {
  for (Operation &op : block.without_terminator()) {
    if (op.hasTrait<InlinedRegion>())
      collectOps(op.getRegion(0).front(), ops);
    ops.push_back(&op);
  }
}

/// A straight-line block under evaluation.
class Interpreter::BlockRun {
public:
  BlockRun(Interpreter &owner, Block &block, ArrayRef<const Tensor *> arguments)
      : owner(owner), block(block) {
    for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
      values.define(argument, *tensor);
  }

  /// The call of an op, or nothing: an inlined region has what its ops made.
  std::optional<OpCall> prepare(Operation *op);
  void complete(OpCall &call) { define(call.op, call.results); }
  SmallVector<Tensor> getReturned() const {
    return copyTensors(values.getOperands(block.getTerminator()));
  }

  void setObserver(const Observer &function) { observer = &function; }

private:
  void define(Operation *op, ArrayRef<Tensor> results);

  Interpreter &owner;
  Block &block;
  ValueStore values;
  const Observer *observer = nullptr;
};

std::optional<OpCall> Interpreter::BlockRun::prepare(Operation *op) {
  if (!op->hasTrait<InlinedRegion>())
    return makeCall(owner, op, values.getOperands(op));
  Operation *terminator = op->getRegion(0).front().getTerminator();
  SmallVector<Tensor> results = copyTensors(values.getOperands(terminator));
  values.releaseOperands(terminator);
  define(op, results);
  return std::nullopt;
}

void Interpreter::BlockRun::define(Operation *op, ArrayRef<Tensor> results) {
  if (observer && *observer)
    (*observer)(op, results);
  values.releaseOperands(op);
  for (auto [value, tensor] : llvm::zip(op->getResults(), results))
    values.define(value, tensor);
}

FailureOr<SmallVector<Tensor>>
Interpreter::evaluateBlock(Block &block, ArrayRef<const Tensor *> arguments) {
  BlockRun run(*this, block, arguments);
  std::vector<Operation *> ops;
  collectOps(block, ops);
  for (Operation *op : ops) {
    std::optional<OpCall> call = run.prepare(op);
    if (call && failed(weft::evaluate(*call)))
      return failure();
    if (call)
      run.complete(*call);
  }
  return run.getReturned();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::vector<ProgramInfo> Interpreter::getPrograms() const {
  std::vector<ProgramInfo> programs;
  for (ProgramOp program : ModuleOp(module).getOps<ProgramOp>())
    programs.push_back(describeProgram(program));
  return programs;
}

std::vector<std::string> Interpreter::getParameters() const {
  std::vector<std::string> names;
  for (ParamOp param : ModuleOp(module).getOps<ParamOp>())
    if (!param.getTie())
      names.push_back(param.getSymName().str());
  return names;
}

/// With counts of micro-steps that had some: ranks take the mean of both.
std::vector<std::string> Interpreter::getGradients() const {
  std::vector<std::string> names;
  for (StateOp state : ModuleOp(module).getOps<StateOp>())
    if (isMadeByStep(state.getKind()))
      names.push_back(state.getSymName().str());
  return names;
}

class Interpreter::Run final : public ProgramRun {
public:
  Run(Interpreter &owner, ProgramOp program, ArrayRef<const Tensor *> arguments)
      : owner(owner), program(program),
        block(owner, program.getBody().front(), arguments) {
    block.setObserver(owner.observer);
  }

  std::vector<Operation *> listOps() override {
    std::vector<Operation *> ops;
    collectOps(program.getBody().front(), ops);
    return ops;
  }
  FailureOr<std::optional<OpCall>> prepare(Operation *op) override {
    return block.prepare(op);
  }
  void complete(OpCall &call) override { block.complete(call); }
  FailureOr<TensorMap> finish() override {
    return owner.finish(program, block.getReturned());
  }

private:
  Interpreter &owner;
  ProgramOp program;
  BlockRun block;
};

FailureOr<std::unique_ptr<ProgramRun>>
Interpreter::start(StringRef programName, const TensorMap &inputs) {
  auto program = dyn_cast_or_null<ProgramOp>(
      SymbolTable::lookupSymbolIn(module, programName));
  if (!program)
    return module.emitError() << "there is no program '@" << programName << "'";
  FailureOr<std::vector<Tensor>> arguments =
      bindInputs(describeProgram(program), inputs);
  if (failed(arguments))
    return failure();
  SmallVector<const Tensor *> refs;
  for (const Tensor &argument : *arguments)
    refs.push_back(&argument);
  std::unique_ptr<ProgramRun> run = std::make_unique<Run>(*this, program, refs);
  return run;
}

FailureOr<TensorMap> Interpreter::finish(ProgramOp program,
                                         SmallVector<Tensor> returned) {
  ReturnOp terminator = program.getTerminator();
  unsigned numOutputs = terminator.getOutputs().size();
  TensorMap outputs, writes;
  for (unsigned i = 0; i < numOutputs; ++i)
    outputs.emplace(program.getOutputName(i).str(), std::move(returned[i]));
  for (auto [target, value] : llvm::zip(
           terminator.getTargets(), llvm::drop_begin(returned, numOutputs))) {
    StringRef name = cast<FlatSymbolRefAttr>(target).getValue();
    Operation *declaration = findDeclaration(module, name);
    RankedTensorType type = declaredType(declaration);
    if (!type || !value.hasType(type))
      return terminator.emitOpError()
             << "expects a value of the type that '@" << name
             << "' shares, but got " << value.typeText();
    writes[symbolOf(declaration)] = std::move(value);
  }
  for (auto &[name, value] : writes)
    states[name] = std::move(value);
  return outputs;
}
