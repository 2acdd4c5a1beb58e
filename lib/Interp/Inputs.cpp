//===- Inputs.cpp - Plausible inputs for programs -------------------------===//

#include "weft/Interp/Inputs.h"

#include "OpFunctions.h"
#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"
#include "weft/Weft/Optimizers.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;

/// The inputs that passes add to programs; the weight decay is the default
/// optimizer's.
static const std::pair<const char *, double> knownInputs[] = {
    {names::kLossSeed, 1}, {names::kAccumulate, 0}, {names::kBatchShare, 1},
    {names::kLr, 1e-3},    {names::kBeta1, 0.9},    {names::kBeta2, 0.999},
    {names::kEps, 1e-8},   {names::kMomentum, 0.9}, {names::kMaxNorm, 1}};

/// The value of an input that a pass adds. All weight-decay inputs, such as
/// "adamw_weight_decay", have the same value.
static std::optional<double> findKnownInput(StringRef name) {
  if (isDecayInput(name))
    return getOptimizers().front()->defaultDecay;
  for (const auto &[known, value] : knownInputs)
    if (name == known)
      return value;
  return std::nullopt;
}

static bool isOneOf(StringRef name, std::initializer_list<StringRef> names) {
  return llvm::is_contained(names, name);
}

/// Whether a pass adds the input; all other inputs are data.
static bool isFixed(const ProgramInfo::Input &input) {
  if (isa<FloatType>(input.type.getElementType()))
    return findKnownInput(input.name).has_value();
  return isOneOf(input.name, {names::kSeed, names::kRng, names::kRank});
}

/// [seed, ...] or the rank's number; its first row is the second of the former.
static void fillFixed(StringRef program, StringRef name, int64_t seed,
                      int64_t rank, int64_t firstRow, Tensor &value) {
  if (name == names::kAccumulate && names::isLaterMicro(program))
    return fillTensor(value, 1);
  if (std::optional<double> known = findKnownInput(name))
    return fillTensor(value, *known);
  if (value.size() > 0)
    value.intAt(0) = name == names::kRank ? rank : seed;
  if (value.size() > 1 && name == names::kRng)
    value.intAt(1) = firstRow;
}

/// Elements of the list of draws that belongs to the name.
static void fillData(const ProgramInfo::Input &input, int64_t seed,
                     int64_t rank, Tensor &value) {
  StringRef name = input.name;
  const int64_t begin = rank * value.size();
  for (int64_t i = 0; i < value.size(); ++i)
    if (value.isFloat())
      value.at(i) = drawNormal(seed, name, begin + i, 0, 1);
    else
      value.intAt(i) =
          int64_t(drawUniform(seed, name, begin + i, 0, 1) * input.choices);
}

/// Rows of a batch: of the first data that has some.
static int64_t countRows(const ProgramInfo &program) {
  for (const ProgramInfo::Input &input : program.inputs)
    if (!isFixed(input) && input.type.getRank() > 0)
      return input.type.getDimSize(0);
  return 0;
}

TensorMap weft::makeInputs(const ProgramInfo &program, int64_t seed,
                           int64_t rank) {
  TensorMap inputs;
  const int64_t firstRow = rank * countRows(program);
  for (const ProgramInfo::Input &input : program.inputs) {
    Tensor value(input.type);
    if (isFixed(input))
      fillFixed(program.name, input.name, seed, rank, firstRow, value);
    else
      fillData(input, seed, rank, value);
    inputs.emplace(input.name, std::move(value));
  }
  return inputs;
}

std::string weft::nameOfRank(StringRef name, int64_t rank) {
  return llvm::formatv("rank{0}/{1}", rank, name).str();
}

void weft::fillTensor(Tensor &tensor, double value) {
  for (double &element : tensor.floatValues())
    element = value;
  for (int64_t &element : tensor.intValues())
    element = static_cast<int64_t>(value);
}

std::vector<ProgramInfo> weft::programsInOrder(const ModuleRunner &runner) {
  std::vector<ProgramInfo> programs, sorted;
  programs = runner.getPrograms();
  for (ProgramKind kind :
       {ProgramKind::Init, ProgramKind::Refresh, ProgramKind::Model,
        ProgramKind::Denominators, ProgramKind::Micro, ProgramKind::Apply,
        ProgramKind::Eval, ProgramKind::Logits, ProgramKind::Prefill,
        ProgramKind::Decode, ProgramKind::Predict})
    for (const ProgramInfo &program : programs)
      if (program.kind == kind)
        sorted.push_back(program);
  return sorted;
}

std::optional<ProgramInfo> weft::findProgram(const ModuleRunner &runner,
                                             ProgramKind kind) {
  for (ProgramInfo &program : runner.getPrograms())
    if (program.kind == kind)
      return std::move(program);
  return std::nullopt;
}

LogicalResult weft::refreshStates(ModuleRunner &runner) {
  std::optional<ProgramInfo> refresh =
      findProgram(runner, ProgramKind::Refresh);
  if (!refresh)
    return success();
  return success(succeeded(runner.run(refresh->name, {})));
}

LogicalResult weft::refreshStates(RanksRunner &ranks) {
  std::optional<ProgramInfo> refresh =
      findProgram(ranks.getRank(0), ProgramKind::Refresh);
  if (!refresh)
    return success();
  std::vector<TensorMap> inputs;
  for (int64_t rank = 0; rank < ranks.getNumRanks(); ++rank)
    inputs.push_back(makeInputs(*refresh, /*seed=*/0, rank));
  return success(succeeded(ranks.run(refresh->name, inputs)));
}
