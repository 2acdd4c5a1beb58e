//===- Optimizers.cpp - The optimizers that there are ---------------------===//

#include "weft/Weft/Optimizers.h"

#include "weft/Abi/Names.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace weft;

using InfoList = SmallVector<const OptimizerInfo *>;
using NameSet = llvm::SmallSetVector<StringRef, 8>;

template <typename OpT> static void addOptimizer(InfoList &list) {
  if constexpr (OpT::template hasTrait<OptimizerOpInterface::Trait>())
    list.push_back(&OpT::getOptimizer());
}

template <typename... OpTs> static InfoList collectOptimizers() {
  InfoList list;
  (addOptimizer<OpTs>(list), ...);
  auto first = llvm::find_if(list, [](const OptimizerInfo *info) {
    return info->name == kDefaultOptimizer;
  });
  std::rotate(list.begin(), first, first + 1);
  return list;
}

ArrayRef<const OptimizerInfo *> weft::getOptimizers() {
  static const InfoList list = collectOptimizers<
#define GET_OP_LIST
#include "weft/Weft/WeftOps.cpp.inc"
      >();
  return list;
}

const OptimizerInfo *weft::findOptimizer(StringRef name) {
  for (const OptimizerInfo *info : getOptimizers())
    if (info->name == name)
      return info;
  return nullptr;
}

ArrayRef<StringRef> weft::getOptimizerNames() {
  static const auto names = llvm::map_to_vector(
      getOptimizers(), [](const OptimizerInfo *info) { return info->name; });
  return names;
}

std::string weft::spellOptimizers(StringRef quote) {
  return spellChoices(getOptimizerNames(), quote);
}

std::string weft::spellDefaultDecays() {
  SmallVector<std::pair<double, std::string>> groups;
  for (const OptimizerInfo *info : getOptimizers()) {
    auto group = llvm::find_if(groups, [&](const auto &known) {
      return known.first == info->defaultDecay;
    });
    if (group == groups.end())
      groups.push_back({info->defaultDecay, info->name.str()});
    else
      group->second += " and " + info->name.str();
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const auto &[decay, names] : groups)
    stream << (text.empty() ? "" : ", ") << llvm::format("%g", decay) << " for "
           << names;
  return text;
}

ArrayRef<StringRef> weft::getOptimizerNumbers() {
  static const NameSet names = [] {
    NameSet set;
    for (const OptimizerInfo *info : getOptimizers()) {
      set.insert_range(
          llvm::make_filter_range(info->numbers, [](StringRef number) {
            return number != names::kWeightDecay;
          }));
      set.insert(names::kWeightDecay);
    }
    return set;
  }();
  return names.getArrayRef();
}

/// "adamw_weight_decay"
static std::string getOwnDecayInput(const OptimizerInfo &optimizer) {
  return (optimizer.name + "_" + names::kWeightDecay).str();
}

std::string weft::getDecayInput(const OptimizerInfo &optimizer,
                                ArrayRef<const OptimizerInfo *> used) {
  bool isShared = llvm::all_of(used, [&](const OptimizerInfo *other) {
    return other->defaultDecay == optimizer.defaultDecay;
  });
  if (isShared || optimizer.defaultDecay == 0)
    return names::kWeightDecay;
  return getOwnDecayInput(optimizer);
}

bool weft::isDecayInput(StringRef name) {
  return name == names::kWeightDecay ||
         llvm::any_of(getOptimizers(), [&](const OptimizerInfo *info) {
           return name == getOwnDecayInput(*info);
         });
}

ArrayRef<StringRef> weft::getOptimizerKeys() {
  static const NameSet names = [] {
    NameSet set;
    set.insert_range(getOptimizerNumbers().drop_front());
    for (const OptimizerInfo *info : getOptimizers())
      set.insert_range(info->flags);
    return set;
  }();
  return names.getArrayRef();
}
