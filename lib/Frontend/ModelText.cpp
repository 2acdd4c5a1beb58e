//===- ModelText.cpp - Models in the weft dialect -------------------------===//

#include "ConfigFields.h"
#include "LoadModel.h"
#include "weft/Base/CountText.h"
#include "weft/Base/InputFile.h"
#include "weft/Weft/Losses.h"
#include "weft/Weft/Programs.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace weft;

namespace {
/// Counts nested brackets outside strings and comments. Angle brackets are
/// counted apart: `->`, `>=` and friends are no brackets, and a stray `>` must
/// not lower the count of the others.
class BracketScan {
public:
  explicit BracketScan(llvm::StringRef text) : text(text) {}

  /// The line where the nesting passes the limit, or 0.
  unsigned findTooDeep() {
    while (position < text.size()) {
      if (!step())
        return line;
      ++position;
    }
    return 0;
  }

private:
  char peek(size_t offset) const {
    size_t index = position + offset;
    return index < text.size() ? text[index] : '\0';
  }

  /// Handles the character at `position`; false if the nesting is too deep.
  bool step() {
    switch (text[position]) {
    case '\n':
      ++line;
      return true;
    case '"':
      skipString();
      return true;
    case '/':
      if (peek(1) == '/')
        position = std::min(text.find('\n', position), text.size()) - 1;
      return true;
    case '(':
    case '[':
    case '{':
      return ++depth <= kMaxBracketDepth;
    case ')':
    case ']':
    case '}':
      depth -= depth > 0;
      return true;
    case '<':
      return peek(1) == '=' || ++angles <= kMaxBracketDepth;
    case '>':
      if (position == 0 || text[position - 1] != '-')
        angles -= angles > 0;
      return true;
    default:
      return true;
    }
  }

  void skipString() {
    for (++position; position < text.size(); ++position) {
      if (text[position] == '\\')
        ++position;
      else if (text[position] == '"' || text[position] == '\n')
        break;
    }
    if (position < text.size() && text[position] == '\n')
      ++line;
  }

  llvm::StringRef text;
  size_t position = 0;
  unsigned line = 1, depth = 0, angles = 0;
};
} // namespace

FailureOr<OwningOpRef<ModuleOp>> weft::parseText(llvm::StringRef text,
                                                 const std::string &path,
                                                 MLIRContext &context) {
  if (text.starts_with("ML\xefR")) {
    emitError(fileLocation(context, path, 0))
        << "expects a model as text, but got MLIR bytecode";
    return failure();
  }
  if (unsigned line = BracketScan(text).findTooDeep()) {
    emitError(fileLocation(context, path, line))
        << "expects at most " << kMaxBracketDepth
        << " nested brackets, but got more";
    return failure();
  }
  ParserConfig config(&context);
  // The lexer reads on until a zero byte.
  std::string terminated = text.str();
  // The lexer can report an error that the parser then steps over (a lone dot
  // behind an attribute): what was reported counts.
  bool reported = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    reported |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // on to the caller's handler
  });
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(terminated, config, path);
  if (!module || reported)
    return failure();
  return module;
}

FailureOr<OwningOpRef<ModuleOp>> weft::parseTextFile(const std::string &path,
                                                     MLIRContext &context) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return report(context, text.error());
  return parseText(*text, path, context);
}

