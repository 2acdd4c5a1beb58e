//===- Compare.cpp - Same results before and after a pass -----------------===//

#include "weft/Interp/Compare.h"

#include "OpFunctions.h"
#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"
#include "weft/Dist/Dist.h"
#include "weft/Interp/Inputs.h"
#include "weft/Interp/NamedStates.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace weft;

bool Comparison::isEqual() const {
  return !tensors.empty() &&
         llvm::all_of(tensors, [](const auto &t) { return t.isEqual; });
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Infinite where only one is NaN or the infinities differ.
static double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  double difference = std::fabs(a - b);
  return std::isfinite(difference) ? difference
                                   : std::numeric_limits<double>::infinity();
}

TensorDifference weft::compareTensors(const Tensor &a, const Tensor &b,
                                      double tolerance) {
  TensorDifference result;
  if (a.shape() != b.shape() || a.isFloat() != b.isFloat()) {
    result.maxAbs = result.maxRel = std::numeric_limits<double>::infinity();
    result.isEqual = false;
    return result;
  }
  double magnitude = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    result.maxAbs = std::fmax(result.maxAbs, distance(a.value(i), b.value(i)));
    for (double element : {a.value(i), b.value(i)})
      if (std::isfinite(element))
        magnitude = std::fmax(magnitude, std::fabs(element));
  }
  if (result.maxAbs > 0)
    result.maxRel = result.maxAbs / magnitude;
  result.isEqual =
      result.maxAbs <= tolerance * std::fmax(magnitude, kSmallMagnitude);
  return result;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {
struct ProgramPair {
  ProgramInfo first, second;
  /// Run as a micro-step that adds to gradients.
  bool adds = false;
};

/// Both modules side by side, on the same number of ranks.
class Comparer {
public:
  Comparer(ModuleOp a, ModuleOp b, int64_t ranks, const CompareOptions &options)
      : a(a, options.mode, ranks), b(b, options.mode, ranks), options(options) {
  }

  FailureOr<Comparison> run();

private:
  std::vector<ProgramPair> pairPrograms();
  void noteUnpaired(const std::vector<ProgramPair> &pairs,
                    ArrayRef<ProgramInfo> others);
  LogicalResult setInitialStates();
  LogicalResult runLoneInit(RanksRunner &ranks, ArrayRef<ProgramPair> pairs);
  LogicalResult setGivenStates();
  LogicalResult perturbParameters();
  LogicalResult runAhead(int64_t step);
  LogicalResult runPair(const ProgramPair &pair, int64_t step);
  TensorMap inputsOf(const ProgramInfo &program, const TensorMap &shared,
                     int64_t step, int64_t rank);
  void compareMaps(StringRef program, StringRef prefix, const TensorMap &first,
                   const TensorMap &second);
  LogicalResult compareStates(const ProgramPair &pair);

  RanksRunner a, b;
  const CompareOptions &options;
  Comparison result;
  /// The program `denominators` of the second module, if the first has none.
  std::optional<ProgramInfo> ahead;
};
} // namespace

static bool isLater(const ProgramInfo &program) {
  return names::isLaterMicro(program.name);
}

static bool keepsGradients(const ProgramInfo &program) {
  return names::keepsGradients(program.name);
}

/// If one program serves both the first and later micro-batches, adds pairs
/// that run it as a later one.
static void addSums(std::vector<ProgramPair> &pairs) {
  auto find = [&](StringRef name) {
    return llvm::find_if(pairs, [&](const ProgramPair &pair) {
      return pair.second.name == name;
    });
  };
  auto keep = find(names::kMicroKeep), micro = find(names::kMicro);
  if (keep == pairs.end() || micro == pairs.end() ||
      find(names::kMicroLater) != pairs.end())
    return;
  ProgramPair more = *keep, last = *micro;
  more.adds = last.adds = true;
  pairs.insert(std::next(std::max(keep, micro)), {more, last});
}

