//===- LinalgWriter.cpp - One loop nest of a kernel -----------------------===//

#include "LinalgWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace weft;

static Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

static bool isHalf(Value value) {
  return elementOf(value).isF16() || elementOf(value).isBF16();
}

/// Whether the operand is the number of an element, in no memory.
static bool isNumber(const ExternalUse &use) {
  return use.base.getDefiningOp<IotaOp>() != nullptr;
}

bool weft::isRenamingOp(Operation *op) {
  return renames(op) || isTrivialReduce(op);
}

//===----------------------------------------------------------------------===//
// Memrefs
//===----------------------------------------------------------------------===//

/// The elements of an access as a memref with one dimension for each that the
/// access depends on, outermost first. Slices become its offset, transposes
/// the order of its dimensions in the indexing map.
LinalgWriter::View LinalgWriter::viewOf(Value base, const SpaceAccess &access) {
  for (const auto &[other, known] : views)
    if (other.base == base && other.access == access)
      return known;
  View view;
  for (unsigned d = 0; d < access.strides.size(); ++d)
    if (access.dependsOn(d))
      view.dims.push_back(d);
  llvm::sort(view.dims, [&](unsigned x, unsigned y) {
    return std::make_pair(-access.strides[x], x) <
           std::make_pair(-access.strides[y], y);
  });
  SmallVector<int64_t> sizes, strides;
  for (unsigned d : view.dims) {
    sizes.push_back(space.getSizes()[d]);
    strides.push_back(access.strides[d]);
  }
  auto type = cast<MemRefType>(base.getType());
  bool plain = access.offset == 0 && strides == Layout::getDense(sizes).strides;
  view.memref = base;
  if (!plain || type.getShape() != ArrayRef<int64_t>(sizes))
    view.memref = reinterpret(base, access.offset, sizes, strides, plain);
  views.push_back({{base, access}, view});
  return view;
}

Value LinalgWriter::reinterpret(Value base, int64_t offset,
                                ArrayRef<int64_t> sizes,
                                ArrayRef<int64_t> strides, bool plain) {
  MemRefLayoutAttrInterface layoutAttr;
  if (!plain)
    layoutAttr = StridedLayoutAttr::get(b.getContext(), offset, strides);
  auto type = MemRefType::get(sizes, elementOf(base), layoutAttr);
  return memref::ReinterpretCastOp::create(b, loc, type, base, offset, sizes,
                                           strides);
}

