//===- ProgramPorts.cpp - Inputs and outputs of programs ------------------===//

#include "weft/Formats/ProgramPorts.h"

#include "weft/Abi/Names.h"

using namespace weft;

const std::vector<std::string_view> &weft::programKinds() {
  static const std::vector<std::string_view> kinds = {
      names::kInit,   names::kMicro,   names::kApply,        names::kEval,
      names::kLogits, names::kRefresh, names::kDenominators, names::kPrefill,
      names::kDecode, names::kPredict};
  return kinds;
}

bool weft::readsData(std::string_view kind) {
  return kind == names::kMicro || kind == names::kEval ||
         kind == names::kDenominators || kind == names::kPredict;
}

bool weft::givesRows(std::string_view kind) { return kind == names::kPredict; }

bool weft::givesLogits(std::string_view kind) {
  return kind == names::kLogits || kind == names::kPrefill ||
         kind == names::kDecode;
}

const std::vector<PortRule> &weft::inputRules() {
  static const std::vector<PortRule> rules = {
      {names::kInit, names::kSeed, "i64", 0},
      {names::kMicro, names::kLossSeed, "f32", 0},
      {names::kMicro, names::kAccumulate, "f32", 0},
      {names::kMicro, names::kRng, "i64", 2},
      {names::kDenominators, names::kAccumulate, "f32", 0},
      {names::kDenominators, names::kBatchShare, "f64", 0},
      {names::kApply, names::kLr, "f64", 0},
      {names::kApply, names::kBeta1, "f64", 0},
      {names::kApply, names::kBeta2, "f64", 0},
      {names::kApply, names::kEps, "f64", 0},
      {names::kApply, names::kWeightDecay, "f64", 0},
      {names::kApply, names::kMomentum, "f64", 0},
      {names::kApply, names::kMaxNorm, "f64", 0},
      {"", names::kRank, "i64", 0}};
  return rules;
}

const std::vector<PortRule> &weft::outputRules() {
  static const std::vector<PortRule> rules = {
      {names::kMicro, names::kLoss, "f32", 0},
      {names::kEval, names::kLoss, "f32", 0},
      {names::kApply, names::kGradNorm, "f64", 0},
      {names::kApply, names::kFoundInf, "i1", 0},
      {names::kApply, names::kLossScale, "f32", 0},
      {names::kApply, names::kScaleExhausted, "i1", 0},
      {names::kApply, names::kNoTargets, "i1", 0}};
  return rules;
}

static bool isOf(const PortRule &rule, std::string_view kind) {
  return *rule.kind == '\0' || rule.kind == kind;
}

static const PortRule *findRule(const std::vector<PortRule> &rules,
                                std::string_view kind, std::string_view name) {
  for (const PortRule &rule : rules)
    if (isOf(rule, kind) && rule.name == name)
      return &rule;
  return nullptr;
}

const PortRule *weft::findInputRule(std::string_view kind,
                                    std::string_view name) {
  return findRule(inputRules(), kind, name);
}

const PortRule *weft::findOutputRule(std::string_view kind,
                                     std::string_view name) {
  const std::string_view prefix = names::kFoundInfOf;
  if (name.size() > prefix.size() && name.substr(0, prefix.size()) == prefix)
    name = names::kFoundInf;
  return findRule(outputRules(), kind, name);
}

bool weft::isFilledByHost(std::string_view name) {
  return findInputRule(names::kMicro, name) ||
         findInputRule(names::kDenominators, name);
}

std::string weft::spellNames(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0                  ? "'"
             : i + 1 == names.size() ? " or '"
                                     : ", '") +
            names[i] + "'";
  return text.empty() ? "none" : text;
}

std::vector<std::string> weft::namesOfRules(const std::vector<PortRule> &rules,
                                            std::string_view kind) {
  std::vector<std::string> names;
  for (const PortRule &rule : rules)
    if (isOf(rule, kind))
      names.push_back(rule.name);
  return names;
}
