//===- PlanAttributes.cpp - Discardable attributes of plan ----------------===//
//
// Every attribute `plan.NAME` that passes put on modules has its rule here. A
// name without a rule is an error: it would be kept without effect.
//
//===----------------------------------------------------------------------===//

#include "weft/Plan/Plan.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace weft;

/// Returns the rule that `attr` breaks, or null.
using Rule = const char *(*)(Attribute attr);

static bool isInside(Attribute attr, int64_t least, int64_t most) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number && number.getType().isInteger(64) && number.getInt() >= least &&
         number.getInt() <= most;
}

/// The address space of a process.
static const char *isBytes(Attribute attr) {
  return isInside(attr, 0, int64_t(1) << 47) ? nullptr
                                             : "an i64 from 0 to 2^47";
}

static const char *isAlignment(Attribute attr) {
  bool isPower = isInside(attr, 1, int64_t(1) << 47) &&
                 llvm::isPowerOf2_64(cast<IntegerAttr>(attr).getInt());
  return isPower ? nullptr : "an i64 that is a power of two up to 2^47";
}

static const char *isThreads(Attribute attr) {
  return isInside(attr, 1, int64_t(1) << 31) ? nullptr
                                             : "an i64 from 1 to 2^31";
}

/// The limits of maxCTAs of NCCL.
static const char *isCtas(Attribute attr) {
  return isInside(attr, 1, 64) ? nullptr : "an i64 from 1 to 64";
}

static bool isSpeed(StringRef name, double value) {
  if (name == "slows_compute_across")
    return value >= 0 && value < 1;
  return value > 0 && std::isfinite(value) &&
         (name != "slows_compute" || value < 1);
}

static const char *isSpeeds(Attribute attr) {
  auto speeds = dyn_cast<DictionaryAttr>(attr);
  bool known = speeds && llvm::all_of(speeds, [](NamedAttribute speed) {
                 auto number = dyn_cast<FloatAttr>(speed.getValue());
                 return number && isSpeed(speed.getName().strref(),
                                          number.getValueAsDouble());
               });
  return known ? nullptr
               : "a dictionary of finite numbers above 0 (slows_compute: below "
                 "1, slows_compute_across: from 0 to below 1)";
}

/// The rule of an attribute; null for an unknown name.
static Rule getRule(StringRef name) {
  return llvm::StringSwitch<Rule>(name)
      .Cases({"arena_bytes", "constant_bytes", "persistent_bytes",
              "staging_bytes"},
             isBytes)
      .Case("alignment", isAlignment)
      .Case("max_threads", isThreads)
      .Case("speeds", isSpeeds)
      .Case("collective_ctas", isCtas)
      .Default(nullptr);
}

LogicalResult plan::PlanDialect::verifyOperationAttribute(Operation *op,
                                                          NamedAttribute attr) {
  Rule rule =
      getRule(attr.getName().strref().drop_front(StringRef("plan.").size()));
  if (!rule)
    return op->emitOpError("expects no attribute ")
           << attr.getName() << ": plan has none of that name";
  if (!isa<ModuleOp>(op))
    return op->emitOpError("expects ")
           << attr.getName() << " on a module, where it has an effect";
  if (const char *expected = rule(attr.getValue()))
    return op->emitOpError("expects ")
           << attr.getName() << " to be " << expected << ", but got "
           << attr.getValue();
  return success();
}