LinalgWriter::View LinalgWriter::temporary(Type element, Dims dims) {
  SmallVector<int64_t> sizes;
  for (unsigned d : dims)
    sizes.push_back(space.getSizes()[d]);
  View view;
  view.memref =
      memref::AllocaOp::create(b, loc, MemRefType::get(sizes, element));
  view.dims = std::move(dims);
  return view;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The argument of the body that holds the view's element, or null.
Value LinalgWriter::argumentOf(const View &view, const Nest &nest,
                               ValueRange arguments) {
  for (auto [i, input] : llvm::enumerate(nest.inputs))
    if (input.memref == view.memref && input.dims == view.dims)
      return arguments[i];
  return nullptr;
}

void LinalgWriter::addInput(Nest &nest, View view) {
  for (const View &input : nest.inputs)
    if (input.memref == view.memref && input.dims == view.dims)
      return;
  nest.inputs.push_back(std::move(view));
}

/// Everything the body reads that it does not compute.
void LinalgWriter::findInputs(Nest &nest) {
  DenseSet<Value> own;
  for (Operation *op : nest.ops)
    own.insert(op->getResult(0));
  auto member = [&](Value value) {
    if (!own.contains(value) && kept.contains(value))
      addInput(nest, kept.lookup(value));
  };
  auto operand = [&](OpOperand &use) {
    const ExternalUse *external = space.getUse(use);
    if (!external)
      member(use.get());
    else if (!isNumber(*external))
      addInput(nest, viewOf(bufferOf(external->base), external->access));
  };
  for (Operation *op : nest.ops) {
    if (totals.contains(op->getResult(0))) {
      addInput(nest, totals.lookup(op->getResult(0)));
      continue;
    }
    for (OpOperand &use : op->getOpOperands())
      operand(use);
  }
  for (Target &target : nest.targets) {
    if (target.reduce)
      operand(target.reduce->getOpOperand(0));
    else
      member(target.value);
  }
  addMissingDims(nest);
}

/// A dimension that no operand follows gets its size from an input that the
/// body does not read.
void LinalgWriter::addMissingDims(Nest &nest) {
  SmallVector<bool> seen(space.getSizes().size(), false);
  for (const View &input : nest.inputs)
    for (unsigned d : input.dims)
      seen[d] = true;
  for (const Target &target : nest.targets)
    for (unsigned d : target.view.dims)
      seen[d] = true;
  View view;
  SmallVector<int64_t> sizes;
  for (unsigned d : nest.dims) {
    if (seen[d])
      continue;
    view.dims.push_back(d);
    sizes.push_back(space.getSizes()[d]);
  }
  if (sizes.empty())
    return;
  view.memref =
      reinterpret(function.getArguments().back(), /*offset=*/0, sizes,
                  SmallVector<int64_t>(sizes.size(), 0), /*plain=*/false);
  nest.inputs.push_back(view);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The place of an access, from the indices of the loops.
Value LinalgWriter::numberOf(const ExternalUse &use, Nest &nest) {
  for (const auto &[known, number] : nest.numbers)
    if (known.access == use.access &&
        known.base.getType() == use.base.getType())
      return number;
  Type element = elementOf(use.base);
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, value));
  };
  Value sum;
  for (auto [loop, d] : llvm::enumerate(nest.dims)) {
    if (!use.access.dependsOn(d))
      continue;
    Value term = arith::IndexCastUIOp::create(
        b, loc, element, linalg::IndexOp::create(b, loc, loop));
    if (int64_t stride = use.access.strides[d]; stride != 1)
      term = arith::MulIOp::create(b, loc, term, constant(stride));
    sum = sum ? arith::AddIOp::create(b, loc, sum, term).getResult() : term;
  }
  if (!sum || use.access.offset != 0) {
    Value offset = constant(use.access.offset);
    sum = sum ? arith::AddIOp::create(b, loc, sum, offset).getResult() : offset;
  }
  nest.numbers.push_back({use, sum});
  return sum;
}

Value LinalgWriter::scalarOf(Value member, Nest &nest, ValueRange arguments) {
  if (Value value = nest.scalars.lookup(member))
    return value;
  return argumentOf(kept.lookup(member), nest, arguments);
}

Value LinalgWriter::scalarOf(OpOperand &operand, Nest &nest,
                             ValueRange arguments) {
  if (const ExternalUse *use = space.getUse(operand))
    return isNumber(*use) ? numberOf(*use, nest)
                          : argumentOf(viewOf(bufferOf(use->base), use->access),
                                       nest, arguments);
  Operation *op = operand.get().getDefiningOp();
  while (op && isViewOp(op) && !space.isMember(op->getResult(0)))
    op = op->getOperand(0).getDefiningOp();
  if (!op || !isSplatConstant(op))
    return scalarOf(operand.get(), nest, arguments);
  auto attr = cast<DenseElementsAttr>(cast<ConstantOp>(op).getValue());
  return arith::ConstantOp::create(b, loc, attr.getSplatValue<TypedAttr>());
}

Value LinalgWriter::castFloat(Value value, Type element) {
  Type from = value.getType();
  if (from == element)
    return value;
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, element, value);
  return arith::TruncFOp::create(b, loc, element, value);
}

/// Type of a member's elements inside the kernel.
Type LinalgWriter::getValueType(Value value) {
  return fast && isHalf(value) ? b.getF32Type() : elementOf(value);
}

/// One element of an op's result. 16-bit floats are computed in f32 and rounded
/// after each op; with `fast`, when they are stored.
Value LinalgWriter::evaluate(Operation *op, Nest &nest, ValueRange arguments) {
  Value result = op->getResult(0);
  if (totals.contains(result))
    return finish(cast<ReduceOp>(op),
                  argumentOf(totals.lookup(result), nest, arguments));
  if (isRenamingOp(op))
    return scalarOf(op->getOpOperand(0), nest, arguments);
  Values scalars;
  bool isExact = isa<CastOp>(op) || movesElements(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = scalarOf(operand, nest, arguments);
    if (isHalf(value) && (fast || !isExact))
      value = castFloat(value, b.getF32Type());
    scalars.push_back(value);
  }
  if (fast && isa<CastOp>(op) && scalars[0].getType().isF32() && isHalf(result))
    return scalars[0];
  Value value =
      cast<ScalarBodyOpInterface>(op).buildScalarBody(b, op->getLoc(), scalars);
  return castFloat(value, getValueType(result));
}

