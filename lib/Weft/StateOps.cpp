//===- StateOps.cpp - Parameters and other persistent state ---------------===//

#include "Parsing.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// param
//===----------------------------------------------------------------------===//

LogicalResult ParamOp::verify() {
  if (failed(verifyStatic(*this, getType())))
    return failure();
  if (!isa<FloatType>(getTensorType().getElementType()))
    return emitOpError("expects a floating-point element type, but got ")
           << getType();
  if (getTie() && getInit())
    return emitOpError("expects no init on a tied parameter, but got ")
           << getInitAttr();
  if (!getSegments())
    return success();
  for (Attribute other : {Attribute(getInitAttr()), Attribute(getTieAttr()),
                          Attribute(getSourceAttr())})
    if (other)
      return emitOpError("expects no init, tie or source on a parameter with "
                         "segments, but got ")
             << other;
  return success();
}

/// A parameter in a segment has no declaration of its own.
LogicalResult ParamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (const Segment &segment : getSegmentList()) {
    Operation *other = symbols.lookupNearestSymbolFrom(*this, segment.param);
    if (!other)
      continue;
    InFlightDiagnostic diag =
        emitOpError("expects segments that are declared nowhere else, but got ")
        << segment.param;
    diag.attachNote(other->getLoc()) << "declared here";
    return diag;
  }
  return verifySegmentUses(*this, symbols);
}

bool ParamOp::holdsParameters() { return true; }
StringAttr ParamOp::getSlotName() { return {}; }
FlatSymbolRefAttr ParamOp::getOwner() { return {}; }
SmallVector<Segment> ParamOp::getSegmentList() {
  return toSegments<SegmentAttr>(getSegmentsAttr());
}

//===----------------------------------------------------------------------===//
// state
//===----------------------------------------------------------------------===//

LogicalResult StateOp::verify() {
  if (failed(verifyStatic(*this, getType())))
    return failure();
  if (getKind() == StateKind::Param)
    return emitOpError("expects a kind of state, but got param: declare a "
                       "parameter with weft.param");
  if (getSegments() && getKind() == StateKind::Scaler)
    return emitOpError("expects no segments in a state of kind scaler");
  if (getKind() != StateKind::Presence)
    return success();
  if (getTensorType() !=
      RankedTensorType::get({}, Float32Type::get(getContext())))
    return emitOpError("expects tensor<f32> in a state of kind presence, but "
                       "got ")
           << getType();
  if (getParamAttr() || getSegments())
    return emitOpError("expects no param and no segments in a state of kind "
                       "presence, which parameters name");
  return success();
}

bool StateOp::holdsParameters() { return false; }
StringAttr StateOp::getSlotName() { return getSlotAttr(); }
SmallVector<Segment> StateOp::getSegmentList() {
  return toSegments<SegmentAttr>(getSegmentsAttr());
}

FlatSymbolRefAttr StateOp::getOwner() { return getParamAttr(); }

/// The presence of a gradient is a state of its own.
static LogicalResult verifyPresence(StateOp op,
                                    SymbolTableCollection &symbols) {
  auto presence =
      op->getAttrOfType<FlatSymbolRefAttr>(WeftDialect::kPresenceAttr);
  if (!presence)
    return success();
  if (op.getKind() != StateKind::Gradient)
    return op.emitOpError("expects weft.presence on a state of kind gradient, "
                          "but got kind ")
           << stringifyStateKind(op.getKind());
  auto state = symbols.lookupNearestSymbolFrom<StateOp>(op, presence);
  if (state && state.getKind() == StateKind::Presence)
    return success();
  return op.emitOpError("expects weft.presence to name a state of kind "
                        "presence, but got ")
         << presence;
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyPresence(*this, symbols)))
    return failure();
  return verifySegmentUses(*this, symbols);
}
