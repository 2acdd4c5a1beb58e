//===- WeftAttributes.cpp - Discardable attributes of weft ----------------===//
//
// Every attribute `weft.NAME` that passes put on ops has its rule here. A name
// without a rule is an error: it would be kept without effect.
//
//===----------------------------------------------------------------------===//

#include "Parsing.h"
#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace weft;

/// Returns the rule that `attr` breaks, or null.
using Rule = const char *(*)(Attribute attr);

static const char *isText(Attribute attr) {
  return isa<StringAttr>(attr) ? nullptr : "text";
}
static const char *isName(Attribute attr) {
  auto text = dyn_cast<StringAttr>(attr);
  return text && !text.empty() ? nullptr : "a name";
}
/// The format of storeFingerprint.
static const char *isDigest(Attribute attr) {
  auto text = dyn_cast<StringAttr>(attr);
  return text && text.size() == 32 &&
                 llvm::all_of(text.getValue(),
                              [](char c) { return llvm::isHexDigit(c); })
             ? nullptr
             : "32 hexadecimal digits";
}
/// Sizes of a language model: its tokens are i32.
static const char *isSize(Attribute attr) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getType().isInteger(64) && number.getInt() >= 1 &&
                 number.getInt() <= std::numeric_limits<int32_t>::max()
             ? nullptr
             : "an i64 from 1 to 2147483647";
}
static const char *isCount(Attribute attr) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getType().isInteger(64) && number.getInt() >= 1
             ? nullptr
             : "an i64 of at least 1";
}
static const char *isIntegers(Attribute attr) {
  return isa<DenseI64ArrayAttr>(attr) ? nullptr : "array<i64>";
}
static const char *isCounts(Attribute attr) {
  auto list = dyn_cast<DenseI64ArrayAttr>(attr);
  return list && llvm::all_of(list.asArrayRef(),
                              [](int64_t number) { return number >= 1; })
             ? nullptr
             : "an array<i64> of numbers of at least 1";
}

template <typename T> static bool isArrayOf(Attribute attr) {
  auto list = dyn_cast<ArrayAttr>(attr);
  return list && llvm::all_of(list, llvm::IsaPred<T>);
}
static const char *isIntegerLists(Attribute attr) {
  return isArrayOf<DenseI64ArrayAttr>(attr) ? nullptr
                                            : "an array of array<i64>";
}
static const char *isTexts(Attribute attr) {
  return isArrayOf<StringAttr>(attr) ? nullptr : "an array of texts";
}
/// It is printed in tables and messages.
static const char *isOpName(Attribute attr) {
  auto name = dyn_cast<StringAttr>(attr);
  auto isLetter = [](char c) {
    return llvm::isAlnum(c) || llvm::is_contained(StringRef("_.$"), c);
  };
  return name && !name.empty() && llvm::all_of(name.getValue(), isLetter)
             ? nullptr
             : "the name of an op";
}
static const char *isOpNames(Attribute attr) {
  auto names = dyn_cast<ArrayAttr>(attr);
  llvm::SmallPtrSet<Attribute, 8> known;
  auto isNew = [&](Attribute name) {
    return !isOpName(name) && known.insert(name).second;
  };
  return names && !names.empty() && llvm::all_of(names, isNew)
             ? nullptr
             : "an array of names of ops, each once";
}
static const char *isKernelKind(Attribute attr) {
  return isa<KernelKindAttr>(attr) ? nullptr : "a #weft.kernel_kind";
}
/// Files of initial weights.
static const char *isFiles(Attribute attr) {
  bool known = isArrayOf<DictionaryAttr>(attr) &&
               llvm::all_of(cast<ArrayAttr>(attr).getAsRange<DictionaryAttr>(),
                            [](DictionaryAttr file) {
                              return file.getAs<StringAttr>("path") &&
                                     file.getAs<StringAttr>("xxh3");
                            });
  return known ? nullptr
               : "an array of dictionaries with path and xxh3 as text";
}
static const char *isOptions(Attribute attr) {
  auto options = dyn_cast<DictionaryAttr>(attr);
  bool known = options && llvm::all_of(options, [](NamedAttribute option) {
                 return isa<StringAttr>(option.getValue());
               });
  return known ? nullptr : "a dictionary of texts";
}
/// Fields of a config.json, each a dictionary with its value.
static const char *isConfig(Attribute attr) {
  auto fields = dyn_cast<DictionaryAttr>(attr);
  bool known = fields && llvm::all_of(fields, [](NamedAttribute field) {
                 auto entry = dyn_cast<DictionaryAttr>(field.getValue());
                 return entry && entry.contains("value");
               });
  return known ? nullptr : "a dictionary of dictionaries with a value each";
}
static const char *isUnit(Attribute attr) {
  return isa<UnitAttr>(attr) ? nullptr : "no value";
}
static const char *isFinite(Attribute attr) {
  auto number = dyn_cast<FloatAttr>(attr);
  return number && number.getType().isF64() &&
                 std::isfinite(number.getValueAsDouble())
             ? nullptr
             : "a finite f64";
}
static const char *isOptimizer(Attribute attr) {
  static const std::string rule = spellOptimizers("\"");
  auto text = dyn_cast<StringAttr>(attr);
  return text && findOptimizer(text.getValue()) ? nullptr : rule.c_str();
}

