//===- MarkRecompute.cpp - What the backward pass computes again ----------===//

#include "weft/Autodiff/Passes.h"

#include "weft/Support/ModulePath.h"
#include "weft/Weft/Weft.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace weft {
#define GEN_PASS_DEF_MARKRECOMPUTEPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

std::optional<int64_t> weft::parseRecomputeRule(StringRef rule) {
  if (rule == "none")
    return 0;
  if (rule == "blocks")
    return 1;
  int64_t count = 0;
  if (!rule.consume_front("every:") || rule.getAsInteger(10, count) ||
      count < 1)
    return std::nullopt;
  return count;
}

/// Whether a second computation gives the same.
static bool mayRecompute(Operation *op) {
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         !isa<ReadOp>(op) && !op->hasTrait<OpTrait::ConstantLike>() &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

/// Gives the ops of `count` blocks in a row the name of the first of them;
/// whether there are any.
static bool mark(ProgramOp program, int64_t count) {
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

namespace {
struct MarkRecomputePass
    : weft::impl::MarkRecomputePassBase<MarkRecomputePass> {
  using MarkRecomputePassBase::MarkRecomputePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<int64_t> count = parseRecomputeRule(rule);
    if (!count) {
      module.emitError("expects none, blocks or every:N with N of at least 1, "
                       "but got ")
          << rule.getValue();
      return signalPassFailure();
    }
    if (*count > 0)
      for (auto program : module.getOps<ProgramOp>())
        if (program.getKind() == ProgramKind::Micro && !mark(program, *count))
          program.emitWarning("finds no blocks, which have a number in the "
                              "scope of their ops: nothing is computed again");
  }
};
} // namespace
