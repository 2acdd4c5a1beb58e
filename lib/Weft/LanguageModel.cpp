//===- LanguageModel.cpp - Sizes of a language model ----------------------===//
//
// The runtime relies on these rules for a module with `weft.vocab` and
// `weft.seq`: the inputs of its programs and their types.
//
//===----------------------------------------------------------------------===//

#include "Parsing.h"

#include "weft/Abi/Names.h"

using namespace mlir;
using namespace weft;

namespace {
class SizeCheck {
public:
  SizeCheck(ModuleOp module, int64_t vocab, int64_t seq)
      : module(module), b(module.getContext()), vocab(vocab), seq(seq) {}

  LogicalResult run() {
    for (auto program : module.getOps<ProgramOp>()) {
      // The module is verified before its ops. An op without its own attributes
      // is reported by that op.
      if (!program.getKindAttr() || !program.getSymNameAttr() ||
          !program.getFunctionTypeAttr())
        continue;
      ProgramKind kind = program.getKind();
      const bool readsRows =
          kind == ProgramKind::Model || kind == ProgramKind::Predict;
      if (readsRows && failed(checkModel(program)))
        return failure();
      if (kind == ProgramKind::Logits && failed(checkLogits(program)))
        return failure();
    }
    return success();
  }

private:
  LogicalResult checkModel(ProgramOp program);
  LogicalResult checkLogits(ProgramOp program);
  LogicalResult checkInput(ProgramOp program, StringRef name, Type type);

  ModuleOp module;
  Builder b;
  int64_t vocab, seq;
};
} // namespace

/// The name of an argument or result; "" if it has none.
static StringRef nameOf(ArrayAttr attrs, unsigned index, StringRef key) {
  if (!attrs || index >= attrs.size())
    return "";
  auto dictionary = dyn_cast<DictionaryAttr>(attrs[index]);
  auto name = dictionary ? dictionary.getAs<StringAttr>(key) : StringAttr();
  return name ? name.getValue() : "";
}

LogicalResult SizeCheck::checkModel(ProgramOp program) {
  for (auto [i, type] : llvm::enumerate(program.getArgumentTypes())) {
    StringRef name =
        nameOf(program.getArgAttrsAttr(), i, WeftDialect::kInputAttr);
    if (name != names::kTokens && name != names::kTargets)
      return program.emitOpError("expects inputs 'tokens' and 'targets' in a "
                                 "language model, but got '")
             << name << "'";
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() != 2 || tensor.getDimSize(1) != seq ||
        !tensor.getElementType().isInteger(32))
      return program.emitOpError("expects input '")
             << name << "' of rows of " << seq << " i32 (weft.seq), but got "
             << type;
  }
  return success();
}

LogicalResult SizeCheck::checkInput(ProgramOp program, StringRef name,
                                    Type type) {
  for (auto [i, own] : llvm::enumerate(program.getArgumentTypes())) {
    if (nameOf(program.getArgAttrsAttr(), i, WeftDialect::kInputAttr) != name)
      continue;
    if (own == type)
      return success();
    return program.emitOpError("expects input '")
           << name << "' of type " << type << ", but got " << own;
  }
  return program.emitOpError("expects input '")
         << name << "' of type " << type << ", but got none";
}

LogicalResult SizeCheck::checkLogits(ProgramOp program) {
  if (program.getSymName() != names::kLogits)
    return program.emitOpError("expects the name @logits for a program of kind "
                               "logits, but got @")
           << program.getSymName();
  Type i32 = b.getI32Type();
  if (failed(checkInput(program, names::kTokens,
                        RankedTensorType::get({1, seq}, i32))) ||
      failed(checkInput(program, names::kPosition,
                        RankedTensorType::get({1}, i32))))
    return failure();
  Type row = RankedTensorType::get({1, vocab}, b.getF32Type());
  for (auto [i, own] : llvm::enumerate(program.getResultTypes())) {
    if (nameOf(program.getResAttrsAttr(), i, WeftDialect::kOutputAttr) !=
        names::kLogits)
      continue;
    // Gradients are checked in f64.
    if (own == row || own == RankedTensorType::get({1, vocab}, b.getF64Type()))
      return success();
    return program.emitOpError("expects output 'logits' of type ")
           << row << " (weft.vocab), but got " << own;
  }
  return program.emitOpError("expects output 'logits' of type ")
         << row << " (weft.vocab), but got none";
}

LogicalResult weft::verifyLanguageModel(ModuleOp module) {
  auto vocab = module->getAttrOfType<IntegerAttr>(kVocabAttr);
  auto seq = module->getAttrOfType<IntegerAttr>(kSeqAttr);
  if (!vocab || !seq)
    return module.emitError("expects ")
           << kVocabAttr << " and " << kSeqAttr << " together, but got "
           << (vocab ? kVocabAttr : kSeqAttr) << " alone";
  return SizeCheck(module, vocab.getInt(), seq.getInt()).run();
}
