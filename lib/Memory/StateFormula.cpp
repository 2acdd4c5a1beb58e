//===- StateFormula.cpp - Persistent state against 16P --------------------===//
//
// Mixed precision with Adam, of P parameters: 4P bytes of f32 parameters, 2P of
// working copies, 2P of low-precision gradients, 8P of moments.
//
//===----------------------------------------------------------------------===//

#include "weft/Memory/MemoryReport.h"

#include "weft/Plan/Plan.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

namespace {

constexpr int64_t kParameterBytes = 4, kCopyBytes = 2, kGradientBytes = 2,
                  kMomentBytes = 8;
constexpr int64_t kFormulaBytes =
    kParameterBytes + kCopyBytes + kGradientBytes + kMomentBytes;

/// Bytes that persist for one parameter.
struct ParameterBytes {
  int64_t elements = 0;
  bool trainable = true;
  int64_t own = 0, copies = 0, gradient = 0, accumulators = 0, moments = 0;
};

bool isLow(MemRefType type) {
  return type.getElementType().isF16() || type.getElementType().isBF16();
}

} // namespace

static void addTensor(plan::StateOp state, int64_t elements,
                      ParameterBytes &of) {
  int64_t bytes = elements * plan::getElementBytes(state.getBufferType());
  switch (state.getKind()) {
  case StateKind::Param:
    of.elements = elements;
    of.trainable = state.getTrainable();
    of.own += bytes;
    return;
  case StateKind::Working:
    of.copies += bytes;
    return;
  case StateKind::Gradient:
  case StateKind::Presence:
  case StateKind::Denominator:
    of.gradient += bytes;
    return;
  case StateKind::Accumulator:
    of.accumulators += bytes;
    return;
  case StateKind::Cache: // of no parameter
    return;
  case StateKind::Optimizer:
  case StateKind::Scaler:
    of.moments += bytes;
    return;
  }
}

/// Adds what `of` has beyond the formula to the differences by name.
static void compare(const ParameterBytes &of, StateFormula &formula) {
  auto differ = [&](const char *what, int64_t bytes) {
    if (bytes == 0)
      return;
    auto found = llvm::find_if(formula.differences, [&](const auto &known) {
      return known.what == what;
    });
    if (found == formula.differences.end())
      formula.differences.push_back({what, bytes});
    else
      found->bytes += bytes;
  };
  int64_t n = of.elements;
  if (!of.trainable) {
    differ("parameters that are not trained",
           of.own + of.copies + of.gradient + of.moments);
    return;
  }
  formula.parameters += n;
  differ("parameters only in low precision", of.own - kParameterBytes * n);
  differ(of.copies == 0 ? "parameters without a working copy"
                        : "working copies of a second type",
         of.copies - kCopyBytes * n);
  differ(of.gradient == 0 ? "parameters without a gradient state"
                          : "gradients in f32",
         of.gradient - kGradientBytes * n);
  differ("accumulators of gradients", of.accumulators);
  differ("optimizers without two moments", of.moments - kMomentBytes * n);
}

/// Whether the program was asked to compute in a low precision.
static bool isMixedProgram(ModuleOp module) {
  auto options = module->getAttrOfType<DictionaryAttr>("weft.options");
  auto precision =
      options ? options.getAs<StringAttr>("precision") : StringAttr();
  return precision && precision.getValue() != "f32";
}

namespace {
/// The persistent bytes of a module by what they are for.
struct StateBytes {
  llvm::MapVector<StringAttr, ParameterBytes> parameters;
  int64_t all = 0, gaps = 0, padding = 0, elsewhere = 0, others = 0, counts = 0,
          caches = 0;
  bool isLow = false;

  void add(plan::StateOp state);
  /// A flat state: its parameters, what lies between them, and less what the
  /// other slices of it are.
  void addFlat(plan::StateOp state, int64_t bytes);
};
} // namespace

void StateBytes::addFlat(plan::StateOp state, int64_t bytes) {
  int64_t whole = bytes * static_cast<int64_t>(state.getSlices());
  elsewhere += whole - bytes;
  for (const Segment &segment : state.getSegmentList()) {
    int64_t elements = segment.end - segment.begin;
    addTensor(state, elements, parameters[segment.param.getAttr()]);
    whole -= elements * plan::getElementBytes(state.getBufferType());
  }
  gaps += whole;
}

void StateBytes::add(plan::StateOp state) {
  int64_t bytes = plan::getBufferBytes(state.getBufferType());
  const int64_t stored = plan::getBufferBytes(state.getStorageType());
  all += stored;
  padding += stored - bytes;
  bool isParam = state.getKind() == StateKind::Param;
  if (!isParam && !state.getParamAttr() && !state.getSegments()) {
    (state.getKind() == StateKind::Cache ? caches
     : isMadeByStep(state.getKind())     ? counts
                                         : others) += bytes;
    return;
  }
  isLow |= ::isLow(state.getBufferType());
  if (state.getSegments())
    return addFlat(state, bytes);
  StringAttr owner =
      isParam ? state.getSymNameAttr() : state.getParamAttr().getAttr();
  addTensor(state, state.getBufferType().getNumElements(), parameters[owner]);
}

static bool hasGradients(ModuleOp module) {
  return llvm::any_of(module.getOps<plan::StateOp>(), [](plan::StateOp state) {
    return state.getKind() == StateKind::Gradient;
  });
}

std::optional<StateFormula> weft::computeStateFormula(ModuleOp module) {
  // The formula is of training.
  if (!hasGradients(module))
    return std::nullopt;
  StateBytes states;
  for (auto state : module.getOps<plan::StateOp>())
    states.add(state);
  if (!states.isLow && !isMixedProgram(module))
    return std::nullopt;
  StateFormula formula;
  formula.stateBytes = states.all;
  for (auto &[name, bytes] : states.parameters)
    compare(bytes, formula);
  for (auto [what, bytes] :
       {std::pair("gaps in flat states", states.gaps),
        {"padding behind gradients", states.padding},
        {"shards of other ranks", -states.elsewhere},
        {"step counters and loss scale", states.others},
        {"counts of dropped layers and of targets", states.counts},
        {"keys and values of samples", states.caches}})
    if (bytes)
      formula.differences.push_back({what, bytes});
  formula.formulaBytes = kFormulaBytes * formula.parameters;
  return formula;
}

/// The sums that are usual for these; activations are f32 or f16 throughout.
std::vector<StateFormula::Comparison> StateFormula::getComparisons() const {
  int64_t p = parameters, a = activationElements;
  return {{"f32 with Adam", "16P + 4A", 16 * p + 4 * a},
          {"f16, f32 master weights, Adam", "16P + 2A", 16 * p + 2 * a},
          {"the same with f32 gradients, as mmcv", "20P + 2A", 20 * p + 2 * a}};
}

llvm::json::Object StateFormula::toJson() const {
  llvm::json::Array list;
  for (const Difference &difference : differences)
    list.push_back(llvm::json::Object{{"what", difference.what},
                                      {"bytes", difference.bytes}});
  llvm::json::Array comparisons;
  for (const Comparison &comparison : getComparisons())
    comparisons.push_back(llvm::json::Object{{"what", comparison.what},
                                             {"formula", comparison.formula},
                                             {"bytes", comparison.bytes}});
  return llvm::json::Object{{"formula", "16P"},
                            {"activation_elements", activationElements},
                            {"comparisons", std::move(comparisons)},
                            {"parameters", parameters},
                            {"formula_bytes", formulaBytes},
                            {"state_bytes", stateBytes},
                            {"differences", std::move(list)}};
}
