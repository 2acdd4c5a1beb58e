//===- Inputs.cpp - Plausible inputs for programs -------------------------===//

#include "weft/Interp/Inputs.h"

#include "OpTable.h"
#include "weft/Formats/Names.h"
#include "weft/Weft/Optimizers.h"

#include "llvm/ADT/SetVector.h"

namespace weft {

/// The inputs that passes add to programs.
static const std::pair<const char *, double> knownInputs[] = {
    {names::kLossSeed, 1},      {names::kAccumulate, 0},
    {names::kLr, 1e-3},         {names::kBeta1, 0.9},
    {names::kBeta2, 0.999},     {names::kEps, 1e-8},
    {names::kMomentum, 0.9},    {names::kMaxNorm, 1},
    {names::kWeightDecay, 0.01}};

/// The value of an input that a pass adds; the decay of one optimizer among
/// others, "adamw_weight_decay", is that of all.
static std::optional<double> findKnownInput(llvm::StringRef name) {
  auto [optimizer, number] = name.split('_');
  if (findOptimizer(optimizer))
    name = number;
  for (const auto &[known, value] : knownInputs)
    if (name == known)
      return value;
  return std::nullopt;
}

llvm::LogicalResult refreshStates(Interpreter &interpreter) {
  ProgramOp refresh =
      findProgram(interpreter.getModule(), ProgramKind::Refresh);
  if (!refresh)
    return llvm::success();
  return llvm::success(succeeded(interpreter.run(refresh.getSymName(), {})));
}

/// Number of rows that an integer input selects from: of the table or logits
/// that it reaches through ops that move elements, or 2.
static int64_t countChoices(mlir::BlockArgument argument) {
  llvm::SetVector<mlir::Value> reached;
  reached.insert(argument);
  for (size_t i = 0; i < reached.size(); ++i)
    for (mlir::Operation *user : reached[i].getUsers()) {
      if (auto embedding = llvm::dyn_cast<EmbeddingOp>(user))
        return embedding.getTable().getType().getDimSize(0);
      if (auto loss = llvm::dyn_cast<CrossEntropyOp>(user))
        return loss.getLogits().getType().getShape().back();
      if (movesElements(user) || llvm::isa<CastOp>(user))
        reached.insert(user->getResult(0));
    }
  return 2;
}

static Tensor makeInput(ProgramOp program, mlir::BlockArgument argument,
                        int64_t seed) {
  llvm::StringRef name = program.getInputName(argument.getArgNumber());
  Tensor value(llvm::cast<mlir::RankedTensorType>(argument.getType()));
  if (!value.isFloat() && (name == names::kSeed || name == names::kRng)) {
    if (value.size() > 0)
      value.intAt(0) = seed;
    return value;
  }
  std::optional<double> known = findKnownInput(name);
  int64_t choices = value.isFloat() ? 0 : countChoices(argument);
  for (int64_t i = 0; i < value.size(); ++i)
    if (known && value.isFloat())
      value.at(i) = *known;
    else if (value.isFloat())
      value.at(i) = drawNormal(seed, name, i, 0, 1);
    else
      value.intAt(i) = int64_t(drawUniform(seed, name, i, 0, 1) * choices);
  return value;
}

TensorMap makeInputs(ProgramOp program, int64_t seed) {
  TensorMap inputs;
  for (mlir::BlockArgument argument : program.getBody().getArguments())
    inputs.emplace(program.getInputName(argument.getArgNumber()).str(),
                   makeInput(program, argument, seed));
  return inputs;
}

void fillTensor(Tensor &tensor, double value) {
  for (double &element : tensor.floatValues())
    element = value;
  for (int64_t &element : tensor.intValues())
    element = static_cast<int64_t>(value);
}

llvm::SmallVector<ProgramOp> programsInOrder(mlir::ModuleOp module) {
  llvm::SmallVector<ProgramOp> programs;
  for (ProgramKind kind :
       {ProgramKind::Init, ProgramKind::Refresh, ProgramKind::Model,
        ProgramKind::Micro, ProgramKind::Apply, ProgramKind::Eval,
        ProgramKind::Logits})
    for (ProgramOp program : module.getOps<ProgramOp>())
      if (program.getKind() == kind)
        programs.push_back(program);
  return programs;
}

ProgramOp findProgram(mlir::ModuleOp module, ProgramKind kind) {
  for (ProgramOp program : module.getOps<ProgramOp>())
    if (program.getKind() == kind)
      return program;
  return {};
}

} // namespace weft
