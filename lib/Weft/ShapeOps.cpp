//===- ShapeOps.cpp - Reductions and shape ops ----------------------------===//

#include "Parsing.h"

using namespace mlir;
using namespace weft;

/// Whether `dims` are increasing and inside the rank.
static bool areDims(ArrayRef<int64_t> dims, int64_t rank) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < 0 || dims[i] >= rank || (i > 0 && dims[i] <= dims[i - 1]))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferTypes(std::optional<Location> loc, Adaptor adaptor,
                                   SmallVectorImpl<Type> &results) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  if (!areDims(adaptor.getDims(), type.getRank()))
    return emitOptionalError(loc, "expects increasing dims of ", type,
                             ", but got [", adaptor.getDims(), "]");
  bool keepDims =
      hasUnit(adaptor.getKeepDims(), adaptor.getAttributes(), "keep_dims");
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(adaptor.getDims(), i))
      shape.push_back(type.getDimSize(i));
    else if (keepDims)
      shape.push_back(1);
  results.push_back(RankedTensorType::get(
      shape, typeOr(adaptor.getDtypeAttr(), adaptor.getAttributes(), "dtype",
                    type.getElementType())));
  return success();
}

LogicalResult ReduceOp::verify() {
  // Runs before the inferred type is compared: nothing is known of the dims.
  RankedTensorType type = tensorType(getOperand());
  if (areDims(getDims(), type.getRank()))
    return success();
  return emitOpError("expects increasing dims of ")
         << type << ", but got [" << getDims() << "]";
}

//===----------------------------------------------------------------------===//
// broadcast, reshape
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = tensorType(getOperand()),
                   to = tensorType(getResult());
  FailureOr<SmallVector<int64_t>> shape =
      broadcastShapes(from.getShape(), to.getShape());
  if (failed(shape) || ArrayRef<int64_t>(*shape) != to.getShape())
    return emitOpError("expects a shape that ")
           << from << " broadcasts to, but got " << to;
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getResult().getType()
             ? OpFoldResult(getOperand())
             : OpFoldResult();
}

/// Number of elements; the largest number for shapes beyond 64 bits.
static uint64_t countElements(RankedTensorType type) {
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  uint64_t count = 1;
  for (int64_t dim : type.getShape())
    count = llvm::SaturatingMultiply(count, static_cast<uint64_t>(dim));
  return count;
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = tensorType(getOperand()),
                   to = tensorType(getResult());
  if (countElements(from) != countElements(to))
    return emitOpError("expects as many elements as ")
           << from << ", but got " << to;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getResult().getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// iota
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  RankedTensorType type = getType();
  if (!areDims(getDims(), type.getRank()))
    return emitOpError("expects increasing dims of ")
           << type << ", but got [" << getDims() << "]";
  SmallVector<int64_t> shape;
  for (int64_t dim : getDims())
    shape.push_back(type.getDimSize(dim));
  constexpr uint64_t kMost = uint64_t(1) << 31;
  if (type.getElementType().isInteger(32) &&
      countElements(type.clone(shape)) > kMost)
    return emitOpError("expects i64 for more than ")
           << kMost << " numbers, but got " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferTypes(std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  SmallVector<int64_t> sorted(adaptor.getPermutation());
  llvm::sort(sorted);
  if (static_cast<int64_t>(sorted.size()) != type.getRank() ||
      !areDims(sorted, type.getRank()))
    return emitOptionalError(loc, "expects a permutation of the dims of ", type,
                             ", but got [", adaptor.getPermutation(), "]");
  SmallVector<int64_t> shape;
  for (int64_t dim : adaptor.getPermutation())
    shape.push_back(type.getDimSize(dim));
  results.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  for (size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<int64_t>(i))
      return {};
  return getOperand();
}

//===----------------------------------------------------------------------===//
// slice, pad, concat
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferTypes(std::optional<Location> loc, Adaptor adaptor,
                                  SmallVectorImpl<Type> &results) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  size_t rank = type.getRank();
  if (adaptor.getOffsets().size() != rank ||
      adaptor.getSizes().size() != rank || adaptor.getStrides().size() != rank)
    return emitOptionalError(
        loc, "expects ", rank, " offsets, sizes and strides, but got ",
        adaptor.getOffsets().size(), ", ", adaptor.getSizes().size(), " and ",
        adaptor.getStrides().size());
  if (llvm::any_of(adaptor.getSizes(), [](int64_t size) { return size < 1; }))
    return emitOptionalError(loc, "expects sizes of at least 1, but got [",
                             adaptor.getSizes(), "]");
  results.push_back(
      RankedTensorType::get(adaptor.getSizes(), type.getElementType()));
  return success();
}

