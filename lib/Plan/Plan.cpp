//===- Plan.cpp - The plan dialect and its structure ops ------------------===//

#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llvm;

#include "weft/Plan/PlanDialect.cpp.inc"
#include "weft/Plan/PlanEnums.cpp.inc"
#include "weft/Plan/PlanInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "weft/Plan/PlanAttrs.cpp.inc"

namespace weft::plan {

//===----------------------------------------------------------------------===//
// SegmentAttr
//===----------------------------------------------------------------------===//

Attribute SegmentAttr::parse(AsmParser &parser, Type) {
  return parseSegmentAttr<SegmentAttr>(parser);
}

void SegmentAttr::print(AsmPrinter &printer) const {
  printSegment(printer, getSegment());
}

LogicalResult
SegmentAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    FlatSymbolRefAttr, ArrayRef<int64_t> shape, int64_t begin,
                    int64_t end, StringAttr) {
  return verifySegment(emitError, shape, begin, end);
}

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

void PlanDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "weft/Plan/PlanAttrs.cpp.inc"
      >();
}

void PlanDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "weft/Plan/PlanOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "weft/Plan/PlanTransferOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "weft/Plan/PlanCollectiveOps.cpp.inc"
      >();
}

/// Whether the bytes of a buffer fit, with its dense strides.
static bool fitsMemory(MemRefType type) {
  int64_t bytes = getElementBytes(type);
  for (int64_t dim : type.getShape())
    if (llvm::MulOverflow(bytes, std::max<int64_t>(dim, 1), bytes))
      return false;
  return bytes <= kMostBufferBytes;
}

/// A root buffer is dense from its first byte.
LogicalResult verifyRoot(Operation *op, MemRefType type) {
  if (!type.hasStaticShape())
    return op->emitOpError("expects static sizes, but got ") << type;
  if (is_contained(type.getShape(), 0))
    return op->emitOpError("expects sizes of at least 1, but got ") << type;
  if (!type.getLayout().isIdentity())
    return op->emitOpError("expects a dense buffer, but got ") << type;
  if (!fitsMemory(type))
    return op->emitOpError("expects a buffer of at most 2^44 bytes, but got ")
           << type;
  return success();
}

/// A gradient may have more rows in memory than in its shape.
static LogicalResult verifyPaddedRows(StateOp state) {
  IntegerAttr padded = state.getPaddedRowsAttr();
  if (!padded)
    return success();
  if (state.getKind() != StateKind::Gradient)
    return state.emitOpError("expects padded_rows on a gradient alone, but got "
                             "a state of kind ")
           << stringifyStateKind(state.getKind());
  MemRefType type = state.getBufferType();
  const int64_t rows = type.getRank() == 0 ? 0 : type.getDimSize(0);
  if (padded.getInt() > rows && padded.getInt() <= 2 * rows)
    return success();
  return state.emitOpError("expects padded_rows of more rows than ")
         << type << " has, and at most twice as many, but got "
         << padded.getInt();
}

LogicalResult StateOp::verify() {
  if (failed(verifyRoot(*this, getBufferType())) ||
      failed(verifyPaddedRows(*this)))
    return failure();
  if (getSegments() && getKind() == StateKind::Scaler)
    return emitOpError("expects no segments in a state of kind scaler");
  if (getSegments() && getSource())
    return emitOpError("expects no source on a state with segments, but got ")
           << getSourceAttr();
  return success();
}

MemRefType StateOp::getStorageType() {
  MemRefType type = getBufferType();
  IntegerAttr padded = getPaddedRowsAttr();
  if (!padded || type.getRank() == 0 || padded.getInt() <= type.getDimSize(0))
    return type;
  SmallVector<int64_t> sizes(type.getShape());
  sizes.front() = padded.getInt();
  return MemRefType::get(sizes, type.getElementType());
}

bool StateOp::holdsParameters() { return getKind() == StateKind::Param; }
StringAttr StateOp::getSlotName() { return getSlotAttr(); }
FlatSymbolRefAttr StateOp::getOwner() { return getParamAttr(); }
SmallVector<Segment> StateOp::getSegmentList() {
  return toSegments<SegmentAttr>(getSegmentsAttr());
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySegmentUses(*this, symbols);
}

LogicalResult InputOp::verify() {
  return verifyRoot(*this, cast<MemRefType>(getBuffer().getType()));
}

