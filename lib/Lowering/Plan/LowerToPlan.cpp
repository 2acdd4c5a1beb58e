//===- LowerToPlan.cpp - From programs over values to plans ---------------===//

#include "weft/Lowering/Plan/Passes.h"

#include "ProgramLowering.h"

namespace weft {
#define GEN_PASS_DEF_LOWERTOPLANPASS
#include "weft/Lowering/Plan/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

static MemRefType getBufferType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// The same segments in words of the plan.
static ArrayAttr lowerSegments(ArrayAttr list) {
  if (!list)
    return {};
  MLIRContext *context = list.getContext();
  return ArrayAttr::get(
      context, llvm::map_to_vector(list, [&](Attribute attr) -> Attribute {
        Segment segment = cast<SegmentAttr>(attr).getSegment();
        return plan::SegmentAttr::get(context, segment.param, segment.shape,
                                      segment.begin, segment.end,
                                      segment.source);
      }));
}

static LogicalResult lowerParam(ParamOp param, OpBuilder &builder) {
  if (param.getTieAttr())
    return param.emitOpError("expects tied parameters to be one by now "
                             "(weft-tie-params), but got tie = @")
           << *param.getTie();
  plan::StateOp::create(
      builder, param.getLoc(),
      plan::StateKindAttr::get(builder.getContext(), StateKind::Param),
      param.getSymNameAttr(),
      TypeAttr::get(getBufferType(param.getTensorType())),
      builder.getBoolAttr(param.getTrainable()), FlatSymbolRefAttr(),
      param.getSourceAttr(), /*slot=*/StringAttr(),
      lowerSegments(param.getSegmentsAttr()), param.getSlicesAttr(),
      /*padded_rows=*/IntegerAttr(), /*offset=*/IntegerAttr());
  return success();
}

static void lowerState(StateOp state, OpBuilder &builder) {
  plan::StateOp::create(
      builder, state.getLoc(),
      plan::StateKindAttr::get(builder.getContext(), state.getKind()),
      state.getSymNameAttr(),
      TypeAttr::get(getBufferType(state.getTensorType())),
      builder.getBoolAttr(true), state.getParamAttr(),
      /*source=*/StringAttr(), state.getSlotAttr(),
      lowerSegments(state.getSegmentsAttr()), state.getSlicesAttr(),
      /*padded_rows=*/IntegerAttr(), /*offset=*/IntegerAttr());
}

namespace {
struct LowerToPlanPass : weft::impl::LowerToPlanPassBase<LowerToPlanPass> {
  using LowerToPlanPassBase::LowerToPlanPassBase;

  void runOnOperation() override {
    LoweringCounts counts;
    // States last: programs look up the types of the old declarations.
    if (failed(lowerPrograms(counts)) || failed(lowerStates()))
      return signalPassFailure();
    numCopies += counts.copies;
    numInPlace += counts.inPlace;
    numFolded += counts.folded;
  }

  LogicalResult lowerPrograms(LoweringCounts &counts) {
    OpBuilder builder(&getContext());
    SymbolTable symbols(getOperation());
    for (auto program :
         llvm::make_early_inc_range(getOperation().getOps<ProgramOp>())) {
      builder.setInsertionPoint(program);
      if (failed(ProgramLowering(program, symbols, builder).run(counts)))
        return failure();
      program.erase();
    }
    return success();
  }

  LogicalResult lowerStates() {
    OpBuilder builder(&getContext());
    for (Operation &op :
         llvm::make_early_inc_range(*getOperation().getBody())) {
      builder.setInsertionPoint(&op);
      auto param = dyn_cast<ParamOp>(op);
      auto state = dyn_cast<StateOp>(op);
      if (param && failed(lowerParam(param, builder)))
        return failure();
      if (state)
        lowerState(state, builder);
      if (param || state)
        op.erase();
    }
    return success();
  }
};
} // namespace
