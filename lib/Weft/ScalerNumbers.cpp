//===- ScalerNumbers.cpp - The numbers of a loss scale --------------------===//

#include "weft/Weft/ScalerNumbers.h"

#include "weft/Weft/Weft.h"

#include <cmath>
#include <cstdio>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

ArrayRef<ScalerField> weft::getScalerFields() {
  static const ScalerField fields[] = {
      {"init", &ScalerNumbers::init},
      {"growth", &ScalerNumbers::growth},
      {"backoff", &ScalerNumbers::backoff},
      {"interval", &ScalerNumbers::interval},
      {"hysteresis", &ScalerNumbers::hysteresis},
      {"minimum", &ScalerNumbers::minimum},
      {"consecutive", &ScalerNumbers::consecutive},
  };
  return fields;
}

const ScalerField *weft::findScalerField(StringRef name) {
  for (const ScalerField &field : getScalerFields())
    if (field.name == name)
      return &field;
  return nullptr;
}

bool ScalerNumbers::operator==(const ScalerNumbers &other) const {
  return policy == other.policy &&
         llvm::all_of(getScalerFields(), [&](const ScalerField &field) {
           return std::visit(
               [&](auto member) { return this->*member == other.*member; },
               field.member);
         });
}

/// Equal numbers have equal bits, but for the two zeros.
static uint64_t bitsOf(double number) {
  return llvm::bit_cast<uint64_t>(number == 0 ? 0.0 : number);
}
static uint64_t bitsOf(int64_t number) { return number; }
static uint64_t bitsOf(bool flag) { return flag; }

llvm::hash_code weft::hash_value(const ScalerNumbers &numbers) {
  llvm::hash_code code(static_cast<size_t>(numbers.policy));
  for (const ScalerField &field : getScalerFields())
    std::visit(
        [&](auto member) {
          code = llvm::hash_combine(code, bitsOf(numbers.*member));
        },
        field.member);
  return code;
}

ArrayRef<StringRef> weft::getScalerPolicyNames() {
  static const SmallVector<StringRef> names = [] {
    SmallVector<StringRef> list;
    for (uint32_t i = 0; i <= getMaxEnumValForScalerPolicy(); ++i)
      list.push_back(stringifyScalerPolicy(static_cast<ScalerPolicy>(i)));
    return list;
  }();
  return names;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static bool parseNumber(StringRef text, double &number) {
  return !text.getAsDouble(number);
}
static bool parseNumber(StringRef text, int64_t &number) {
  return !text.getAsInteger(10, number);
}
static bool parseNumber(StringRef text, bool &flag) {
  flag = text == "true";
  return flag || text == "false";
}

static const char *ruleOf(double) { return "to be a number"; }
static const char *ruleOf(int64_t) { return "to be an integer"; }
static const char *ruleOf(bool) { return "to be true or false"; }

/// "init=4".
static std::optional<ScalerProblem> parseWord(StringRef word,
                                              ScalerNumbers &numbers) {
  auto [name, text] = word.split('=');
  const ScalerField *field = findScalerField(name);
  if (!field) {
    auto names = llvm::map_to_vector(
        getScalerFields(),
        [](const ScalerField &known) -> StringRef { return known.name; });
    return {{"a number of the loss scale", "to be " + spellChoices(names),
             name.str()}};
  }
  const char *rule = std::visit(
      [&, text = text](auto member) -> const char * {
        auto &number = numbers.*member;
        return parseNumber(text, number) ? nullptr : ruleOf(number);
      },
      field->member);
  if (rule)
    return {{name.str(), rule, text.str()}};
  return std::nullopt;
}

std::optional<ScalerProblem> weft::parseScaler(ArrayRef<std::string> words,
                                               ScalerNumbers &numbers) {
  if (words.empty())
    return std::nullopt;
  std::optional<ScalerPolicy> policy = symbolizeScalerPolicy(words.front());
  if (!policy)
    return {{"policy", "to be " + spellChoices(getScalerPolicyNames()),
             words.front()}};
  numbers = ScalerNumbers::getDefaults(*policy);
  for (const std::string &word : words.drop_front())
    if (std::optional<ScalerProblem> problem = parseWord(word, numbers))
      return problem;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Whether the policy counts overflows before it acts.
static bool hasHysteresis(ScalerPolicy policy) {
  return policy == ScalerPolicy::DeepSpeed ||
         policy == ScalerPolicy::ColossalAI;
}

ScalerNumbers ScalerNumbers::getDefaults(ScalerPolicy policy) {
  ScalerNumbers numbers;
  numbers.policy = policy;
  if (policy == ScalerPolicy::Torch)
    return numbers;
  numbers.interval = 1000;
  if (policy != ScalerPolicy::ColossalAI)
    numbers.minimum = 1.0;
  if (policy == ScalerPolicy::Mmcv)
    numbers.init = 4294967296.0;
  if (hasHysteresis(policy))
    numbers.hysteresis = 2;
  return numbers;
}

static ScalerProblem makeProblem(const char *name, const char *rule,
                                 double number) {
  char value[32];
  std::snprintf(value, sizeof value, "%.9g", number);
  return {name, rule, value};
}

/// Of the factors, as the update multiplies by them.
static std::optional<ScalerProblem> findWrongFactor(const ScalerNumbers &n) {
  const float growth = static_cast<float>(n.growth);
  const float backoff = static_cast<float>(n.backoff);
  if (!(growth > 1.0f) || !std::isfinite(growth))
    return makeProblem("growth", "to be finite in f32 and above 1", n.growth);
  if (!(backoff > 0.0f && backoff < 1.0f))
    return makeProblem("backoff", "to lie in (0, 1) in f32", n.backoff);
  return std::nullopt;
}

/// Of the steps that the update counts, and how.
static std::optional<ScalerProblem> findWrongCount(const ScalerNumbers &n) {
  if (n.interval < 1)
    return makeProblem("interval", "to be at least 1", n.interval);
  if (n.hysteresis < 1)
    return makeProblem("hysteresis", "to be at least 1", n.hysteresis);
  if (n.hysteresis > 1 && !hasHysteresis(n.policy))
    return makeProblem("hysteresis", "to be 1 with this policy", n.hysteresis);
  if (n.consecutive && n.policy != ScalerPolicy::DeepSpeed)
    return {{"consecutive", "to be false with this policy", "true"}};
  return std::nullopt;
}

/// Of the scale itself.
static std::optional<ScalerProblem> findWrongScale(const ScalerNumbers &n) {
  if (n.minimum != 0.0 && !toLossScale(n.minimum))
    return makeProblem("minimum",
                       "to be 0, or above 0 and finite in f32, as its inverse",
                       n.minimum);
  if (!toLossScale(n.init))
    return makeProblem("init", kScaleRule, n.init);
  if (n.init < n.minimum)
    return makeProblem("init", "to be at least the minimum", n.init);
  return std::nullopt;
}

std::optional<ScalerProblem> weft::findProblem(const ScalerNumbers &numbers) {
  if (std::optional<ScalerProblem> problem = findWrongFactor(numbers))
    return problem;
  if (std::optional<ScalerProblem> problem = findWrongCount(numbers))
    return problem;
  return findWrongScale(numbers);
}
