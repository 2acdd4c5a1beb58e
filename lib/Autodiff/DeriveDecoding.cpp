//===- DeriveDecoding.cpp - Sampling with a cache of keys and values ------===//
//
// Program `logits` computes all positions of a window for one row of logits.
// `prefill` is the same program, and it keeps keys and values. `decode`
// computes one position.
//
//===----------------------------------------------------------------------===//

#include "DecodeProgram.h"

#include "weft/Abi/Names.h"
#include "weft/Autodiff/Passes.h"
#include "weft/Weft/Programs.h"

namespace weft {
#define GEN_PASS_DEF_DERIVEDECODINGPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Renames `logits` and lets it write keys and values.
static void makePrefill(ProgramOp logits, ArrayRef<AttentionCache> caches) {
  logits.setSymName(names::kPrefill);
  logits.setKind(ProgramKind::Prefill);
  ReturnOp end = logits.getTerminator();
  OpBuilder builder(end);
  SmallVector<Value> values;
  SmallVector<Attribute> targets;
  for (AttentionCache cache : caches)
    for (auto [rows, state] : {std::pair(cache.op.getKey(), cache.key),
                               std::pair(cache.op.getValue(), cache.value)}) {
      Value first = groupsFirst(builder, cache.op.getLoc(), rows);
      copyScope(cache.op, first.getDefiningOp());
      values.push_back(first);
      targets.push_back(FlatSymbolRefAttr::get(state.getSymNameAttr()));
    }
  end.getValuesMutable().assign(values);
  end.setTargetsAttr(builder.getArrayAttr(targets));
}

namespace {
struct DeriveDecodingPass
    : weft::impl::DeriveDecodingPassBase<DeriveDecodingPass> {
  using DeriveDecodingPassBase::DeriveDecodingPassBase;

  void runOnOperation() override {
    FailureOr<ProgramOp> logits =
        findOnlyProgram(getOperation(), ProgramKind::Logits);
    if (failed(logits) || (!*logits && failed(checkAbsence())))
      return signalPassFailure();
    if (!*logits)
      return;
    DecodeProgram decode(*logits, optional);
    if (succeeded(decode.build())) {
      makePrefill(*logits, decode.getCaches());
      numCaches += decode.getCaches().size();
    } else if (!optional) {
      signalPassFailure();
    }
  }

  LogicalResult checkAbsence() {
    if (optional)
      return success();
    return getOperation().emitError(
        "expects a program of kind logits (--kv-cache), but got none");
  }
};
} // namespace
