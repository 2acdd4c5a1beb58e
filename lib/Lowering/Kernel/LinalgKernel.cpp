//===- LinalgKernel.cpp - The loop nests of a kernel ----------------------===//

#include "weft/Lowering/Kernel/LinalgKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace weft {

/// Which loops of the kernel the nest runs over.
LogicalResult LinalgKernel::findLevel(KernelNest &nest) const {
  llvm::SmallVector<unsigned> &dims = nest.dims;
  unsigned loops = nest.op.getNumLoops();
  auto take = [&](NestLevel level, bool inner, bool lane) {
    dims.clear();
    for (unsigned d = 0; d < shape.getRank(); ++d) {
      DimRole role = shape.getRole(d);
      if (role == DimRole::Outer || (inner && role == DimRole::Inner) ||
          (lane && role == DimRole::Lane))
        dims.push_back(d);
    }
    nest.level = level;
    return dims.size() == loops;
  };
  if (take(NestLevel::Outer, false, false) || take(NestLevel::Full, true, true))
    return success();
  if (shape.getKind() == KernelKind::Columns &&
      take(NestLevel::End, false, true))
    return success();
  return nest.op.emitOpError("expects the ")
         << shape.getRank()
         << " loops of its kernel or its outer loops, but got " << loops
         << " loops";
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A temporary of a row kernel only has to hold one row.
void LinalgKernel::contract(SpaceAccess &access) const {
  int64_t stride = 1;
  for (unsigned d = shape.getRank(); d-- > 0;) {
    bool isOuter = shape.getRole(d) == DimRole::Outer;
    access.strides[d] = isOuter ? 0 : stride;
    if (!isOuter)
      stride *= shape.getSizes()[d];
  }
}

LogicalResult LinalgKernel::readOperand(linalg::GenericOp op,
                                        OpOperand &operand,
                                        llvm::ArrayRef<unsigned> dims,
                                        NestOperand &result) const {
  result.base = operand.get();
  if (auto cast = result.base.getDefiningOp<memref::ReinterpretCastOp>())
    result.base = cast.getSource();
  bool temporary = result.base.getDefiningOp<memref::AllocaOp>() != nullptr;
  if (!temporary && !isa<BlockArgument>(result.base))
    return op.emitOpError("expects arguments of the kernel or memref.alloca, "
                          "but got operand ")
           << operand.getOperandNumber();
  auto type = cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  llvm::SmallVector<int64_t> strides;
  bool isStatic =
      succeeded(type.getStridesAndOffset(strides, result.access.offset)) &&
      !ShapedType::isDynamic(result.access.offset) &&
      llvm::none_of(strides, ShapedType::isDynamic);
  if (!isStatic || !map.isProjectedPermutation())
    return op.emitOpError("expects static strides and indexing maps of single "
                          "loops, but got operand ")
           << operand.getOperandNumber() << " with " << AffineMapAttr::get(map);
  result.access.strides.assign(shape.getRank(), 0);
  for (unsigned i = 0; i < strides.size(); ++i)
    result.access.strides[dims[map.getDimPosition(i)]] = strides[i];
  if (temporary && shape.getKind() != KernelKind::Columns &&
      shape.getDepth(result.access) == ValueDepth::Lane)
    contract(result.access);
  return success();
}

/// A result whose body reads its old value adds up from a linalg.fill.
LogicalResult LinalgKernel::readTotal(KernelNest &nest, unsigned output) const {
  BlockArgument old = nest.getBody().getArgument(nest.inputs.size() + output);
  if (old.use_empty())
    return success();
  NestTotal &total = nest.totals[output];
  Operation *combiner = nest.getResult(output).getDefiningOp();
  total.start = starts.lookup(nest.outputs[output].base);
  bool known =
      combiner && total.start && nest.level == NestLevel::Full &&
      isa<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp>(combiner) &&
      combiner->getOperand(0) == old && old.hasOneUse() &&
      combiner->hasOneUse();
  if (!known)
    return nest.op.emitOpError("expects a sum, maximum or minimum that starts "
                               "from a linalg.fill in output ")
           << output;
  total.combiner = combiner;
  return success();
}

void LinalgKernel::findDepths(KernelNest &nest) const {
  for (auto [i, input] : llvm::enumerate(nest.inputs))
    nest.depths[nest.getBody().getArgument(i)] = shape.getDepth(input.access);
  for (Operation &op : nest.getBody().without_terminator()) {
    ValueDepth depth = ValueDepth::Outer;
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      depth = shape.getDepth(nest.dims[index.getDim()]);
    for (Value operand : op.getOperands())
      depth = std::max(depth, nest.depths.lookup(operand));
    for (Value result : op.getResults())
      nest.depths[result] = depth;
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

std::optional<unsigned> KernelNest::getIndexDim(Operation *inner) const {
  auto cast = dyn_cast<arith::IndexCastUIOp>(inner);
  auto index = cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : nullptr;
  if (!index)
    return std::nullopt;
  return dims[index.getDim()];
}

LogicalResult LinalgKernel::checkBody(const KernelNest &nest) const {
  for (Operation &op : nest.getBody().without_terminator()) {
    if (isa<linalg::IndexOp>(op)) {
      for (Operation *user : op.getUsers())
        if (!isa<arith::IndexCastUIOp>(user))
          return op.emitOpError("expects arith.index_castui as its user, but "
                                "got ")
                 << user->getName();
      continue;
    }
    if (!isa<arith::ConstantOp>(op) &&
        !OpTrait::hasElementwiseMappableTraits(&op))
      return op.emitOpError("does not belong in the body of a kernel; "
                            "expects elementwise ops");
  }
  return success();
}

LogicalResult LinalgKernel::readNest(linalg::GenericOp op) {
  KernelNest nest;
  nest.op = op;
  if (failed(findLevel(nest)) || failed(checkBody(nest)))
    return failure();
  nest.inputs.resize(op.getNumDpsInputs());
  nest.outputs.resize(op.getNumDpsInits());
  nest.totals.resize(op.getNumDpsInits());
  for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
    bool input = i < nest.inputs.size();
    NestOperand &to =
        input ? nest.inputs[i] : nest.outputs[i - nest.inputs.size()];
    if (failed(readOperand(op, operand, nest.dims, to)))
      return failure();
  }
  for (unsigned i = 0; i < nest.outputs.size(); ++i)
    if (failed(readTotal(nest, i)))
      return failure();
  if (failed(checkFacts(nest)))
    return failure();
  findDepths(nest);
  nests.push_back(std::move(nest));
  return success();
}

FailureOr<LinalgKernel> LinalgKernel::get(func::FuncOp function) {
  LinalgKernel kernel;
  FailureOr<KernelShape> shape = KernelShape::get(function);
  if (failed(shape))
    return failure();
  kernel.shape = std::move(*shape);
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (failed(kernel.readNest(generic)))
        return failure();
      continue;
    }
    TypedAttr start;
    auto fill = dyn_cast<linalg::FillOp>(op);
    if (fill && matchPattern(fill.getInputs().front(), m_Constant(&start)))
      kernel.starts[fill.getOutputs().front()] = start;
    else if (!isa<arith::ConstantOp, memref::AllocaOp,
                  memref::ReinterpretCastOp>(op))
      return op.emitOpError("does not belong in a kernel; expects "
                            "linalg.generic, linalg.fill with a constant, "
                            "memref.alloca or memref.reinterpret_cast");
  }
  if (failed(kernel.readInPlace(function)))
    return failure();
  return kernel;
}

} // namespace weft