LogicalResult SliceOp::verify() {
  RankedTensorType type = tensorType(getOperand());
  size_t rank = type.getRank();
  if (getOffsets().size() != rank || getSizes().size() != rank ||
      getStrides().size() != rank)
    return emitOpError("expects ")
           << rank << " offsets, sizes and strides, but got "
           << getOffsets().size() << ", " << getSizes().size() << " and "
           << getStrides().size();
  for (int64_t i = 0; i < type.getRank(); ++i) {
    int64_t offset = getOffsets()[i], size = getSizes()[i],
            stride = getStrides()[i], extent = type.getDimSize(i);
    if (size < 1 || stride < 1 || offset < 0 || offset >= extent ||
        size - 1 > (extent - 1 - offset) / stride)
      return emitOpError("expects a part inside ")
             << type << ", but got offset " << offset << ", size " << size
             << ", stride " << stride << " in dimension " << i;
  }
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getOperand().getType() == getResult().getType()
             ? OpFoldResult(getOperand())
             : OpFoldResult();
}

LogicalResult PadOp::inferTypes(std::optional<Location> loc, Adaptor adaptor,
                                SmallVectorImpl<Type> &results) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  size_t rank = type.getRank();
  if (adaptor.getLow().size() != rank || adaptor.getHigh().size() != rank ||
      adaptor.getInterior().size() != rank)
    return emitOptionalError(
        loc, "expects ", rank, " numbers low, high and interior, but got ",
        adaptor.getLow().size(), ", ", adaptor.getHigh().size(), " and ",
        adaptor.getInterior().size());
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t low = adaptor.getLow()[i], high = adaptor.getHigh()[i],
            interior = adaptor.getInterior()[i], size = type.getDimSize(i);
    constexpr int64_t limit = int64_t(1) << 40;
    int64_t gaps = std::max<int64_t>(size - 1, 0);
    if (std::min({low, high, interior}) < 0 ||
        std::max({low, high, interior, size}) > limit ||
        (gaps > 0 && interior > limit / gaps))
      return emitOptionalError(loc,
                               "expects padding from 0 to 2^40 elements, "
                               "but got low ",
                               low, ", high ", high, ", interior ", interior,
                               " for ", type);
    shape.push_back(low + size + gaps * interior + high);
  }
  results.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult ConcatOp::inferTypes(std::optional<Location> loc, Adaptor adaptor,
                                   SmallVectorImpl<Type> &results) {
  ValueRange operands = adaptor.getInputs();
  if (operands.empty()) // not a list of types that parses; verified as a trait
    return failure();
  RankedTensorType first = tensorType(operands.front());
  // While parsing, `dim` is in the attr-dict; later, in the properties.
  IntegerAttr dimAttr = adaptor.getAttributes().getAs<IntegerAttr>("dim");
  if (!dimAttr)
    dimAttr = adaptor.getDimAttr();
  if (!dimAttr)
    return emitOptionalError(loc, "expects a dim, but got none");
  int64_t dim = dimAttr.getInt();
  if (dim < 0 || dim >= first.getRank())
    return emitOptionalError(loc, "expects a dim of ", first, ", but got ",
                             dim);
  SmallVector<int64_t> shape(first.getShape());
  for (Value operand : operands.drop_front()) {
    RankedTensorType type = tensorType(operand);
    SmallVector<int64_t> expected(first.getShape());
    if (type.getRank() == first.getRank())
      expected[dim] = type.getDimSize(dim);
    if (type.getShape() != ArrayRef<int64_t>(expected))
      return emitOptionalError(loc, "expects operands equal except in dim ",
                               dim, ", but got ", first, " and ", type);
    // If the size overflows, the result's verifier rejects it.
    if (llvm::AddOverflow(shape[dim], type.getDimSize(dim), shape[dim]))
      shape[dim] = std::numeric_limits<int64_t>::max();
  }
  results.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front())
                                 : OpFoldResult();
}
