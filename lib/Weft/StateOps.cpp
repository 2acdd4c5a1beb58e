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

/// What lies in a segment is a parameter without a declaration of its own.
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
  if (getSegments() && getKind() == StateKind::Scaler)
    return emitOpError("expects no segments in a state of kind scaler");
  return success();
}

bool StateOp::holdsParameters() { return false; }
StringAttr StateOp::getSlotName() { return getSlotAttr(); }
SmallVector<Segment> StateOp::getSegmentList() {
  return toSegments<SegmentAttr>(getSegmentsAttr());
}

FlatSymbolRefAttr StateOp::getOwner() { return getParamAttr(); }

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySegmentUses(*this, symbols);
}
