//===- Inputs.cpp - Plausible inputs for programs -------------------------===//

#include "weft/Interp/Inputs.h"

#include "OpTable.h"
#include "weft/Formats/Names.h"
#include "weft/Weft/Optimizers.h"

namespace weft {

/// The inputs that passes add to programs; the weight decay is the default
/// optimizer's.
static const std::pair<const char *, double> knownInputs[] = {
    {names::kLossSeed, 1},   {names::kAccumulate, 0}, {names::kLr, 1e-3},
    {names::kBeta1, 0.9},    {names::kBeta2, 0.999},  {names::kEps, 1e-8},
    {names::kMomentum, 0.9}, {names::kMaxNorm, 1}};

/// The value of an input that a pass adds; the decay of one optimizer among
/// others, "adamw_weight_decay", is that of all.
static std::optional<double> findKnownInput(llvm::StringRef name) {
  if (isDecayInput(name))
    return getOptimizers().front()->defaultDecay;
  for (const auto &[known, value] : knownInputs)
    if (name == known)
      return value;
  return std::nullopt;
}

static Tensor makeInput(const ProgramInfo::Input &input, int64_t seed) {
  llvm::StringRef name = input.name;
  Tensor value(input.type);
  if (!value.isFloat() && (name == names::kSeed || name == names::kRng)) {
    if (value.size() > 0)
      value.intAt(0) = seed;
    return value;
  }
  if (!value.isFloat() && name == names::kRank)
    return value; // the only one
  std::optional<double> known = findKnownInput(name);
  for (int64_t i = 0; i < value.size(); ++i)
    if (known && value.isFloat())
      value.at(i) = *known;
    else if (value.isFloat())
      value.at(i) = drawNormal(seed, name, i, 0, 1);
    else
      value.intAt(i) =
          int64_t(drawUniform(seed, name, i, 0, 1) * input.choices);
  return value;
}

TensorMap makeInputs(const ProgramInfo &program, int64_t seed) {
  TensorMap inputs;
  for (const ProgramInfo::Input &input : program.inputs)
    inputs.emplace(input.name, makeInput(input, seed));
  return inputs;
}

void fillTensor(Tensor &tensor, double value) {
  for (double &element : tensor.floatValues())
    element = value;
  for (int64_t &element : tensor.intValues())
    element = static_cast<int64_t>(value);
}

std::vector<ProgramInfo> programsInOrder(const ModuleRunner &runner) {
  std::vector<ProgramInfo> programs, sorted;
  programs = runner.getPrograms();
  for (ProgramKind kind :
       {ProgramKind::Init, ProgramKind::Refresh, ProgramKind::Model,
        ProgramKind::Micro, ProgramKind::Apply, ProgramKind::Eval,
        ProgramKind::Logits})
    for (const ProgramInfo &program : programs)
      if (program.kind == kind)
        sorted.push_back(program);
  return sorted;
}

std::optional<ProgramInfo> findProgram(const ModuleRunner &runner,
                                       ProgramKind kind) {
  for (ProgramInfo &program : runner.getPrograms())
    if (program.kind == kind)
      return std::move(program);
  return std::nullopt;
}

llvm::LogicalResult refreshStates(ModuleRunner &runner) {
  std::optional<ProgramInfo> refresh =
      findProgram(runner, ProgramKind::Refresh);
  if (!refresh)
    return llvm::success();
  return llvm::success(succeeded(runner.run(refresh->name, {})));
}

} // namespace weft
