//===- WrongOp.cpp - The first op whose adjoint is wrong ------------------===//
//
// Each op becomes a program of its own: its floating-point operands are
// parameters with the values they had, the others are inputs, and the gradient
// of its first result is random. No other op takes part.
//
//===----------------------------------------------------------------------===//

#include "CentralDifference.h"
#include "Differentiator.h"
#include "weft/Abi/Names.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

namespace {

std::string operandName(unsigned index) {
  return "operand" + std::to_string(index);
}

/// Collects the values that the ops of a program have, and checks ops alone.
class OpChecker {
public:
  OpChecker(const GradientProblem &problem, const GradientCheckOptions &options)
      : module(problem.forward.get()), problem(problem), options(options),
        program(*module.getOps<ProgramOp>().begin()), random(options.seed) {}

  LogicalResult collectValues();
  FailureOr<std::optional<OpGradientError>> check(Operation *op);
  Block &body() { return program.getBody().front(); }

private:
  GradientProblem isolate(Operation *op);
  void addOperand(OpOperand &operand, ProgramOp single, OpBuilder &body,
                  IRMapping &mapping, GradientProblem &result);

  ModuleOp module;
  const GradientProblem &problem;
  const GradientCheckOptions &options;
  ProgramOp program;
  std::mt19937_64 random;
  DenseMap<Value, Tensor> values;
  DenseSet<Value> active;
};

LogicalResult OpChecker::collectValues() {
  active = findActive(program, [&](StringAttr name) {
    auto param =
        dyn_cast_or_null<ParamOp>(SymbolTable::lookupSymbolIn(module, name));
    return param && param.getTrainable();
  });
  Interpreter interpreter(module);
  for (const auto &[name, value] : problem.states)
    if (failed(interpreter.setState(name, value)))
      return failure();
  for (BlockArgument argument : body().getArguments()) {
    StringRef name = program.getInputName(argument.getArgNumber());
    values[argument] = problem.inputs.at(name.str());
  }
  interpreter.setObserver([&](Operation *op, ArrayRef<Tensor> results) {
    for (auto [value, tensor] : llvm::zip_equal(op->getResults(), results))
      values[value] = tensor;
  });
  return success(succeeded(interpreter.run(names::kMicro, problem.inputs)));
}

void OpChecker::addOperand(OpOperand &operand, ProgramOp single,
                           OpBuilder &body, IRMapping &mapping,
                           GradientProblem &result) {
  std::string name = operandName(operand.getOperandNumber());
  Value value = operand.get();
  auto type = cast<RankedTensorType>(value.getType());
  if (!isa<FloatType>(type.getElementType())) {
    mapping.map(value, single.addInput(name, type));
    result.inputs[name] = values.at(value);
    return;
  }
  auto builder = OpBuilder::atBlockBegin(result.forward->getBody());
  auto param = ParamOp::create(
      builder, value.getLoc(), builder.getStringAttr(name), TypeAttr::get(type),
      /*init=*/nullptr, builder.getBoolAttr(active.contains(value)),
      /*decay=*/nullptr, /*tie=*/nullptr,
      /*scope=*/nullptr, /*source=*/nullptr);
  result.states[name] = values.at(value);
  mapping.map(value,
              ReadOp::create(body, value.getLoc(), type, param.getSymName()));
}

GradientProblem OpChecker::isolate(Operation *op) {
  GradientProblem result;
  Location loc = op->getLoc();
  OpBuilder builder(op->getContext());
  result.forward = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(result.forward->getBody());
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto name = builder.getNamedAttr(WeftDialect::kOutputAttr,
                                   builder.getStringAttr(names::kLoss));
  auto single = ProgramOp::create(
      builder, loc, names::kMicro, builder.getFunctionType({}, {type}),
      ProgramKind::Micro, /*arg_attrs=*/nullptr,
      builder.getArrayAttr(builder.getDictionaryAttr(name)));
  single.getBody().emplaceBlock();
  auto body = OpBuilder::atBlockEnd(&single.getBody().front());

  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands())
    if (!mapping.contains(operand.get()))
      addOperand(operand, single, body, mapping, result);
  single.addInput(names::kLossSeed, type);
  single.addInput(names::kAccumulate,
                  RankedTensorType::get({}, builder.getF32Type()));
  Tensor seed(type);
  for (double &element : seed.floatValues())
    element = drawSigned(random);
  result.inputs[names::kLossSeed] = std::move(seed);
  result.inputs[names::kAccumulate] = Tensor::scalar(0);

  ReturnOp::create(body, loc, body.clone(*op, mapping)->getResult(0));
  return result;
}

FailureOr<std::optional<OpGradientError>> OpChecker::check(Operation *op) {
  if (isa<ReadOp>(op) || op->getNumResults() == 0 ||
      !active.contains(op->getResult(0)))
    return std::optional<OpGradientError>();
  // The names of its parameters mean nothing outside of this check.
  ScopedDiagnosticHandler errorsOnly(
      op->getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
      });
  GradientCheck single;
  if (failed(compareGradients(isolate(op), options, single)))
    return failure();
  for (const GradientError &gradient : single.parameters) {
    if (gradient.isEqual)
      continue;
    unsigned operand = 0;
    while (operandName(operand) != gradient.name)
      ++operand;
    return std::optional<OpGradientError>(OpGradientError{
        op->getName().getStringRef().str(), op->getLoc(), getScope(op).str(),
        operand, gradient.error, gradient.hasGradient});
  }
  return std::optional<OpGradientError>();
}

} // namespace

FailureOr<std::optional<OpGradientError>>
weft::findWrongOp(const GradientProblem &problem,
                  const GradientCheckOptions &options) {
  OpChecker checker(problem, options);
  if (failed(checker.collectValues()))
    return failure();
  for (Operation &op : checker.body().without_terminator()) {
    auto wrong = checker.check(&op);
    if (failed(wrong) || *wrong)
      return wrong;
  }
  return std::optional<OpGradientError>();
}