/// Pairs programs with the same name, in running order. A single program for
/// all micro-batches pairs with each form of `micro` in the other module.
std::vector<ProgramPair> Comparer::pairPrograms() {
  std::vector<ProgramPair> pairs;
  std::vector<ProgramInfo> others = programsInOrder(b.getRank(0));
  std::vector<ProgramInfo> firsts = programsInOrder(a.getRank(0));
  for (const ProgramInfo &first : firsts) {
    auto second = llvm::find_if(
        others, [&](const ProgramInfo &o) { return o.name == first.name; });
    if (second != others.end()) {
      pairs.push_back({first, *second, isLater(*second)});
      auto isForm = [](const ProgramInfo &program) {
        return isLater(program) || keepsGradients(program);
      };
      if (first.name == names::kMicro && llvm::none_of(firsts, isForm))
        for (const ProgramInfo &form : llvm::make_filter_range(others, isForm))
          pairs.push_back({first, form, isLater(form)});
      continue;
    }
    size_t before = pairs.size();
    if (first.kind == ProgramKind::Model)
      for (ProgramKind kind : {ProgramKind::Micro, ProgramKind::Eval})
        if (std::optional<ProgramInfo> derived =
                findProgram(b.getRank(0), kind))
          pairs.push_back({first, *derived});
    if (pairs.size() == before)
      result.notes.push_back("program '@" + first.name +
                             "' is only in the first module");
  }
  noteUnpaired(pairs, others);
  addSums(pairs);
  return pairs;
}

/// Notes programs of one module alone. `denominators` runs ahead of the pairs.
void Comparer::noteUnpaired(const std::vector<ProgramPair> &pairs,
                            ArrayRef<ProgramInfo> others) {
  for (const ProgramInfo &second : others) {
    if (llvm::any_of(pairs, [&](const ProgramPair &p) {
          return p.second.op == second.op;
        }))
      continue;
    if (second.name == names::kDenominators)
      ahead = second;
    else if (!names::keepsDenominators(second.name))
      result.notes.push_back("program '@" + second.name +
                             "' is only in the second module");
  }
}

/// A model divides by the count of its own batch, and so must derived programs.
LogicalResult Comparer::runAhead(int64_t step) {
  if (!ahead)
    return success();
  std::vector<TensorMap> inputs;
  for (int64_t rank = 0; rank < b.getNumRanks(); ++rank)
    inputs.push_back(inputsOf(*ahead, {}, step, rank));
  return success(succeeded(b.run(ahead->name, inputs)));
}

LogicalResult Comparer::setInitialStates() {
  return success(succeeded(a.initialize(options.seed)) &&
                 succeeded(b.initialize(options.seed)));
}

static bool isInit(const ProgramPair &pair) {
  return pair.second.kind == ProgramKind::Init;
}

/// Runs the init program of a module if the other one has none, as an imported
/// model: flat states have no initial values of their own. Parameters get the
/// values of the first module later.
LogicalResult Comparer::runLoneInit(RanksRunner &ranks,
                                    ArrayRef<ProgramPair> pairs) {
  std::optional<ProgramInfo> init =
      findProgram(ranks.getRank(0), ProgramKind::Init);
  if (!init || llvm::any_of(pairs, isInit))
    return success();
  std::vector<TensorMap> inputs;
  for (int64_t rank = 0; rank < ranks.getNumRanks(); ++rank)
    inputs.push_back(makeInputs(*init, options.seed, rank));
  return success(succeeded(ranks.run(init->name, inputs)));
}

LogicalResult Comparer::setGivenStates() {
  for (RanksRunner *ranks : {&a, &b})
    for (const auto &[name, value] : options.states)
      if (failed(setNamedState(*ranks, name, value)))
        return failure();
  return success();
}

/// Inputs of a program, by priority: the given ones, the inputs shared with the
/// other module, generated ones.
TensorMap Comparer::inputsOf(const ProgramInfo &program,
                             const TensorMap &shared, int64_t step,
                             int64_t rank) {
  TensorMap inputs = makeInputs(program, options.seed + step, rank);
  for (const auto &[name, value] : shared)
    if (program.hasInput(name))
      inputs[name] = value;
  for (auto &[name, value] : inputs) {
    if (const Tensor *given = findOfRank(options.inputs, name, rank))
      value = *given;
    if (const double *fill = findOfRank(options.fills, name, rank))
      fillTensor(value, *fill);
  }
  return inputs;
}

void Comparer::compareMaps(StringRef program, StringRef prefix,
                           const TensorMap &first, const TensorMap &second) {
  for (const auto &[name, value] : first) {
    auto found = second.find(name);
    if (found == second.end())
      continue;
    TensorDifference difference =
        compareTensors(value, found->second, options.tolerance);
    difference.program = program.str();
    difference.name = (prefix + name).str();
    result.tensors.push_back(std::move(difference));
  }
}

/// Where one program adds up gradients and the other one in states beside them,
/// those are compared.
static void takeSums(TensorMap &states) {
  const std::string suffix = std::string(".") + names::kSum;
  for (auto &[name, value] : states)
    if (StringRef gradient = name; gradient.consume_back(suffix))
      if (auto found = states.find(gradient.str()); found != states.end())
        found->second = value;
}

