//===- Dist.cpp - The dist dialect ----------------------------------------===//

#include "weft/Dist/Dist.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::dist;

#include "weft/Dist/DistDialect.cpp.inc"
#include "weft/Dist/DistEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "weft/Dist/DistAttrs.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "weft/Dist/DistAttrs.cpp.inc"
      >();
}

void DistDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "weft/Dist/DistOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Placement placement, StringAttr axis) {
  bool isSharded = placement == Placement::Sharded;
  if (isSharded == bool(axis))
    return success();
  return emitError() << "expects an axis where a tensor is sharded and none "
                        "where it is replicated, but got "
                     << stringifyPlacement(placement) << " with "
                     << (axis ? "one" : "none");
}

/// A parameter has a rule before it lies in a flat one.
static LogicalResult verifyRule(Operation *op, Attribute value) {
  if (!isa<RuleAttr>(value))
    return op->emitOpError("expects dist.rule to be a #dist.rule, but got ")
           << value;
  auto param = dyn_cast<weft::SegmentedOpInterface>(op);
  if (!param || !param.holdsParameters() || param.isSegmented())
    return op->emitOpError(
        "expects dist.rule on a parameter outside of flat parameters");
  return success();
}

/// A layout says who holds what of a persistent tensor, along an axis of the
/// mesh.
static LogicalResult verifyLayout(Operation *op, Attribute value) {
  auto layout = dyn_cast<LayoutAttr>(value);
  if (!layout)
    return op->emitOpError("expects dist.layout to be a #dist.layout, but "
                           "got ")
           << value;
  if (!isa<weft::SegmentedOpInterface>(op))
    return op->emitOpError("expects dist.layout only on a parameter or state");
  MeshOp mesh = findMesh(op->getParentOfType<ModuleOp>());
  if (!mesh)
    return op->emitOpError("expects a dist.mesh in the module of a layout, but "
                           "there is none");
  if (!layout.isSharded() || mesh.hasAxis(layout.getAxis()))
    return success();
  InFlightDiagnostic error =
      op->emitOpError("expects an axis of the mesh, but got ");
  error << layout.getAxis();
  error.attachNote(mesh.getLoc()) << "the mesh";
  return error;
}

LogicalResult DistDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kLayoutAttr)
    return verifyLayout(op, attribute.getValue());
  if (attribute.getName() == kRuleAttr)
    return verifyRule(op, attribute.getValue());
  return op->emitOpError("expects only the attributes dist.layout and "
                         "dist.rule of this dialect, but got ")
         << attribute.getName();
}

LayoutAttr weft::dist::getLayout(Operation *state) {
  return state->getAttrOfType<LayoutAttr>(DistDialect::kLayoutAttr);
}

RuleAttr weft::dist::getRule(Operation *param) {
  return param->getAttrOfType<RuleAttr>(DistDialect::kRuleAttr);
}

bool weft::dist::isKeptWhole(Operation *param) {
  RuleAttr rule = getRule(param);
  return rule && rule.getPlacement() == Placement::Replicated;
}
