//===- Interpreter.cpp - Runs programs op by op ---------------------------===//

#include "OpTable.h"
#include "Programs.h"

#include "llvm/ADT/DenseMap.h"

namespace weft {

using mlir::RankedTensorType;

Interpreter::Interpreter(mlir::ModuleOp module, ComputeMode mode)
    : ModuleRunner(module, mode) {
  for (StateOp state : module.getOps<StateOp>())
    states.emplace(state.getSymName().str(), Tensor(state.getTensorType()));
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// The declaration whose tensor `name` stands for: follows ties.
static mlir::Operation *findDeclaration(mlir::ModuleOp module,
                                        llvm::StringRef name) {
  mlir::Operation *declaration =
      mlir::SymbolTable::lookupSymbolIn(module, name);
  llvm::SmallPtrSet<mlir::Operation *, 4> seen;
  while (auto param = llvm::dyn_cast_or_null<ParamOp>(declaration)) {
    std::optional<llvm::StringRef> tie = param.getTie();
    if (!tie || !seen.insert(declaration).second)
      break;
    declaration = mlir::SymbolTable::lookupSymbolIn(module, *tie);
  }
  return declaration;
}

static RankedTensorType declaredType(mlir::Operation *declaration) {
  if (auto param = llvm::dyn_cast_or_null<ParamOp>(declaration))
    return param.getTensorType();
  if (auto state = llvm::dyn_cast_or_null<StateOp>(declaration))
    return state.getTensorType();
  return {};
}

static std::string symbolOf(mlir::Operation *declaration) {
  return mlir::SymbolTable::getSymbolName(declaration).str();
}

llvm::LogicalResult Interpreter::setState(llvm::StringRef name, Tensor value) {
  mlir::Operation *declaration = findDeclaration(module, name);
  RankedTensorType type = declaredType(declaration);
  if (!type)
    return module.emitError()
           << "expects a parameter or state, but there is no '@" << name << "'";
  llvm::FailureOr<Tensor> adopted = adopt(
      std::move(value), type, declaration->getLoc(), ("'@" + name + "'").str());
  if (failed(adopted))
    return llvm::failure();
  states[symbolOf(declaration)] = std::move(*adopted);
  return llvm::success();
}

const Tensor *Interpreter::findState(llvm::StringRef name) const {
  mlir::Operation *declaration = findDeclaration(module, name);
  if (!declaredType(declaration))
    return nullptr;
  auto found = states.find(symbolOf(declaration));
  return found == states.end() ? nullptr : &found->second;
}

/// Element `index` of the initial values of a parameter.
static double initialElement(InitAttr init, llvm::StringRef name, int64_t seed,
                             int64_t index) {
  switch (init.getKind()) {
  case InitKind::Zeros:
    return 0;
  case InitKind::Ones:
    return 1;
  case InitKind::Constant:
    return init.getFirst();
  case InitKind::Normal:
    return drawNormal(seed, name, index, init.getFirst(), init.getSecond());
  case InitKind::Uniform:
    return drawUniform(seed, name, index, init.getFirst(), init.getSecond());
  }
  llvm_unreachable("all kinds of initial values are handled");
}

llvm::LogicalResult Interpreter::initialize(int64_t seed) {
  for (ParamOp param : module.getOps<ParamOp>()) {
    std::optional<InitAttr> init = param.getInit();
    if (!init)
      continue;
    Tensor value(param.getTensorType());
    for (int64_t i = 0; i < value.size(); ++i)
      value.at(i) = initialElement(*init, param.getSymName(), seed, i);
    if (failed(setState(param.getSymName(), std::move(value))))
      return llvm::failure();
  }
  return llvm::success();
}

//===----------------------------------------------------------------------===//
// Ops and blocks
//===----------------------------------------------------------------------===//

llvm::FailureOr<llvm::SmallVector<Tensor>>
Interpreter::evaluate(mlir::Operation *op, OperandRefs operands) {
  OpCall call{op, operands, *this, {}};
  for (mlir::Type type : op->getResultTypes())
    call.results.emplace_back(llvm::cast<RankedTensorType>(type));
  if (failed(weft::evaluate(call)))
    return llvm::failure();
  return std::move(call.results);
}

llvm::FailureOr<llvm::SmallVector<Tensor>>
Interpreter::evaluateOp(mlir::Operation *op, llvm::ArrayRef<Tensor> operands) {
  if (operands.size() != op->getNumOperands())
    return op->emitOpError() << "expects " << op->getNumOperands()
                             << " operands, but got " << operands.size();
  llvm::SmallVector<Tensor> adopted;
  for (auto [value, type] : llvm::zip(operands, op->getOperandTypes())) {
    llvm::FailureOr<Tensor> tensor = adopt(
        value, llvm::cast<RankedTensorType>(type), op->getLoc(), "operand");
    if (failed(tensor))
      return llvm::failure();
    adopted.push_back(std::move(*tensor));
  }
  llvm::SmallVector<const Tensor *> refs;
  for (const Tensor &tensor : adopted)
    refs.push_back(&tensor);
  return evaluate(op, refs);
}

/// The values of a block that are still needed.
class Interpreter::ValueStore {
public:
  void define(mlir::Value value, Tensor tensor) {
    if (!value.use_empty())
      values[value] = {std::make_unique<Tensor>(std::move(tensor)),
                       std::distance(value.use_begin(), value.use_end())};
  }
  const Tensor *get(mlir::Value value) const {
    return values.find(value)->second.tensor.get();
  }
  llvm::SmallVector<const Tensor *> getOperands(mlir::Operation *op) const {
    llvm::SmallVector<const Tensor *> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(get(operand));
    return operands;
  }
  /// Drops the operands of `op` that have no use after it.
  void releaseOperands(mlir::Operation *op) {
    for (mlir::Value operand : op->getOperands()) {
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
  llvm::DenseMap<mlir::Value, Entry> values;
};

static llvm::SmallVector<Tensor>
copyTensors(llvm::ArrayRef<const Tensor *> refs) {
  return llvm::map_to_vector(refs, [](const Tensor *t) { return *t; });
}

llvm::LogicalResult Interpreter::evaluateOps(mlir::Block &block,
                                             ValueStore &values,
                                             bool observed) {
  for (mlir::Operation &op : block.without_terminator()) {
    llvm::FailureOr<llvm::SmallVector<Tensor>> results = llvm::failure();
    if (auto region = llvm::dyn_cast<AutocastOp>(op)) {
      mlir::Block &body = region.getBody().front();
      if (failed(evaluateOps(body, values, observed)))
        return llvm::failure();
      results = copyTensors(values.getOperands(body.getTerminator()));
      values.releaseOperands(body.getTerminator());
    } else {
      results = evaluate(&op, values.getOperands(&op));
    }
    if (failed(results))
      return llvm::failure();
    if (observed && observer)
      observer(&op, *results);
    values.releaseOperands(&op);
    for (auto [value, tensor] : llvm::zip(op.getResults(), *results))
      values.define(value, std::move(tensor));
  }
  return llvm::success();
}

llvm::FailureOr<llvm::SmallVector<Tensor>>
Interpreter::evaluateBlock(mlir::Block &block, OperandRefs arguments,
                           bool observed) {
  ValueStore values;
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    values.define(argument, *tensor);
  if (failed(evaluateOps(block, values, observed)))
    return llvm::failure();
  return copyTensors(values.getOperands(block.getTerminator()));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::vector<ProgramInfo> Interpreter::getPrograms() const {
  std::vector<ProgramInfo> programs;
  for (ProgramOp program : mlir::ModuleOp(module).getOps<ProgramOp>())
    programs.push_back(describeProgram(program));
  return programs;
}

std::vector<std::string> Interpreter::getParameters() const {
  std::vector<std::string> names;
  for (ParamOp param : mlir::ModuleOp(module).getOps<ParamOp>())
    if (!param.getTie())
      names.push_back(param.getSymName().str());
  return names;
}

llvm::FailureOr<TensorMap> Interpreter::run(llvm::StringRef programName,
                                            const TensorMap &inputs) {
  auto program = llvm::dyn_cast_or_null<ProgramOp>(
      mlir::SymbolTable::lookupSymbolIn(module, programName));
  if (!program)
    return module.emitError() << "there is no program '@" << programName << "'";
  llvm::FailureOr<std::vector<Tensor>> arguments =
      bindInputs(describeProgram(program), inputs);
  if (failed(arguments))
    return llvm::failure();
  llvm::SmallVector<const Tensor *> refs;
  for (const Tensor &argument : *arguments)
    refs.push_back(&argument);
  llvm::FailureOr<llvm::SmallVector<Tensor>> returned =
      evaluateBlock(program.getBody().front(), refs, /*observed=*/true);
  if (failed(returned))
    return llvm::failure();
  return finish(program, std::move(*returned));
}

llvm::FailureOr<TensorMap>
Interpreter::finish(ProgramOp program, llvm::SmallVector<Tensor> returned) {
  ReturnOp terminator = program.getTerminator();
  unsigned numOutputs = terminator.getOutputs().size();
  TensorMap outputs, writes;
  for (unsigned i = 0; i < numOutputs; ++i)
    outputs.emplace(program.getOutputName(i).str(), std::move(returned[i]));
  for (auto [target, value] : llvm::zip(
           terminator.getTargets(), llvm::drop_begin(returned, numOutputs))) {
    llvm::StringRef name =
        llvm::cast<mlir::FlatSymbolRefAttr>(target).getValue();
    mlir::Operation *declaration = findDeclaration(module, name);
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

} // namespace weft