void LinalgWriter::buildBody(Nest &nest, ValueRange arguments) {
  for (Operation *op : nest.ops)
    nest.scalars[op->getResult(0)] = evaluate(op, nest, arguments);
  Values results;
  for (auto [i, target] : llvm::enumerate(nest.targets)) {
    if (!target.reduce) {
      Value value = scalarOf(target.value, nest, arguments);
      results.push_back(castFloat(value, elementOf(target.view.memref)));
      continue;
    }
    Value element = scalarOf(target.reduce->getOpOperand(0), nest, arguments);
    element = castFloat(element, getSumType(target.reduce));
    results.push_back(
        combine(target.reduce, arguments[nest.inputs.size() + i], element));
  }
  linalg::YieldOp::create(b, loc, results);
}

void LinalgWriter::build(Nest nest) {
  findInputs(nest);
  SmallVector<AffineMap> maps;
  Values inputs, outputs;
  auto add = [&](const View &view, Values &list) {
    SmallVector<AffineExpr> results;
    for (unsigned d : view.dims)
      results.push_back(
          b.getAffineDimExpr(llvm::find(nest.dims, d) - nest.dims.begin()));
    maps.push_back(
        AffineMap::get(nest.dims.size(), 0, results, b.getContext()));
    list.push_back(view.memref);
  };
  SmallVector<utils::IteratorType> iterators(nest.dims.size(),
                                             utils::IteratorType::parallel);
  for (const View &input : nest.inputs)
    add(input, inputs);
  for (const Target &target : nest.targets) {
    if (target.reduce) {
      Value start = identity(target.reduce);
      linalg::FillOp::create(b, loc, start, target.view.memref);
      for (auto [i, d] : llvm::enumerate(nest.dims))
        if (!llvm::is_contained(target.view.dims, d))
          iterators[i] = utils::IteratorType::reduction;
    }
    add(target.view, outputs);
  }
  linalg::GenericOp::create(b, loc, inputs, outputs, maps, iterators,
                            [&](OpBuilder &, Location, ValueRange arguments) {
                              buildBody(nest, arguments);
                            });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// f16 and bf16 accumulate in f32.
Type LinalgWriter::getSumType(ReduceOp op) {
  Type element = elementOf(op.getResult());
  return element.isF64() ? element : b.getF32Type();
}

Value LinalgWriter::identity(ReduceOp op) {
  auto type = cast<FloatType>(getSumType(op));
  bool isMax = op.getKind() == ReduceKind::Max;
  bool isSum = !isMax && op.getKind() != ReduceKind::Min;
  APFloat value = isSum
                      ? llvm::APFloat::getZero(type.getFloatSemantics())
                      : llvm::APFloat::getInf(type.getFloatSemantics(), isMax);
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}

Value LinalgWriter::combine(ReduceOp op, Value sum, Value element) {
  switch (op.getKind()) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return arith::AddFOp::create(b, loc, sum, element);
  case ReduceKind::Max:
    return arith::MaximumFOp::create(b, loc, sum, element);
  case ReduceKind::Min:
    return arith::MinimumFOp::create(b, loc, sum, element);
  }
  llvm_unreachable("covered switch");
}

bool LinalgWriter::needsFinish(ReduceOp op) {
  return op.getKind() == ReduceKind::Mean ||
         getSumType(op) != getValueType(op.getResult());
}

/// From the sum in the accumulator's type to the result.
Value LinalgWriter::finish(ReduceOp op, Value sum) {
  if (op.getKind() == ReduceKind::Mean) {
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    double count = 1;
    for (int64_t dim : op.getDims())
      count *= type.getDimSize(dim);
    Value divisor =
        arith::ConstantOp::create(b, loc, b.getFloatAttr(sum.getType(), count));
    sum = arith::DivFOp::create(b, loc, sum, divisor);
  }
  return castFloat(sum, getValueType(op.getResult()));
}
