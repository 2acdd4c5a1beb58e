//===- DialectAttributes.cpp - Discardable attributes of weft -------------===//
//
// Every attribute `weft.NAME` that passes put on ops has its rule here. A name
// without a rule is an error: it would be kept without effect.
//
//===----------------------------------------------------------------------===//

#include "weft/Weft/ScalerNumbers.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace weft;

/// What an attribute has to be; null if `attr` is that.
using Rule = const char *(*)(Attribute attr);

static const char *isText(Attribute attr) {
  return isa<StringAttr>(attr) ? nullptr : "text";
}
static const char *isInteger(Attribute attr) {
  return isa<IntegerAttr>(attr) ? nullptr : "an integer";
}
static const char *isIntegers(Attribute attr) {
  return isa<DenseI64ArrayAttr>(attr) ? nullptr : "array<i64>";
}
static const char *isArray(Attribute attr) {
  return isa<ArrayAttr>(attr) ? nullptr : "an array";
}
static const char *isDictionary(Attribute attr) {
  return isa<DictionaryAttr>(attr) ? nullptr : "a dictionary";
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
  auto text = dyn_cast<StringAttr>(attr);
  bool known =
      text && llvm::is_contained({"adamw", "adam", "sgd"}, text.getValue());
  return known ? nullptr : "\"adamw\", \"adam\" or \"sgd\"";
}

/// Hyper-parameters of a group.
static const char *isNumbers(Attribute attr) {
  const char *rule = "a dictionary of momentum, beta1, beta2, eps and "
                     "weight_decay as f64 and nesterov as a bool";
  auto numbers = dyn_cast<DictionaryAttr>(attr);
  if (!numbers)
    return rule;
  for (NamedAttribute number : numbers) {
    StringRef name = number.getName();
    if (name == "nesterov" ? !isa<BoolAttr>(number.getValue())
                           : isFinite(number.getValue()) != nullptr)
      return rule;
    if (!llvm::is_contained(
            {"momentum", "beta1", "beta2", "eps", "weight_decay", "nesterov"},
            name))
      return rule;
  }
  return nullptr;
}

/// The numbers of weft.scaler_update, which checks their values.
static const char *isScaler(Attribute attr) {
  const char *rule =
      "a dictionary of policy, growth, backoff and minimum as f64, interval "
      "and hysteresis as i64, and, if it is there, consecutive as a bool";
  auto numbers = dyn_cast<DictionaryAttr>(attr);
  if (!numbers || !numbers.getAs<ScalerPolicyAttr>("policy") ||
      numbers.size() != (numbers.getAs<BoolAttr>("consecutive") ? 7 : 6))
    return rule;
  for (StringRef name : {"growth", "backoff", "minimum"})
    if (auto number = numbers.getAs<FloatAttr>(name);
        !number || !number.getType().isF64())
      return rule;
  for (StringRef name : {"interval", "hysteresis"})
    if (auto number = numbers.getAs<IntegerAttr>(name);
        !number || !number.getType().isInteger(64))
      return rule;
  return nullptr;
}

/// The rule of an attribute of an op; null for an unknown name.
static Rule getRule(StringRef name) {
  return llvm::StringSwitch<Rule>(name)
      .Cases({"scope", "impl", "schedule", "family", "fingerprint",
              "config_text", "metadata", "optimizer_group"},
             isText)
      .Cases({"batch", "seq", "vocab", "extent", "grain", "tile"}, isInteger)
      .Cases({"saved", "sizes"}, isIntegers)
      .Cases({"inplace", "loops", "weights", "tokenizer_files"}, isArray)
      .Cases({"config", "options"}, isDictionary)
      .Cases({"lr_scale", "decay_scale"}, isFinite)
      .Case("folded", isUnit)
      .Case("optimizer", isOptimizer)
      .Case("numbers", isNumbers)
      .Case("scaler", isScaler)
      .Default(nullptr);
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
  return verifyAttribute(op, "", attr, getRule(withoutDialect(attr)));
}

LogicalResult WeftDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned index,
                                                    NamedAttribute attr) {
  Rule rule = attr.getName() == kInputAttr ? isText : nullptr;
  return verifyAttribute(op, " on argument " + Twine(index), attr, rule);
}

LogicalResult WeftDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned index,
                                                       NamedAttribute attr) {
  Rule rule = llvm::StringSwitch<Rule>(attr.getName())
                  .Case(kOutputAttr, isText)
                  .Case("weft.loss", isFinite)
                  .Default(nullptr);
  return verifyAttribute(op, " on result " + Twine(index), attr, rule);
}