LogicalResult Comparer::compareStates(const ProgramPair &pair) {
  FailureOr<TensorMap> first = getNamedStates(a);
  FailureOr<TensorMap> second = getNamedStates(b);
  if (failed(first) || failed(second))
    return failure();
  if (keepsGradients(pair.second) && !keepsGradients(pair.first))
    takeSums(*second);
  compareMaps(pair.second.name, "@", *first, *second);
  return success();
}

LogicalResult Comparer::runPair(const ProgramPair &pair, int64_t step) {
  const auto &[first, second, adds] = pair;
  std::vector<TensorMap> inputs, others;
  for (int64_t rank = 0; rank < a.getNumRanks(); ++rank) {
    inputs.push_back(inputsOf(first, {}, step, rank));
    if (auto flag = inputs.back().find(names::kAccumulate);
        adds && flag != inputs.back().end())
      fillTensor(flag->second, 1);
    others.push_back(inputsOf(second, inputs.back(), step, rank));
  }
  auto before = a.run(first.name, inputs), after = b.run(second.name, others);
  if (failed(before) || failed(after))
    return failure();
  for (int64_t rank = 0; rank < a.getNumRanks(); ++rank)
    compareMaps(second.name, a.getNumRanks() > 1 ? nameOfRank("", rank) : "",
                (*before)[rank], (*after)[rank]);
  return compareStates(pair);
}

/// Adds normal numbers to every parameter that both have, so that zeros and
/// ones of initial values hide nothing.
LogicalResult Comparer::perturbParameters() {
  constexpr double std = 0.1;
  for (const std::string &name : getNamedParameters(a)) {
    auto value = findNamedState(a, name), other = findNamedState(b, name);
    if (failed(value) || failed(other))
      return failure();
    if (!*value || !*other)
      continue;
    for (int64_t i = 0; i < (*value)->size(); ++i)
      (*value)->at(i) += drawNormal(options.seed + 1, name, i, 0, std);
    if (failed(setNamedState(a, name, **value)) ||
        failed(setNamedState(b, name, **value)))
      return failure();
  }
  return success();
}

FailureOr<Comparison> Comparer::run() {
  if (failed(setInitialStates()))
    return failure();
  std::vector<ProgramPair> pairs = pairPrograms();
  if (failed(runLoneInit(a, pairs)) || failed(runLoneInit(b, pairs)))
    return llvm::failure();
  for (const ProgramPair &pair : pairs)
    if (isInit(pair) && failed(runPair(pair, 0)))
      return failure();
  if (failed(options.states.empty() ? perturbParameters() : setGivenStates()))
    return failure();
  if (failed(refreshStates(a)) || failed(refreshStates(b)))
    return failure();
  for (int64_t step = 0; step < options.steps; ++step) {
    if (failed(runAhead(step)))
      return failure();
    for (const ProgramPair &pair : pairs)
      if (!isInit(pair) && failed(runPair(pair, step)))
        return failure();
  }
  return std::move(result);
}

FailureOr<Comparison> weft::compareModules(ModuleOp a, ModuleOp b,
                                           const CompareOptions &options) {
  const int64_t first = countRanks(a), second = countRanks(b);
  if (dist::findMesh(a) && dist::findMesh(b) && first != second)
    return dist::findMesh(b).emitError()
           << "expects the ranks of the first module, " << first << ", but got "
           << second;
  return Comparer(a, b, std::max(first, second), options).run();
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

std::string weft::comparisonTable(const Comparison &comparison) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::MapVector<StringRef, SmallVector<const TensorDifference *>> byProgram;
  for (const TensorDifference &tensor : comparison.tensors)
    byProgram[tensor.program].push_back(&tensor);
  for (const auto &[program, tensors] : byProgram) {
    size_t numDifferent = 0;
    const TensorDifference *largest = tensors.front();
    for (const TensorDifference *tensor : tensors) {
      if (tensor->maxAbs > largest->maxAbs)
        largest = tensor;
      if (tensor->isEqual)
        continue;
      ++numDifferent;
      os << llvm::format("differs: %-8s %-40s max abs %.3e, max rel %.3e\n",
                         tensor->program.c_str(), tensor->name.c_str(),
                         tensor->maxAbs, tensor->maxRel);
    }
    os << program
       << llvm::format(
              ": %zu of %zu tensors differ; largest difference %.3e in ",
              numDifferent, tensors.size(), largest->maxAbs)
       << largest->name << '\n';
  }
  for (const std::string &note : comparison.notes)
    os << "note: " << note << '\n';
  if (comparison.tensors.empty())
    os << "nothing to compare\n";
  return text;
}