LogicalResult AllocOp::verify() {
  auto type = cast<MemRefType>(getBuffer().getType());
  bool isWorkspace = getRole() == Role::Workspace;
  if (type.getElementType().isInteger(8) != isWorkspace)
    return emitOpError("expects ")
           << (isWorkspace ? "i8 for a workspace" : "a workspace for i8")
           << ", but got " << stringifyRole(getRole()) << " : " << type;
  return verifyRoot(*this, type);
}

LogicalResult OutputOp::verify() {
  auto type = cast<MemRefType>(getBuffer().getType());
  if (!Layout::get(type).isDense())
    return emitOpError("expects a dense buffer, but got ") << type;
  return success();
}

LogicalResult UseOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *module = (*this)->getParentOp()->getParentOp();
  auto state = symbols.lookupSymbolIn<StateOp>(module, getStateAttr());
  if (!state)
    return emitOpError("expects a state of the module, but got @")
           << getState();
  // A state behind the program has not been verified yet.
  TypeAttr known = state.getTypeAttr();
  if (!known || !isa<MemRefType>(known.getValue()))
    return emitOpError("expects a state with a type, but got @") << getState();
  MemRefType type = state.getStorageType();
  if (type == getBuffer().getType())
    return success();
  InFlightDiagnostic error = emitOpError("expects the type of the state, ")
                             << type << ", but got " << getBuffer().getType();
  error.attachNote(state.getLoc()) << "declared here";
  return error;
}

LogicalResult ViewOp::verify() {
  if (getSource().getDefiningOp<ViewOp>())
    return emitOpError("expects a root buffer, but got a view");
  auto source = cast<MemRefType>(getSource().getType());
  auto view = cast<MemRefType>(getView().getType());
  if (source.getElementType() != view.getElementType())
    return emitOpError("expects element type ")
           << source.getElementType() << ", but got " << view.getElementType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!view.hasStaticShape() ||
      failed(view.getStridesAndOffset(strides, offset)) ||
      is_contained(strides, ShapedType::kDynamic) ||
      offset == ShapedType::kDynamic)
    return emitOpError("expects a static strided layout, but got ") << view;
  if (is_contained(view.getShape(), 0))
    return emitOpError("expects sizes of at least 1, but got ") << view;
  int64_t first = offset, last = offset;
  bool fits = fitsMemory(view) && fitsMemory(source);
  for (auto [size, stride] : zip(view.getShape(), strides)) {
    int64_t way, &end = stride < 0 ? first : last;
    fits = fits && !llvm::MulOverflow(size - 1, stride, way) &&
           !llvm::AddOverflow(end, way, end);
  }
  if (!fits)
    return emitOpError("expects sizes and strides within 2^44 bytes, but got ")
           << view;
  if (first >= 0 && last < source.getNumElements())
    return success();
  return emitOpError("expects elements inside [0, ")
         << source.getNumElements() << "), but got [" << first << ", " << last
         << "]";
}

/// Declarations stand above `first`, the first command so far, or null.
static LogicalResult verifyPlace(Operation &op, Operation *first) {
  if (!first || !isa<UseOp, InputOp, AllocOp, StagingOp, ViewOp>(op))
    return success();
  InFlightDiagnostic error =
      op.emitOpError("expects all declarations above the first command, but "
                     "got one below ")
      << first->getName();
  error.attachNote(first->getLoc()) << "the first command is here";
  return error;
}

LogicalResult ProgramOp::verify() {
  Operation *firstCommand = nullptr;
  llvm::DenseSet<StringRef> inputs, outputs, states;
  for (Operation &op : getBody().front()) {
    if (op.getDialect() != (*this)->getDialect() &&
        !isa<CommandOpInterface>(op))
      return op.emitOpError("expects to be outside of a plan program");
    if (failed(verifyPlace(op, firstCommand)))
      return failure();
    if (!firstCommand && isa<CommandOpInterface>(op))
      firstCommand = &op;
    if (auto input = dyn_cast<InputOp>(op))
      if (!inputs.insert(input.getName()).second)
        return op.emitOpError("expects a name of its own, but got \"")
               << input.getName() << "\" again";
    if (auto output = dyn_cast<OutputOp>(op))
      if (!outputs.insert(output.getName()).second)
        return op.emitOpError("expects a name of its own, but got \"")
               << output.getName() << "\" again";
    if (auto use = dyn_cast<UseOp>(op))
      if (!states.insert(use.getState()).second)
        return op.emitOpError("expects one use of a state, but got @")
               << use.getState() << " again";
  }
  return verifyReadback(*this);
}

} // namespace weft::plan
