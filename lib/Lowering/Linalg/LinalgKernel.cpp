//===- LinalgKernel.cpp - The loop nests of a kernel ----------------------===//

#include "weft/Lowering/Linalg/LinalgKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

Type NestTotal::getWideType() const {
  return isa<arith::AddFOp>(combiner) ? Float64Type::get(combiner->getContext())
                                      : getSumType();
}

Value NestTotal::combine(OpBuilder &b, Value x, Value y) const {
  IRMapping mapping;
  mapping.map(combiner->getOperand(0), x);
  mapping.map(getElement(), y);
  Value result = b.clone(*combiner, mapping)->getResult(0);
  result.setType(x.getType());
  return result;
}

Value NestTotal::combineAll(OpBuilder &b, SmallVector<Value> values) const {
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(combine(b, values[i], values[i + 1]));
    if (values.size() % 2)
      next.push_back(values.back());
    values = next;
  }
  return values.front();
}

/// Whether a total with this access is a sum over rows.
bool LinalgKernel::isOverRows(const SpaceAccess &access) const {
  return shape.hasSums() && shape.getDepth(access) == ValueDepth::Lane;
}

/// Whether an operand is a sum over rows of an earlier nest.
bool LinalgKernel::readsSums(linalg::GenericOp op) const {
  for (const KernelNest &nest : nests)
    for (auto [total, output] : llvm::zip(nest.totals, nest.outputs))
      if (total.isOverRows &&
          llvm::is_contained(op.getDpsInputs(), output.base))
        return true;
  return false;
}

/// Which loops of the kernel the nest runs over.
LogicalResult LinalgKernel::findLevel(KernelNest &nest) const {
  SmallVector<unsigned> &dims = nest.dims;
  unsigned loops = nest.op.getNumLoops();
  auto take = [&](NestLevel level, bool inner, bool lane) {
    dims.clear();
    const bool isEnd = level == NestLevel::End;
    for (unsigned d = 0; d < shape.getRank(); ++d) {
      DimRole role = shape.getRole(d);
      if (isEnd && llvm::is_contained(shape.getSums(), d))
        continue;
      if (role == DimRole::Outer || (inner && role == DimRole::Inner) ||
          (lane && role == DimRole::Lane))
        dims.push_back(d);
    }
    nest.level = level;
    return dims.size() == loops;
  };
  // Rows and their sums may have as many loops.
  if (readsSums(nest.op) && take(NestLevel::End, true, true))
    return success();
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
                                        ArrayRef<unsigned> dims,
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
  SmallVector<int64_t> strides;
  bool isStatic =
      succeeded(type.getStridesAndOffset(strides, result.access.offset)) &&
      type.hasStaticShape() && !ShapedType::isDynamic(result.access.offset) &&
      llvm::none_of(strides, ShapedType::isDynamic);
  if (!isStatic || !map.isProjectedPermutation())
    return op.emitOpError(
               "expects static sizes and strides and indexing maps of single "
               "loops, but got operand ")
           << operand.getOperandNumber() << " with " << AffineMapAttr::get(map);
  result.access.strides.assign(shape.getRank(), 0);
  for (unsigned i = 0; i < strides.size(); ++i)
    result.access.strides[dims[map.getDimPosition(i)]] = strides[i];
  return checkBounds(op, operand, result);
}

/// Rows have one after the other what they keep.
void LinalgKernel::contractTemporaries() {
  if (shape.getKind() != KernelKind::Rows)
    return;
  DenseSet<Value> sums;
  for (const KernelNest &nest : nests)
    for (auto [total, output] : llvm::zip(nest.totals, nest.outputs))
      if (total.isOverRows)
        sums.insert(output.base);
  for (KernelNest &nest : nests)
    for (auto *operands : {&nest.inputs, &nest.outputs})
      for (NestOperand &operand : *operands)
        if (!sums.contains(operand.base) &&
            operand.base.getDefiningOp<memref::AllocaOp>() &&
            shape.getDepth(operand.access) == ValueDepth::Lane)
          contract(operand.access);
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
  if (isa<arith::AddFOp>(combiner) &&
      !cast<FloatAttr>(total.start).getValue().isZero())
    return nest.op.emitOpError("expects a sum that starts from 0, but got ")
           << total.start << " in output " << output;
  total.combiner = combiner;
  total.isOverRows = isOverRows(nest.outputs[output].access);
  return success();
}

/// Reads the initial value of a total in a memref.alloca.
LogicalResult LinalgKernel::readFill(linalg::FillOp fill) {
  Value target = fill.getOutputs().front();
  if (!target.getDefiningOp<memref::AllocaOp>())
    return fill.emitOpError("expects to fill a memref.alloca, but got ")
           << (isa<BlockArgument>(target)
                   ? "an argument"
                   : target.getDefiningOp()->getName().getStringRef());
  bool isWritten = llvm::any_of(nests, [&](const KernelNest &nest) {
    return llvm::any_of(nest.outputs, [&](const NestOperand &output) {
      return output.base == target;
    });
  });
  // Nothing else in a kernel is a number.
  auto constant = fill.getInputs().front().getDefiningOp<arith::ConstantOp>();
  if (isWritten || !starts.try_emplace(target, constant.getValue()).second)
    return fill.emitOpError("expects to fill a memref.alloca before all else "
                            "that writes it, but got one that is ")
           << (isWritten ? "written" : "filled");
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

LogicalResult LinalgKernel::readNest(linalg::GenericOp op) {
  KernelNest nest;
  nest.op = op;
  if (failed(findLevel(nest)) || failed(checkBody(nest.getBody())))
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

LogicalResult LinalgKernel::readOp(Operation &op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return readNest(generic);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return readFill(fill);
  if (auto temporary = dyn_cast<memref::AllocaOp>(op))
    return checkTemporary(temporary);
  if (isa<arith::ConstantOp, memref::ReinterpretCastOp>(op))
    return success();
  return op.emitOpError("does not belong in a kernel; expects linalg.generic, "
                        "linalg.fill with a constant, memref.alloca or "
                        "memref.reinterpret_cast");
}

FailureOr<LinalgKernel> LinalgKernel::get(func::FuncOp function) {
  LinalgKernel kernel;
  FailureOr<KernelShape> shape = KernelShape::get(function);
  if (failed(shape))
    return failure();
  kernel.shape = std::move(*shape);
  if (failed(checkFunction(function)))
    return failure();
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(kernel.readOp(op)))
      return failure();
  if (failed(kernel.readInPlace(function)) ||
      failed(kernel.checkBuffers(function)))
    return failure();
  kernel.contractTemporaries();
  return kernel;
}
