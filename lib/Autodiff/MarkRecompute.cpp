//===- MarkRecompute.cpp - Mark ops to recompute in backward --------------===//

#include "weft/Autodiff/Passes.h"

#include "SavedOps.h"

#include "weft/Autodiff/RecomputeChoices.h"
#include "weft/Support/ModulePath.h"
#include "weft/Weft/Precision.h"
#include "weft/Weft/Programs.h"

#include "llvm/ADT/MapVector.h"

namespace weft {
#define GEN_PASS_DEF_MARKRECOMPUTEPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Marks the ops of each `count` consecutive blocks with the name of the first
/// one. Returns whether the program has blocks.
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
    op.setAttr(WeftDialect::kRecomputeAttr, segment->second);
  }
  return !segments.empty();
}

/// A marked gelu adds the product before it to its segment. A gelu without such
/// a product is kept apart from all products, marked or not.
static void markGeluProducts(ProgramOp program) {
  for (GeluOp gelu : program.getBody().front().getOps<GeluOp>()) {
    SmallVector<Operation *, 3> parts = findGeluProduct(gelu);
    if (parts.empty() && gelu.getApproximate() == GeluKind::Tanh &&
        getElementTypeOrSelf(gelu.getType()).isF32())
      gelu->setAttr(WeftDialect::kApartAttr, UnitAttr::get(gelu.getContext()));
    if (Attribute segment = gelu->getAttr(WeftDialect::kRecomputeAttr))
      for (Operation *part : parts)
        part->setAttr(WeftDialect::kRecomputeAttr, segment);
  }
}

/// Marks the ops to recompute for the first choices that save `bytes`. Returns
/// false if there are no choices.
static bool markBytes(ModuleOp module, int64_t bytes, bool geluWithProduct) {
  std::optional<RecomputeChoices> choices =
      findRecomputeChoices(module, geluWithProduct);
  // weft-autodiff reports the reason.
  if (!choices)
    return true;
  const size_t count = choices->countFor(bytes);
  for (const RecomputeChoice &choice :
       ArrayRef(choices->inOrder).take_front(count))
    for (Operation *op : choice.again)
      if (!op->hasAttr(WeftDialect::kRecomputeAttr))
        op->setAttr(WeftDialect::kRecomputeAttr,
                    StringAttr::get(module.getContext(), choice.segment));
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
    FailureOr<ProgramOp> micro = findOnlyProgram(module, ProgramKind::Micro);
    if (failed(micro) || (*micro && failed(checkRegionsAreResolved(*micro))))
      return signalPassFailure();
    if (*micro)
      mark(*micro, *parsed);
  }

  void mark(ProgramOp program, RecomputeRule parsed) {
    if (parsed.blocks > 0 && !markBlocks(program, parsed.blocks))
      program.emitWarning("finds no blocks, which have a number in the scope "
                          "of their ops: it marks nothing");
    if (parsed.bytes &&
        !markBytes(getOperation(), *parsed.bytes, geluWithProduct))
      program.emitWarning("finds nothing that could be computed again: all "
                          "that the backward part reads is kept");
    if (geluWithProduct)
      markGeluProducts(program);
  }
};
} // namespace
