//===- TextScopes.cpp - Scopes of the ops of a text model -----------------===//

#include "TextScopes.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace weft {

namespace {
class ScopeNamer {
public:
  ScopeNamer(ModuleOp module, StringRef text) : symbols(module) {
    text.split(lines, '\n');
  }

  void name(ParamOp param);
  void name(Operation *op);

private:
  std::string scopeOf(Operation *op);
  std::string resultName(FileLineColLoc location);

  SymbolTable symbols;
  SmallVector<StringRef> lines;
};
} // namespace

/// "fc1" of "fc1.weight"; a name without a dot is its own.
void ScopeNamer::name(ParamOp param) {
  if (!param.getScope())
    param.setScope(param.getSymName().rsplit('.').first);
}

void ScopeNamer::name(Operation *op) {
  if (!getScope(op).empty())
    return;
  if (std::string scope = scopeOf(op); !scope.empty())
    setScope(op, StringAttr::get(op->getContext(), scope));
}

std::string ScopeNamer::scopeOf(Operation *op) {
  auto paramOf = [&](Operation *def) {
    auto read = dyn_cast_or_null<ReadOp>(def);
    return read ? symbols.lookup<ParamOp>(read.getSource()) : ParamOp();
  };
  if (ParamOp param = paramOf(op))
    return param.getScope()->str();
  for (Value operand : op->getOperands())
    if (ParamOp param = paramOf(operand.getDefiningOp()))
      return param.getScope()->str();
  auto location = dyn_cast<FileLineColLoc>(op->getLoc());
  if (!location || location.getLine() == 0)
    return "";
  std::string result = resultName(location);
  return result.empty() ? "line " + std::to_string(location.getLine()) : result;
}

/// "h" of `%h, %i = weft.op`: what stands before the op in its line. A number
/// is no name.
std::string ScopeNamer::resultName(FileLineColLoc location) {
  if (location.getLine() > lines.size() || location.getColumn() == 0)
    return "";
  StringRef before =
      lines[location.getLine() - 1].take_front(location.getColumn() - 1).trim();
  if (!before.consume_back("=") || !before.consume_front("%"))
    return "";
  StringRef name =
      before.take_until([](char c) { return c == ',' || c == ':'; }).trim();
  bool isNumber = name.find_first_not_of("0123456789") == StringRef::npos;
  return isNumber || name.contains(' ') ? "" : name.str();
}

void nameScopes(ModuleOp module, StringRef text) {
  ScopeNamer namer(module, text);
  for (ParamOp param : module.getOps<ParamOp>())
    namer.name(param);
  for (ProgramOp program : module.getOps<ProgramOp>())
    program.getBody().walk([&](Operation *op) {
      if (!op->hasTrait<OpTrait::IsTerminator>())
        namer.name(op);
    });
}

} // namespace weft
