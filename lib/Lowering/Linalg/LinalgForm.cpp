//===- LinalgForm.cpp - The parts of a kernel's linalg form ---------------===//
//
// Functions, buffers and bodies are as weft-convert-kernels-to-linalg writes
// them: one block, dense memrefs or rows, ops on the numbers that a program
// has.
//
//===----------------------------------------------------------------------===//

#include "weft/Layout/Layout.h"
#include "weft/Lowering/Linalg/LinalgKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft;

static constexpr StringLiteral kNumbers = "f16, bf16, f32, f64, i1, i32 or i64";

/// Types of elements, and of what bodies compute.
static bool isNumber(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type) ||
         type.isSignlessInteger(1) || type.isSignlessInteger(32) ||
         type.isSignlessInteger(64);
}

/// Whether sizes of rows, and of what holds rows `pitch` apart, can be counted.
static bool isCountable(ArrayRef<int64_t> sizes, int64_t pitch) {
  int64_t count = 1;
  return llvm::none_of(sizes.drop_back(sizes.empty() ? 0 : 1),
                       [&](int64_t size) {
                         return llvm::MulOverflow(count, size, count);
                       }) &&
         !llvm::MulOverflow(count, pitch, count);
}

/// Whether it is a dense memref with a number of elements that is known.
static bool isDenseBuffer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape() && !memref.getMemorySpace() &&
         memref.getLayout().isIdentity() && isNumber(memref.getElementType()) &&
         isCountable(memref.getShape(),
                     memref.getRank() == 0 ? 1 : memref.getShape().back());
}

/// Whether it is dense but for padding between its rows.
static bool isPitchedBuffer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  auto strided =
      memref ? dyn_cast<StridedLayoutAttr>(memref.getLayout()) : nullptr;
  if (!strided || strided.getOffset() != 0 || memref.getRank() < 2)
    return false;
  int64_t pitch = strided.getStrides()[memref.getRank() - 2];
  return isDenseBuffer(MemRefType::get(
             memref.getShape(), memref.getElementType(),
             MemRefLayoutAttrInterface(), memref.getMemorySpace())) &&
         pitch >= memref.getShape().back() &&
         isCountable(memref.getShape(), pitch) &&
         Layout::get(memref).isLike(
             Layout::getPitched(memref.getShape(), pitch));
}

//===----------------------------------------------------------------------===//
// Functions and buffers
//===----------------------------------------------------------------------===//

LogicalResult LinalgKernel::checkFunction(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError("expects a body of one block, but got ")
           << function.getBody().getBlocks().size();
  if (function.getNumResults() != 0)
    return function.emitOpError("expects results only in arguments, but got ")
           << function.getNumResults() << " others";
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!isDenseBuffer(type) && !isPitchedBuffer(type))
      return function.emitOpError("expects memrefs of static sizes, dense or "
                                  "with dense rows at one distance, and ")
             << kNumbers << " as arguments, but got " << type << " as argument "
             << i;
  return success();
}

LogicalResult LinalgKernel::checkTemporary(memref::AllocaOp op) {
  if (isDenseBuffer(op.getType()))
    return success();
  return op.emitOpError("expects a dense memref of static sizes and ")
         << kNumbers << ", but got " << op.getType();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Operands are numbers: of the body, or constants, since nothing else around
/// it is one.
static LogicalResult checkOperands(Operation &op) {
  for (Type type : op.getOperandTypes())
    if (!isNumber(type))
      return op.emitOpError("expects operands of ")
             << kNumbers << ", but got " << type;
  return success();
}

static LogicalResult checkIndex(linalg::IndexOp op) {
  for (Operation *user : op->getUsers())
    if (!isa<arith::IndexCastUIOp>(user))
      return op.emitOpError("expects arith.index_castui as its user, but got ")
             << user->getName();
  return success();
}

/// Indices are numbers of the types that `weft.iota` has.
static LogicalResult checkIndexCast(arith::IndexCastUIOp op) {
  if (!op.getIn().getDefiningOp<linalg::IndexOp>())
    return op.emitOpError("expects the index of a loop, but got ")
           << op.getIn().getType();
  Type type = op.getType();
  if (type.isSignlessInteger(32) || type.isSignlessInteger(64))
    return success();
  return op.emitOpError("expects an index as i32 or i64, but got ") << type;
}

static LogicalResult checkNumber(Operation &op) {
  if (!isa<arith::ConstantOp>(op) &&
      !OpTrait::hasElementwiseMappableTraits(&op))
    return op.emitOpError("does not belong in the body of a kernel; "
                          "expects elementwise ops");
  if (op.getNumResults() != 1)
    return op.emitOpError("expects one result, but got ") << op.getNumResults();
  if (!isNumber(op.getResult(0).getType()))
    return op.emitOpError("expects a result of ")
           << kNumbers << ", but got " << op.getResult(0).getType();
  return checkOperands(op);
}

LogicalResult LinalgKernel::checkBody(Block &body) {
  for (Operation &op : body.without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(op);
    auto cast = dyn_cast<arith::IndexCastUIOp>(op);
    if (failed(index  ? checkIndex(index)
               : cast ? checkIndexCast(cast)
                      : checkNumber(op)))
      return failure();
  }
  return checkOperands(*body.getTerminator());
}
