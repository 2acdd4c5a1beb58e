//===- Fingerprint.cpp - Identity of a model ------------------------------===//

#include "weft/Pipeline/Metadata/Fingerprint.h"

#include "weft/Formats/Digest.h"
#include "weft/Formats/Json.h"
#include "weft/Weft/Weft.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;

/// The parameters, with what decides their meaning.
static void printParams(ModuleOp module, raw_ostream &stream) {
  for (auto param : module.getOps<ParamOp>()) {
    stream << param.getSymName() << ":" << param.getType();
    if (param.getTie())
      stream << "=" << *param.getTie();
    stream << "\n";
  }
}

namespace {
enum class FingerprintVersion { One, Two };

/// Numbers in the order of the ops that have them, by what they are.
using Adjustable = llvm::MapVector<StringRef, SmallVector<double>>;
} // namespace

/// The part of an op that may change while a model stays the same, if it has
/// one.
static std::optional<std::pair<StringRef, double>>
getAdjustable(Operation &op) {
  using Found = std::optional<std::pair<StringRef, double>>;
  return llvm::TypeSwitch<Operation *, Found>(&op)
      .Case([](DropoutOp drop) {
        return std::pair("dropout", drop.getP().convertToDouble());
      })
      .Case([](LayerDropOp drop) {
        return std::pair("layer drop", drop.getP().convertToDouble());
      })
      .Case([](AttentionOp attention) {
        return std::pair("attention dropout",
                         attention.getDropout().convertToDouble());
      })
      .Case([](LayerNormOp norm) {
        return std::pair("layer norm eps", norm.getEps().convertToDouble());
      })
      .Case([](RmsNormOp norm) {
        return std::pair("rms norm eps", norm.getEps().convertToDouble());
      })
      .Default(Found());
}

/// The attribute of such an op, or the number of its draws: dropout that is
/// added or removed renumbers the draws behind it.
static bool isAdjustableAttr(Operation &op, StringRef name) {
  return getAdjustable(op) &&
         llvm::is_contained({"p", "dropout", "eps", "op_id"}, name);
}

/// Fields of a config.json. `initializer_range` means nothing to a run that
/// resumes.
static bool isAdjustableField(StringRef name) {
  return llvm::is_contained(
      {"attention_dropout", "attn_pdrop", "dropout", "embd_pdrop",
       "embedding_dropout", "hidden_dropout", "init_std", "initializer_range",
       "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "resid_pdrop",
       "residual_dropout", "rms_norm_eps"},
      name);
}

namespace {
/// Prints the computation without types, so that batch and length do not enter.
/// Version 2 prints a computation without dropout.
class ComputationPrinter {
public:
  ComputationPrinter(raw_ostream &stream, FingerprintVersion version)
      : stream(stream), version(version) {}

  void print(ProgramOp program) {
    for (BlockArgument argument : program.getArguments())
      number(argument);
    for (Operation &op : program.getBody().front())
      print(op);
  }

private:
  void number(Value value) { numbers[value] = next++; }
  void print(Operation &op);
  bool hasAttr(Operation &op, StringRef name) const;

  raw_ostream &stream;
  const FingerprintVersion version;
  llvm::DenseMap<Value, unsigned> numbers;
  unsigned next = 0;
};
} // namespace

/// Whether the attribute belongs to the computation.
bool ComputationPrinter::hasAttr(Operation &op, StringRef name) const {
  // Attention had one optional operand before, and no sizes of groups.
  if (isa<AttentionOp>(op) && name == AttentionOp::getOperandSegmentSizeAttr())
    return false;
  return name != WeftDialect::kScopeAttr &&
         name != WeftDialect::kRecomputeAttr &&
         (version == FingerprintVersion::One || !isAdjustableAttr(op, name));
}

void ComputationPrinter::print(Operation &op) {
  auto drop = dyn_cast<DropoutOp>(op);
  if (drop && version == FingerprintVersion::Two) {
    numbers[drop.getResult()] = numbers.lookup(drop.getOperand());
    return;
  }
  stream << op.getName();
  for (Value operand : op.getOperands())
    stream << " " << numbers.lookup(operand);
  if (!isa<ReshapeOp, BroadcastOp>(op))
    for (NamedAttribute attr : op.getAttrDictionary())
      if (hasAttr(op, attr.getName()))
        stream << " " << attr.getName() << "=" << attr.getValue();
  stream << "\n";
  for (Value result : op.getResults())
    number(result);
}

/// Moves the ops of regions in front of them: a model stays the same whatever
/// the precision and recomputation.
static void inlineRegions(ProgramOp program) {
  SmallVector<Operation *> regions; // inner ones first
  program.walk([&](Operation *op) {
    if (op->hasTrait<InlinedRegion>())
      regions.push_back(op);
  });
  for (Operation *region : regions) {
    Block &body = region->getRegion(0).front();
    region->replaceAllUsesWith(body.getTerminator()->getOperands());
    body.getTerminator()->erase();
    region->getBlock()->getOperations().splice(region->getIterator(),
                                               body.getOperations());
    region->erase();
  }
}