/// Hyper-parameters of a group.
static const char *isNumbers(Attribute attr) {
  static const std::string rule =
      "a dictionary of f64, or bool for flags, whose keys are among " +
      llvm::join(getOptimizerKeys(), ", ");
  auto isKnown = [](NamedAttribute entry) {
    StringRef key = entry.getName();
    if (!llvm::is_contained(getOptimizerKeys(), key))
      return false;
    bool isFlag = !llvm::is_contained(getOptimizerNumbers(), key);
    return isFlag ? isa<BoolAttr>(entry.getValue())
                  : isFinite(entry.getValue()) == nullptr;
  };
  auto numbers = dyn_cast<DictionaryAttr>(attr);
  return numbers && llvm::all_of(numbers, isKnown) ? nullptr : rule.c_str();
}

static const char *isSymbol(Attribute attr) {
  return isa<FlatSymbolRefAttr>(attr) ? nullptr : "a symbol";
}

static const char *isScaler(Attribute attr) {
  return isa<ScalerAttr>(attr) ? nullptr : "a #weft.scaler";
}

static const char *isRepeats(Attribute attr) {
  return isa<RepeatsAttr>(attr) ? nullptr : "a #weft.repeats";
}

static const char *isNumber(Attribute attr) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getType().isInteger(64) && number.getInt() >= 0
             ? nullptr
             : "an i64 of at least 0";
}

static const char *isTraining(Attribute attr) {
  return isa<TrainingAttr>(attr) ? nullptr : "a #weft.training";
}

/// Parameters with one update rule, as weft-expand-optimizer records them.
static bool isUpdateGroup(Attribute attr) {
  auto group = dyn_cast<DictionaryAttr>(attr);
  auto has = [&](StringRef name, Rule rule) {
    Attribute value = group.get(name);
    return value && !rule(value);
  };
  return group && has("optimizer", isOptimizer) && has("name", isText) &&
         has("lr_scale", isFinite) && has("decay_scale", isFinite) &&
         has("params", isTexts) &&
         (!group.contains("numbers") || has("numbers", isNumbers));
}
static const char *isUpdateGroups(Attribute attr) {
  auto list = dyn_cast<ArrayAttr>(attr);
  return list && llvm::all_of(list, isUpdateGroup)
             ? nullptr
             : "a list of dictionaries with optimizer, name, lr_scale, "
               "decay_scale and params";
}

/// The rule of an attribute of an op; null for an unknown name.
static Rule getRule(StringRef name) {
  return llvm::StringSwitch<Rule>(name)
      .Cases({"scope", "impl", "family", "config_text", "metadata",
              "optimizer_group"},
             isText)
      .Cases({"fingerprint", "fingerprint_1"}, isDigest)
      .Cases({"batch", "seq", "vocab"}, isSize)
      .Cases({"extent", "grain"}, isCount)
      .Case("recompute", isName)
      .Case("formula", isOpName)
      .Case("update", isNumber)
      .Case("repeats", isRepeats)
      .Case("saved", isIntegers)
      .Case("sizes", isCounts)
      .Cases({"over", "sums"}, isIntegers)
      .Case("inplace", isIntegerLists)
      .Case("kernel_kind", isKernelKind)
      .Case("computes", isOpNames)
      .Cases({"tokenizer_files", "unread_weights"}, isTexts)
      .Cases({"weights", "companion_files"}, isFiles)
      .Cases({"options", "option_files", "adjustable"}, isOptions)
      .Case("config", isConfig)
      .Cases({"lr_scale", "decay_scale"}, isFinite)
      .Cases({"apart", "folded", "row_mean"}, isUnit)
      .Case("optimizer", isOptimizer)
      .Case("training", isTraining)
      .Case("update_groups", isUpdateGroups)
      .Case("numbers", isNumbers)
      .Case("scaler", isScaler)
      .Case("presence", isSymbol)
      .Default(nullptr);
}

