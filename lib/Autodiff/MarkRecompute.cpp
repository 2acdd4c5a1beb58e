//===- MarkRecompute.cpp - What the backward pass computes again ----------===//

#include "weft/Autodiff/Passes.h"

#include "SavedOps.h"

#include "weft/Autodiff/RecomputeChoices.h"
#include "weft/Support/ModulePath.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/MapVector.h"

namespace weft {
#define GEN_PASS_DEF_MARKRECOMPUTEPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Gives the ops of `count` blocks in a row the name of the first of them;
/// whether there are any.
static bool markBlocks(ProgramOp program, int64_t count) {
  llvm::MapVector<StringRef, StringAttr> segments; // by block
  StringAttr last;
  for (Operation &op : program.getBody().front()) {
    StringRef block = getBlock(getScope(&op));
    if (block.empty() || !mayRecompute(&op))
      continue;
    auto [segment, isNew] = segments.insert({block, last});
    if (isNew && (segments.size() - 1) % static_cast<size_t>(count) == 0)
      segment->second = StringAttr::get(op.getContext(), block);
    last = segment->second;
    op.setAttr(kRecomputeAttr, segment->second);
  }
  return !segments.empty();
}

/// Marks what the first choices that save `bytes` need of their segments;
/// whether there are any.
static bool markBytes(ModuleOp module, ProgramOp program, int64_t bytes) {
  RecomputeChoices choices = findRecomputeChoices(module);
  const size_t count = choices.countFor(bytes);
  llvm::DenseSet<StringRef> segments;
  llvm::DenseSet<Operation *> kept;
  for (auto [number, choice] : llvm::enumerate(choices.inOrder))
    if (number < count)
      segments.insert(choice.segment);
    else
      kept.insert(choice.op);
  for (const RecomputeChoice &choice : choices.kept)
    kept.insert(choice.op);
  for (Operation &op : program.getBody().front())
    if (mayRecompute(&op) && !kept.contains(&op) &&
        segments.contains(getSegment(&op)))
      op.setAttr(kRecomputeAttr,
                 StringAttr::get(op.getContext(), getSegment(&op)));
  return count > 0;
}

namespace {
struct MarkRecomputePass
    : weft::impl::MarkRecomputePassBase<MarkRecomputePass> {
  using MarkRecomputePassBase::MarkRecomputePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<RecomputeRule> parsed = parseRecomputeRule(rule);
    if (!parsed) {
      module.emitError("expects none, blocks, every:N or bytes:N with N of at "
                       "least 1, but got ")
          << rule.getValue();
      return signalPassFailure();
    }
    for (auto program : module.getOps<ProgramOp>())
      if (program.getKind() == ProgramKind::Micro)
        mark(program, *parsed);
  }

  void mark(ProgramOp program, RecomputeRule parsed) {
    if (parsed.blocks > 0 && !markBlocks(program, parsed.blocks))
      program.emitWarning("finds no blocks, which have a number in the scope "
                          "of their ops: nothing is computed again");
    if (parsed.bytes && !markBytes(getOperation(), program, *parsed.bytes))
      program.emitWarning("finds nothing that could be computed again: all "
                          "that the backward part reads is kept");
  }
};
} // namespace
