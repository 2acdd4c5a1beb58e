//===- LinalgFacts.cpp - Check the facts of a kernel against its body -----===//
//
// The linalg form may be edited. Targets choose threads, ranges and barriers
// from its facts, without a thought for nests that are not as they say.
//
//===----------------------------------------------------------------------===//

#include "weft/Lowering/Linalg/LinalgKernel.h"
#include "weft/Weft/KernelFacts.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

LogicalResult LinalgKernel::checkLoops(const KernelNest &nest) const {
  linalg::GenericOp op = nest.op;
  SmallVector<int64_t> sizes, loops(op.getStaticLoopRanges());
  for (unsigned d : nest.dims)
    sizes.push_back(shape.getSizes()[d]);
  if (loops == sizes)
    return success();
  return op.emitOpError("expects loops of ")
         << spellList(sizes) << " steps, as its kernel says, but got "
         << spellList(loops);
}

/// Checks that a sum over rows runs over the dimensions of the kernel.
LogicalResult LinalgKernel::checkSum(const KernelNest &nest, unsigned output,
                                     ArrayRef<int64_t> over) const {
  linalg::GenericOp op = nest.op;
  if (over != shape.getSums())
    return op.emitOpError("expects sums over rows over ")
           << spellList(shape.getSums())
           << ", as its kernel says, but got one over " << spellList(over)
           << " in output " << output;
  Operation *combiner = nest.totals[output].combiner;
  if (!isa<arith::AddFOp>(combiner))
    return op.emitOpError("expects sums over rows, but got ")
           << combiner->getName() << " in output " << output;
  return success();
}

/// Checks that sums, maxima and minima run over the dimensions of the kernel.
LogicalResult LinalgKernel::checkTotal(const KernelNest &nest,
                                       unsigned output) const {
  linalg::GenericOp op = nest.op;
  if (shape.getKind() == KernelKind::Elementwise)
    return op.emitOpError("expects no sum, maximum or minimum in an "
                          "elementwise kernel, but got one in output ")
           << output;
  SmallVector<int64_t> over;
  const SpaceAccess &access = nest.outputs[output].access;
  for (unsigned d : nest.dims)
    if (!access.dependsOn(d))
      over.push_back(d);
  if (nest.totals[output].isOverRows)
    return checkSum(nest, output, over);
  if (ArrayRef<int64_t>(over) != shape.getOver())
    return op.emitOpError("expects sums, maxima and minima over ")
           << spellList(shape.getOver())
           << ", as its kernel says, but got one over " << spellList(over)
           << " in output " << output;
  return success();
}

/// Checks that each element of a result is written once.
LogicalResult LinalgKernel::checkResult(const KernelNest &nest,
                                        unsigned output) const {
  linalg::GenericOp op = nest.op;
  bool isOuter = nest.level == NestLevel::Outer && shape.getRank() != 0;
  if (isOuter && shape.getKind() != KernelKind::Rows)
    return op.emitOpError("expects a kernel that is ")
           << stringifyKernelKind(shape.getKind())
           << " to write its results in the loops of all dimensions"
           << (shape.getKind() == KernelKind::Columns ? " or of its columns"
                                                      : "")
           << ", but got output " << output << " in the outer ones";
  const SpaceAccess &access = nest.outputs[output].access;
  for (unsigned d : nest.dims)
    if (!access.dependsOn(d) && shape.getSizes()[d] != 1)
      return op.emitOpError("expects an element of a result for each step of "
                            "its loops, but got one of output ")
             << output << " for all " << shape.getSizes()[d]
             << " of a dimension";
  return success();
}

/// Checks the values kept for later nests. A kernel over columns keeps totals
/// only, because each nest has its own threads for the columns. A kernel over
/// rows keeps all elements of a row.
LogicalResult LinalgKernel::checkKept(const KernelNest &nest,
                                      unsigned output) const {
  if (nest.level == NestLevel::Outer)
    return success();
  if (nest.level == NestLevel::End && shape.hasSums())
    return linalg::GenericOp(nest.op).emitOpError(
               "expects sums over rows in results, but got memref.alloca as "
               "output ")
           << output;
  linalg::GenericOp op = nest.op;
  if (shape.getKind() == KernelKind::Columns)
    return op.emitOpError(
               "expects nothing but sums, maxima and minima of columns "
               "in a memref.alloca, but got output ")
           << output;
  if (shape.getKind() == KernelKind::Elementwise)
    return op.emitOpError("expects no elements in a memref.alloca in an "
                          "elementwise kernel, but got output ")
           << output;
  const SpaceAccess &access = nest.outputs[output].access;
  for (unsigned d : nest.dims)
    if (!access.dependsOn(d))
      return op.emitOpError("expects a memref.alloca with all elements of a "
                            "row, but got output ")
             << output << " without loop " << d;
  return success();
}

