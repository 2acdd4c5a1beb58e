//===- StoreDropoutBits.cpp - Store dropout bits of attention -------------===//

#include "weft/Autodiff/Passes.h"

#include "weft/Autodiff/StoreDropoutBits.h"
#include "weft/Weft/Programs.h"

#include "mlir/IR/Remarks.h"

namespace weft {
#define GEN_PASS_DEF_STOREDROPOUTBITSPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Attention that draws random numbers and does not store its bits, in order.
static SmallVector<AttentionOp> findDrawn(ProgramOp program) {
  SmallVector<AttentionOp> found;
  program.walk([&](AttentionOp op) {
    if (op.getRandomKey() && !op.getStoresBits())
      found.push_back(op);
  });
  return found;
}

static SmallVector<AttentionOp> findDrawn(ModuleOp module) {
  FailureOr<ProgramOp> micro = findOnlyProgram(module, ProgramKind::Micro);
  if (failed(micro) || !*micro)
    return {};
  return findDrawn(*micro);
}

bool weft::drawsInAttention(ModuleOp module) {
  return !findDrawn(module).empty();
}

void weft::storeDropoutBits(ModuleOp module) {
  for (AttentionOp op : findDrawn(module))
    op.replaceStoresBits(true);
}

static const auto kRemark =
    remark::RemarkOpts::name("dropout-bits").category("attention");

namespace {
struct StoreDropoutBitsPass
    : weft::impl::StoreDropoutBitsPassBase<StoreDropoutBitsPass> {
  using StoreDropoutBitsPassBase::StoreDropoutBitsPassBase;

  void store(AttentionOp op) {
    AttentionOp stored = op.replaceStoresBits(true);
    auto type = cast<RankedTensorType>(stored.getBits().getType());
    const int64_t bytes = type.getNumElements() * 4;
    ++numStored;
    remark::passed(stored.getLoc(), kRemark) << remark::add(
        "the forward pass stores {0} bytes of dropout bits, so the backward "
        "pass draws no random numbers",
        bytes);
  }

  void runOnOperation() override {
    FailureOr<ProgramOp> micro =
        findOnlyProgram(getOperation(), ProgramKind::Micro);
    if (failed(micro))
      return signalPassFailure();
    if (!*micro)
      return;
    for (AttentionOp op : findDrawn(*micro)) {
      if (stores) {
        store(op);
        continue;
      }
      ++numDrawn;
      remark::missed(op.getLoc(), kRemark)
          << "the backward pass draws the random numbers of dropout again "
             "(--dropout-bits=draw)";
    }
  }
};
} // namespace
