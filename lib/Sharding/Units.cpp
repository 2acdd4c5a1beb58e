//===- Units.cpp - Parameters that belong together ------------------------===//

#include "weft/Sharding/Units.h"

#include "weft/Base/Flags.h"
#include "weft/Support/ModulePath.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;

static bool isNumber(StringRef word) {
  return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
}

std::optional<UnitRule> weft::parseUnitRule(StringRef text) {
  if (text == "scope")
    return UnitRule();
  UnitRule rule;
  if (text.consume_front("bytes:"))
    rule.kind = UnitRule::Kind::Bytes;
  else if (text.consume_front("params:"))
    rule.kind = UnitRule::Kind::Params;
  else
    return std::nullopt;
  const bool isRead =
      rule.kind == UnitRule::Kind::Bytes
          ? parseByteCount(text.str(), rule.limit)
          : isNumber(text) && !text.getAsInteger(10, rule.limit);
  if (!isRead || rule.limit < 1)
    return std::nullopt;
  return rule;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

StringRef weft::getModulePath(ParamOp param) {
  if (std::optional<StringRef> scope = param.getScope())
    return *scope;
  StringRef name = param.getSymName();
  return name.contains('.') ? name.rsplit('.').first : StringRef();
}

StringSet<> weft::findAttentionModules(ModuleOp module) {
  StringSet<> paths;
  module.walk([&](AttentionOp op) {
    auto scope = op->getAttrOfType<StringAttr>(WeftDialect::kScopeAttr);
    if (scope && !getBlock(scope).empty() &&
        !isNumber(scope.getValue().rsplit('.').second))
      paths.insert(scope.getValue());
  });
  return paths;
}

/// A name that no other unit has: NAME, NAME.1, ...
static std::string makeUnique(StringRef name, StringSet<> &taken) {
  std::string unique = name.str();
  for (unsigned number = 1; !taken.insert(unique).second; ++number)
    unique = (name + "." + Twine(number)).str();
  return unique;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Parameters outside of blocks are grouped by the blocks between which they
/// are declared.
static std::vector<Unit> formBlocks(ArrayRef<ParamOp> params) {
  llvm::MapVector<std::pair<StringRef, unsigned>, Unit> units;
  StringSet<> taken;
  unsigned run = 0;
  bool inBlock = false;
  for (ParamOp param : params) {
    StringRef path = getModulePath(param), block = getBlock(path);
    if (inBlock && block.empty())
      ++run;
    inBlock = !block.empty();
    Unit &unit = units[{block, inBlock ? 0 : run}];
    if (unit.params.empty()) {
      StringRef name = inBlock ? block : path.split('.').first;
      unit.name = makeUnique(name.empty() ? param.getSymName() : name, taken);
    }
    unit.params.push_back(param);
  }
  std::vector<Unit> list;
  for (auto &entry : units)
    list.push_back(std::move(entry.second));
  return list;
}

static int64_t countBytes(RankedTensorType type) {
  return type.getNumElements() * (type.getElementTypeBitWidth() / 8);
}

static std::vector<Unit> formRuns(ArrayRef<ParamOp> params, int64_t limit) {
  std::vector<Unit> units;
  int64_t free = 0;
  for (ParamOp param : params) {
    int64_t bytes = countBytes(param.getTensorType());
    if (units.empty() || bytes > free) {
      units.push_back({"unit." + std::to_string(units.size()), {}});
      free = limit;
    }
    units.back().params.push_back(param);
    free -= std::min(bytes, free);
  }
  return units;
}

namespace {
/// The modules of a model as a tree.
struct Module {
  std::string path;
  llvm::MapVector<StringRef, std::unique_ptr<Module>> children;
  /// Numbers of the module's own parameters.
  SmallVector<unsigned> own;
};

/// Makes modules units by their size, without the parameters of inner units.
/// Modules in `whole` have no inner units, as FairScale's auto_wrap never
/// divides a MultiheadAttention.
class ModuleUnits {
public:
  /// Limits the recursion, because names may come from anywhere. Deeper paths
  /// are one module.
  static constexpr int kDeepest = 64;

  ModuleUnits(ArrayRef<ParamOp> params, int64_t limit, const StringSet<> &whole)
      : params(params), limit(limit), whole(whole), unitOf(params.size()) {}

  std::vector<Unit> run() {
    Module root;
    for (unsigned i = 0; i != params.size(); ++i)
      add(root, i);
    collect(root, /*isRoot=*/true);
    return list();
  }

private:
  void add(Module &root, unsigned number) {
    Module *module = &root;
    SmallVector<StringRef> words;
    getModulePath(params[number])
        .split(words, '.', kDeepest, /*KeepEmpty=*/false);
    for (StringRef word : words) {
      std::unique_ptr<Module> &child = module->children[word];
      if (!child) {
        child = std::make_unique<Module>();
        child->path =
            module->path.empty() ? word.str() : module->path + "." + word.str();
      }
      module = child.get();
    }
    module->own.push_back(number);
  }

  /// Whether the module is a list of blocks: its children are all numbers, and
  /// it has no own parameters.
  static bool isList(const Module &module) {
    return module.own.empty() &&
           llvm::all_of(module.children, [](const auto &child) {
             return isNumber(child.first);
           });
  }

  /// Whether the module contains blocks.
  static bool hasBlocks(const Module &module) {
    return llvm::any_of(module.children, [](const auto &child) {
      return isNumber(child.first) || hasBlocks(*child.second);
    });
  }

  static SmallVector<unsigned> listAll(const Module &module) {
    SmallVector<unsigned> all = module.own;
    for (const auto &child : module.children)
      llvm::append_range(all, listAll(*child.second));
    return all;
  }

  /// Makes the module a unit if it is large enough. Returns its parameters that
  /// no unit has taken.
  SmallVector<unsigned> collect(const Module &module, bool isRoot) {
    SmallVector<unsigned> left = module.own;
    const bool isWhole = whole.contains(module.path) && !hasBlocks(module);
    for (const auto &child : module.children)
      llvm::append_range(left, isWhole
                                   ? listAll(*child.second)
                                   : collect(*child.second, /*isRoot=*/false));
    int64_t elements = 0;
    for (unsigned i : left)
      elements += ParamOp(params[i]).getTensorType().getNumElements();
    if (isRoot || isList(module) || elements < limit)
      return left;
    for (unsigned i : left)
      unitOf[i] = module.path;
    return {};
  }

  std::vector<Unit> list() {
    llvm::MapVector<StringRef, Unit> units;
    StringSet<> taken;
    for (const std::string &path : unitOf)
      taken.insert(path);
    for (auto [param, path] : llvm::zip(params, unitOf)) {
      Unit &unit = units[path];
      if (unit.params.empty())
        unit.name = path.empty() ? makeUnique("root", taken) : path;
      unit.params.push_back(param);
    }
    std::vector<Unit> list;
    for (auto &entry : units)
      list.push_back(std::move(entry.second));
    return list;
  }

  ArrayRef<ParamOp> params;
  int64_t limit;
  const StringSet<> &whole;
  /// The path of each parameter's unit, "" for the root.
  std::vector<std::string> unitOf;
};
} // namespace

std::vector<Unit> weft::formUnits(ArrayRef<ParamOp> params, UnitRule rule,
                                  const StringSet<> &whole) {
  switch (rule.kind) {
  case UnitRule::Kind::Scope:
    return formBlocks(params);
  case UnitRule::Kind::Bytes:
    return formRuns(params, rule.limit);
  case UnitRule::Kind::Params:
    return ModuleUnits(params, rule.limit, whole).run();
  }
  llvm_unreachable("a rule without a case");
}