/// Attributes that describe the whole model and have no effect on other ops.
static bool belongsToModule(StringRef name) {
  return llvm::is_contained(
      {"batch", "seq", "vocab", "family", "fingerprint", "fingerprint_1",
       "adjustable", "config", "config_text", "options", "option_files",
       "metadata", "weights", "unread_weights", "tokenizer_files",
       "companion_files", "training", "update_groups", "row_mean"},
      name);
}

static LogicalResult verifyAttribute(Operation *op, const Twine &place,
                                     NamedAttribute attr, Rule rule) {
  if (!rule)
    return op->emitOpError("expects no attribute ")
           << attr.getName() << place << ": weft has none of that name";
  if (const char *expected = rule(attr.getValue()))
    return op->emitOpError("expects ")
           << attr.getName() << place << " to be " << expected << ", but got "
           << attr.getValue();
  return success();
}

static StringRef withoutDialect(NamedAttribute attr) {
  return attr.getName().strref().drop_front(StringRef("weft.").size());
}

LogicalResult WeftDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  StringRef name = withoutDialect(attr);
  if (belongsToModule(name) && !isa<ModuleOp>(op))
    return op->emitOpError("expects ")
           << attr.getName() << " on a module, where it has an effect";
  if (attr.getName() == kPresenceAttr && !isa<StateOp>(op))
    return op->emitOpError("expects ") << attr.getName() << " on a state";
  if (attr.getName() == kRecomputeAttr &&
      (op->getNumResults() == 0 || isa<ReadOp>(op) ||
       op->hasTrait<OpTrait::ConstantLike>()))
    return op->emitOpError("expects ")
           << attr.getName() << " on an op that computes something";
  if ((attr.getName() == kFormulaAttr || attr.getName() == kUpdateAttr) &&
      !isa_and_nonnull<ProgramOp>(op->getParentOp()))
    return op->emitOpError("expects ") << attr.getName() << " in a program";
  if (attr.getName() == kRepeatsAttr && !isa<OptimizerOpInterface>(op))
    return op->emitOpError("expects ") << attr.getName() << " on an update";
  // A kernel, or its form in another dialect.
  if (attr.getName() == kComputesAttr && !isa<KernelOp>(op) &&
      !(isa<FunctionOpInterface>(op) && op->hasAttr(kKernelKindAttr)))
    return op->emitOpError("expects ") << attr.getName() << " on a kernel";
  if (failed(verifyAttribute(op, "", attr, getRule(name))))
    return failure();
  // Once for the two of them.
  if (attr.getName() == kVocabAttr ||
      (attr.getName() == kSeqAttr && !op->hasAttr(kVocabAttr)))
    return verifyLanguageModel(cast<ModuleOp>(op));
  return success();
}

LogicalResult WeftDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned index,
                                                    NamedAttribute attr) {
  Rule rule = attr.getName() == kInputAttr ? isText : nullptr;
  return verifyAttribute(op, " on argument " + Twine(index), attr, rule);
}

/// Only results of programs that compute a loss are metrics.
static LogicalResult verifyMetric(Operation *op, unsigned result) {
  auto program = dyn_cast<ProgramOp>(op);
  if (program && llvm::is_contained({ProgramKind::Model, ProgramKind::Micro,
                                     ProgramKind::Eval},
                                    program.getKind()))
    return success();
  InFlightDiagnostic error =
      op->emitOpError(
          "expects \"weft.metric\" on a result of a program of kind "
          "model, micro or eval, but got it on result ")
      << result;
  if (program)
    error << " of one of kind " << stringifyProgramKind(program.getKind());
  return error;
}

LogicalResult WeftDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned index,
                                                       NamedAttribute attr) {
  Rule rule = llvm::StringSwitch<Rule>(attr.getName())
                  .Case(kOutputAttr, isText)
                  .Case("weft.loss", isFinite)
                  .Case(kMetricAttr, isUnit)
                  .Default(nullptr);
  if (attr.getName() == kMetricAttr && failed(verifyMetric(op, index)))
    return failure();
  return verifyAttribute(op, " on result " + Twine(index), attr, rule);
}