/// A misspelt attribute would be kept without effect: names of other dialects
/// have a dot, all others must be attributes that the op has.
static LogicalResult checkAttributes(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (!isa_and_nonnull<WeftDialect>(op->getDialect()))
      return WalkResult::advance();
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (!attribute.getName().strref().contains('.')) {
        op->emitOpError("expects attributes that the op has, but got '")
            << attribute.getName().strref() << "'";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Optimizers update f32 alone. States are what passes declare.
static LogicalResult checkParameters(ModuleOp module) {
  for (StateOp state : module.getOps<StateOp>())
    return state.emitOpError(
        "expects no state in a model, which has only parameters and programs");
  for (ParamOp param : module.getOps<ParamOp>())
    if (param.getSegments())
      return param.emitOpError("expects no segments in a model, whose "
                               "parameters later phases make flat");
  for (ParamOp param : module.getOps<ParamOp>())
    if (Type type = param.getTensorType().getElementType(); !type.isF32())
      return param.emitOpError("does not support parameters of type ")
             << type << " yet; declare it f32 and cast it where it is read";
  return success();
}

/// The only program of kind `model`.
static FailureOr<ProgramOp> findModel(ModuleOp module, Location fileLoc) {
  for (ProgramOp program : module.getOps<ProgramOp>())
    if (program.getKind() != ProgramKind::Logits &&
        program.getKind() != ProgramKind::Model &&
        program.getKind() != ProgramKind::Predict)
      return program.emitOpError("expects kind model, logits or predict in a "
                                 "model, but got ")
             << stringifyProgramKind(program.getKind());
  FailureOr<ProgramOp> model = findOnlyProgram(module, ProgramKind::Model);
  if (succeeded(model) && !*model)
    return emitError(fileLoc,
                     "expects one program of kind model, but got none");
  return model;
}

/// Samples need to know how many tokens there are.
static LogicalResult checkLogits(ModuleOp module) {
  for (ProgramOp program : module.getOps<ProgramOp>())
    if (program.getKind() == ProgramKind::Logits &&
        !module->hasAttr("weft.vocab"))
      return program.emitOpError(
          "expects weft.vocab and weft.seq on the module "
          "of a program of kind logits, but got none");
  return success();
}

/// The common first size of the inputs.
static FailureOr<int64_t> findBatch(ProgramOp model) {
  std::optional<int64_t> batch;
  for (auto [index, type] : llvm::enumerate(model.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    StringRef name = model.getInputName(index);
    if (!tensor || tensor.getRank() == 0)
      return model.emitOpError("expects input '")
             << name << "' to have rows as its first dimension, but got "
             << type;
    if (batch.value_or(tensor.getDimSize(0)) != tensor.getDimSize(0))
      return model.emitOpError("expects input '")
             << name << "' to have " << countText(*batch, "row")
             << " like the inputs before it, but got " << type;
    batch = tensor.getDimSize(0);
  }
  if (batch)
    return *batch;
  return model.emitOpError("expects at least one input, but got none");
}

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

/// Gives a scope to every parameter and op without one, so that reports can
/// name the source of a command. The scope of a parameter is its name up to the
/// last dot. The scope of an op is the scope of a parameter that it reads, else
/// its result name in the text, else its line. `text` is the source text of the
/// module.
static void nameScopes(ModuleOp module, StringRef text) {
  ScopeNamer namer(module, text);
  for (ParamOp param : module.getOps<ParamOp>())
    namer.name(param);
  for (ProgramOp program : module.getOps<ProgramOp>())
    program.getBody().walk([&](Operation *op) {
      if (!op->hasTrait<OpTrait::IsTerminator>())
        namer.name(op);
    });
}

FailureOr<OwningOpRef<ModuleOp>>
weft::loadModelText(const std::string &path, const FrontendOptions &options,
                    MLIRContext &context) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return report(context, text.error());
  FailureOr<OwningOpRef<ModuleOp>> module = parseText(*text, path, context);
  if (failed(module) || failed(checkAttributes(**module)) ||
      failed(checkParameters(**module)) || failed(checkLogits(**module)))
    return failure();
  FailureOr<ProgramOp> model =
      findModel(**module, fileLocation(context, path, 0));
  if (failed(model) || failed(findModelOutputs(*model)))
    return failure();
  FailureOr<int64_t> batch = findBatch(*model);
  if (failed(batch))
    return failure();
  if (options.batch.value_or(*batch) != *batch)
    return model->emitOpError("expects --batch=")
           << *batch << ", the rows of its inputs, but got " << *options.batch;
  if (options.seq)
    return model->emitOpError("expects no --seq for a model whose text states "
                              "its shapes, but got ")
           << *options.seq;
  if (!options.ignoreFields.empty())
    return model->emitOpError("expects no --ignore-field for a model of text, "
                              "which has no fields, but got ")
           << options.ignoreFields.front();
  nameScopes(**module, *text);
  Builder b(&context);
  if (!(*module)->getSymName())
    (*module)->setSymName("model");
  (*module)->getOperation()->setAttr("weft.family", b.getStringAttr("mlir"));
  (*module)->getOperation()->setAttr("weft.batch", b.getI64IntegerAttr(*batch));
  return module;
}