/// A copy of the model without regions, metrics and the ops that only metrics
/// use: a model stays the same whatever it reports.
static OwningOpRef<ProgramOp> reduceToIdentity(ProgramOp model) {
  OwningOpRef<ProgramOp> copy = cast<ProgramOp>(model->clone());
  inlineRegions(*copy);
  ReturnOp terminator = copy->getTerminator();
  llvm::BitVector areMetrics(model.getNumResults());
  llvm::SetVector<Operation *> unused;
  SmallVector<Value> kept;
  for (auto [index, value] : llvm::enumerate(terminator.getOutputs())) {
    const bool isMetric =
        bool(copy->getResultAttr(index, WeftDialect::kMetricAttr));
    areMetrics[index] = isMetric;
    if (!isMetric)
      kept.push_back(value);
    else if (Operation *op = value.getDefiningOp())
      unused.insert(op);
  }
  terminator.getOutputsMutable().assign(kept);
  LogicalResult result = copy->eraseResults(areMetrics);
  assert(succeeded(result) && "results of a program can be erased");
  (void)result;
  while (!unused.empty()) {
    Operation *op = unused.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        unused.insert(maker);
    op->erase();
  }
  return copy;
}

static void printConfig(ModuleOp module, DictionaryAttr config,
                        FingerprintVersion version, raw_ostream &stream) {
  stream << module->getAttr("weft.family") << "\n";
  for (NamedAttribute field : config) {
    if (version == FingerprintVersion::Two &&
        isAdjustableField(field.getName()))
      continue;
    auto entry = dyn_cast<DictionaryAttr>(field.getValue());
    stream << field.getName() << "="
           << (entry ? entry.get("value") : field.getValue()) << "\n";
  }
}

static std::string makeFingerprint(ModuleOp module,
                                   FingerprintVersion version) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (version == FingerprintVersion::Two)
    stream << "fingerprint 2\n";
  printParams(module, stream);
  // Added passes may change the computation.
  if (auto options = module->getAttrOfType<DictionaryAttr>("weft.options"))
    if (auto passes = options.getAs<StringAttr>("add-pass"))
      stream << "add-pass=" << passes.getValue() << "\n";
  if (auto config = module->getAttrOfType<DictionaryAttr>("weft.config")) {
    // The configuration decides the computation; its slices and tables would
    // bring in the batch and the length.
    printConfig(module, config, version, stream);
  } else {
    for (auto program : module.getOps<ProgramOp>())
      if (program.getKind() == ProgramKind::Model)
        ComputationPrinter(stream, version).print(*reduceToIdentity(program));
  }
  return digest128(text);
}

/// "0.1 x 2, 0.2": equal neighbours stand once.
static std::string getRunsText(ArrayRef<double> numbers) {
  std::string text;
  while (!numbers.empty()) {
    const size_t count =
        numbers.take_while([&](double x) { return x == numbers.front(); })
            .size();
    text += (text.empty() ? "" : ", ") + Json(numbers.front()).compact();
    if (count > 1)
      text += " x " + std::to_string(count);
    numbers = numbers.drop_front(count);
  }
  return text;
}

/// Numbers that version 2 leaves out, as texts by name.
static DictionaryAttr makeAdjustable(ModuleOp module) {
  Builder b(module.getContext());
  SmallVector<NamedAttribute> texts;
  auto add = [&](StringRef name, const std::string &text) {
    texts.push_back(b.getNamedAttr(name, b.getStringAttr(text)));
  };
  if (auto config = module->getAttrOfType<DictionaryAttr>("weft.config")) {
    for (NamedAttribute field : config)
      if (auto entry = dyn_cast<DictionaryAttr>(field.getValue());
          entry && isAdjustableField(field.getName()))
        if (auto number = entry.getAs<FloatAttr>("value"))
          add(field.getName(), Json(number.getValueAsDouble()).compact());
    return b.getDictionaryAttr(texts);
  }
  Adjustable found;
  for (auto program : module.getOps<ProgramOp>())
    if (program.getKind() == ProgramKind::Model)
      program.walk([&](Operation *op) {
        if (auto number = getAdjustable(*op))
          found[number->first].push_back(number->second);
      });
  for (auto &[name, numbers] : found)
    add(name, getRunsText(numbers));
  return b.getDictionaryAttr(texts);
}

void weft::storeFingerprint(ModuleOp module) {
  auto store = [&](StringRef name, FingerprintVersion version) {
    module->setAttr(name, StringAttr::get(module.getContext(),
                                          makeFingerprint(module, version)));
  };
  store("weft.fingerprint", FingerprintVersion::Two);
  store("weft.fingerprint_1", FingerprintVersion::One);
  if (DictionaryAttr adjustable = makeAdjustable(module); !adjustable.empty())
    module->setAttr("weft.adjustable", adjustable);
}
