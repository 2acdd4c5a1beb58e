//===- FiniteDifference.cpp - Gradients against finite differences --------===//

#include "CentralDifference.h"

#include "weft/Abi/Names.h"
#include "weft/Autodiff/FiniteDifference.h"
#include "weft/Autodiff/Passes.h"
#include "weft/Interp/Inputs.h"
#include "weft/Weft/Programs.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/Format.h"

using namespace mlir;
using namespace weft;

namespace {

/// Parameters that start as a constant move by up to this much.
constexpr double kMove = 0.1;

bool startsConstant(ParamOp param) {
  InitKind kind = param.getInit()->getKind();
  return kind != InitKind::Normal && kind != InitKind::Uniform;
}

/// The micro program of a copy of `module`, with the program that its
/// denominators come from, without the others.
FailureOr<OwningOpRef<ModuleOp>>
deriveMicro(ModuleOp module, const GradientCheckOptions &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (options.convertsToF64)
    convertToF64(*copy);
  PassManager passes(module.getContext());
  passes.addPass(createDeriveProgramsPass());
  if (failed(passes.run(*copy)))
    return failure();
  for (ProgramOp program :
       llvm::make_early_inc_range(copy->getOps<ProgramOp>()))
    if (program.getKind() != ProgramKind::Micro &&
        program.getKind() != ProgramKind::Denominators)
      program->erase();
  return copy;
}

/// Computes the denominators of the losses, which no parameter changes, and
/// leaves the micro program alone.
LogicalResult countTargets(GradientProblem &problem) {
  ModuleOp module = *problem.forward;
  FailureOr<ProgramOp> program =
      findOnlyProgram(module, ProgramKind::Denominators);
  if (failed(program) || !*program)
    return program;
  Interpreter interpreter(module);
  for (const auto &[name, value] : problem.states)
    if (failed(interpreter.setState(name, value)))
      return failure();
  std::optional<ProgramInfo> info =
      findProgram(interpreter, ProgramKind::Denominators);
  TensorMap inputs = makeInputs(*info, /*seed=*/0);
  for (auto &[name, value] : inputs)
    if (auto given = problem.inputs.find(name); given != problem.inputs.end())
      value = given->second;
  if (failed(interpreter.run(info->name, inputs)))
    return failure();
  for (const std::string &name : info->written)
    problem.states[name] = *interpreter.findState(name);
  program->erase();
  return success();
}

/// Draws the inputs of the program from the seed. The scale is for the model's
/// own inputs; the others are factors of the loss and of sums.
TensorMap drawInputs(const ProgramInfo &program,
                     const GradientCheckOptions &options) {
  TensorMap inputs = makeInputs(program, options.seed);
  for (auto &[name, value] : inputs)
    if (!llvm::is_contained({names::kLossSeed, names::kAccumulate}, name))
      for (double &element : value.floatValues())
        element *= options.inputScale;
  return inputs;
}

/// Draws inputs and parameters from the seed, but for what `options` gives.
LogicalResult drawValues(GradientProblem &problem,
                         const GradientCheckOptions &options) {
  ModuleOp module = *problem.forward;
  Interpreter interpreter(module);
  problem.inputs =
      drawInputs(*findProgram(interpreter, ProgramKind::Micro), options);
  for (const auto &[name, value] : options.inputs)
    problem.inputs[name] = value;
  if (failed(interpreter.initialize(options.seed)))
    return failure();
  std::mt19937_64 random(options.seed);
  for (ParamOp param : module.getOps<ParamOp>()) {
    if (param.getTie())
      continue;
    Tensor value = *interpreter.findState(param.getSymName());
    if (startsConstant(param))
      for (double &element : value.floatValues())
        element += kMove * drawSigned(random);
    problem.states[param.getSymName().str()] = std::move(value);
  }
  for (const auto &[name, value] : options.states)
    problem.states[name] = value;
  return countTargets(problem);
}

} // namespace

bool GradientCheck::isEqual() const {
  return !parameters.empty() &&
         llvm::all_of(parameters, [](const GradientError &parameter) {
           return parameter.isEqual;
         });
}

FailureOr<GradientCheck>
weft::checkGradients(ModuleOp module, const GradientCheckOptions &options) {
  GradientProblem problem;
  FailureOr<OwningOpRef<ModuleOp>> micro = deriveMicro(module, options);
  if (failed(micro))
    return failure();
  problem.forward = std::move(*micro);
  GradientCheck check;
  if (failed(drawValues(problem, options)) ||
      failed(compareGradients(problem, options, check)))
    return failure();
  if (check.isEqual())
    return check;
  FailureOr<std::optional<OpGradientError>> wrong =
      findWrongOp(problem, options);
  if (failed(wrong))
    return failure();
  check.firstWrongOp = *wrong;
  return check;
}

static void printGradient(const GradientError &parameter,
                          llvm::raw_ostream &stream) {
  stream << (parameter.isEqual ? "ok    " : "wrong ") << parameter.name;
  if (parameter.hasGradient)
    stream << llvm::format(": relative error %.1e, norm %.3e, ",
                           parameter.error, parameter.norm);
  else
    stream << llvm::format(": no gradient, differences have norm %.3e, ",
                           parameter.difference);
  stream << parameter.compared << " compared\n";
}

std::string weft::gradientTable(const GradientCheck &check, bool onlyWrong) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const GradientError &parameter : check.parameters)
    if (!onlyWrong || !parameter.isEqual)
      printGradient(parameter, stream);
  if (check.firstWrongOp) {
    const OpGradientError &wrong = *check.firstWrongOp;
    stream << "first wrong adjoint: " << wrong.op << ", operand "
           << wrong.operand;
    if (wrong.hasGradient)
      stream << llvm::format(", relative error %.1e", wrong.error);
    else
      stream << ", no gradient";
    if (!wrong.scope.empty())
      stream << ", scope " << wrong.scope;
    stream << ", at " << wrong.location << "\n";
  }
  return text;
}

void weft::convertToF64(ModuleOp module) {
  Type f64 = Float64Type::get(module.getContext());
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Type type) -> std::optional<Type> {
    return type.isF32() ? std::optional<Type>(f64) : std::nullopt;
  });
  replacer.addReplacement(
      [&](DenseFPElementsAttr elements)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!elements.getElementType().isF32())
          return std::nullopt;
        auto widen = [](const APFloat &number) {
          return APFloat(static_cast<double>(number.convertToFloat()))
              .bitcastToAPInt();
        };
        return std::make_pair(Attribute(elements.mapValues(f64, widen)),
                              WalkResult::skip());
      });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}