LogicalResult LinalgKernel::checkFacts(const KernelNest &nest) const {
  if (failed(checkLoops(nest)))
    return failure();
  for (auto [i, output] : llvm::enumerate(nest.outputs)) {
    LogicalResult checked = nest.totals[i].combiner ? checkTotal(nest, i)
                            : isa<BlockArgument>(output.base)
                                ? checkResult(nest, i)
                                : checkKept(nest, i);
    if (failed(checked))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Results that lie over arguments
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> LinalgKernel::getInPlaceInputs(Value output) const {
  unsigned result = cast<BlockArgument>(output).getArgNumber() - firstOutput;
  return cast<DenseI64ArrayAttr>(inPlace[result]).asArrayRef();
}

/// The last arguments are results, and have a list each.
LogicalResult LinalgKernel::checkWrites(func::FuncOp function) const {
  SmallVector<int64_t> written;
  for (const KernelNest &nest : nests)
    for (const NestOperand &output : nest.outputs)
      if (auto argument = dyn_cast<BlockArgument>(output.base))
        written.push_back(argument.getArgNumber());
  llvm::sort(written);
  written.erase(llvm::unique(written), written.end());
  auto last = llvm::seq<int64_t>(firstOutput, function.getNumArguments());
  if (llvm::equal(written, last))
    return success();
  return function.emitOpError(
             "expects a list in weft.inplace for each argument "
             "that is written, the last ones, but got ")
         << inPlace.size() << " where " << spellList(written) << " are written";
}

/// Of an argument that a result may take, the elements are read in the order in
/// which the result is written, and not later.
LogicalResult LinalgKernel::checkReads(func::FuncOp function, unsigned result,
                                       int64_t input) const {
  Value target = function.getArgument(firstOutput + result);
  Value source = function.getArgument(input);
  const SpaceAccess *access = nullptr; // of the result
  for (const KernelNest &nest : llvm::reverse(nests)) {
    for (const NestOperand &output : nest.outputs)
      if (output.base == target)
        access = &output.access;
    for (auto [i, read] : llvm::enumerate(nest.inputs)) {
      if (read.base != source || !nest.reads(i) ||
          (access && read.access == *access))
        continue;
      InFlightDiagnostic error =
          function.emitOpError(describeReadAfterWrite(result, input));
      error.attachNote(nest.op->getLoc()) << "reads argument " << input;
      return error;
    }
  }
  return success();
}

/// A sum over rows takes no buffer: other threads may still read it.
LogicalResult LinalgKernel::checkSumResults() const {
  for (const KernelNest &nest : nests)
    for (const NestOperand &output : nest.outputs)
      if (shape.hasSums() && nest.level == NestLevel::End &&
          !getInPlaceInputs(output.base).empty())
        return linalg::GenericOp(nest.op).emitOpError(
                   "expects no argument in weft.inplace for a sum over rows, "
                   "but got ")
               << spellList(getInPlaceInputs(output.base));
  return success();
}

LogicalResult LinalgKernel::readInPlace(func::FuncOp function) {
  inPlace = function->getAttrOfType<ArrayAttr>(kInPlaceAttr);
  if (!inPlace)
    return function.emitOpError("expects weft.inplace, as "
                                "weft-convert-kernels-to-linalg writes it");
  unsigned arguments = function.getNumArguments();
  firstOutput = arguments - std::min<unsigned>(inPlace.size(), arguments);
  if (failed(checkWrites(function)))
    return failure();
  auto types = TypeRange(function.getArgumentTypes());
  std::string wrong = findWrongInPlace(types.take_front(firstOutput),
                                       types.drop_front(firstOutput), inPlace);
  if (!wrong.empty())
    return function.emitOpError(wrong);
  if (failed(checkSumResults()))
    return failure();
  for (unsigned i = 0; i < inPlace.size(); ++i)
    for (int64_t input : cast<DenseI64ArrayAttr>(inPlace[i]).asArrayRef())
      if (failed(checkReads(function, i, input)))
        return failure();
  return success();
}
