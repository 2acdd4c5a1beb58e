//===- LinalgBuffers.cpp - Order of the reads and writes of loop nests ----===//
//
// Nests of a kernel share their loops, and threads take parts of them. What one
// reads of another is there only where a target expects it: element by element,
// in a memref.alloca that one nest has written before.
//
//===----------------------------------------------------------------------===//

#include "weft/Base/CountText.h"
#include "weft/Layout/Layout.h"
#include "weft/Lowering/Linalg/LinalgKernel.h"

using namespace mlir;
using namespace weft;

/// Bytes of a row in temporaries: f16 and bf16, of which a kernel keeps half as
/// many bytes, are f32 with --numerics=fast.
static constexpr int64_t kMostBytes = 2 * kMaxSavedBytes;

static int64_t getCount(const NestOperand &operand) {
  return cast<MemRefType>(operand.base.getType()).getNumElements();
}

/// Elements from the first to the last one of a buffer, with what lies between
/// its rows.
static int64_t getSpan(const NestOperand &operand) {
  Layout layout = Layout::get(cast<MemRefType>(operand.base.getType()));
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(layout.sizes, layout.strides))
    last += (size - 1) * stride;
  return last + 1;
}

/// Checks that all elements of an operand are within its buffer.
LogicalResult LinalgKernel::checkBounds(linalg::GenericOp op,
                                        OpOperand &operand,
                                        const NestOperand &read) const {
  int64_t first = read.access.offset, last = first;
  bool isKnown = true;
  for (auto [size, stride] : llvm::zip(shape.getSizes(), read.access.strides)) {
    int64_t reach, &end = stride < 0 ? first : last;
    isKnown &= !llvm::MulOverflow(size - 1, stride, reach) &&
               !llvm::AddOverflow(end, reach, end);
  }
  if (isKnown && first >= 0 && last < getSpan(read))
    return success();
  return op.emitOpError("expects operands within the ")
         << countText(getSpan(read), "element") << " of their buffer, but got "
         << operand.get().getType() << " as operand "
         << operand.getOperandNumber();
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// Checks that a nest reads a temporary with the access of its writer, and
/// totals of columns only in the loops over the columns.
LogicalResult LinalgKernel::checkTaken(const KernelNest &nest, unsigned input,
                                       const Write &write) const {
  const KernelNest &writer = *write.nest;
  const char *rule = nullptr;
  if (!(nest.inputs[input].access == writer.outputs[write.output].access))
    rule = "the elements of a memref.alloca as they were written, but got "
           "others";
  else if (writer.totals[write.output].combiner &&
           shape.getKind() == KernelKind::Columns &&
           nest.level != NestLevel::End)
    rule = "sums, maxima and minima of columns in loops over the columns, but "
           "got one in others";
  else if (shape.hasSums() && writer.totals[write.output].isOverRows !=
                                  (nest.level == NestLevel::End))
    rule = "sums over rows, and no other memref.alloca, behind the loops over "
           "all rows, but got one elsewhere";
  if (!rule)
    return success();
  linalg::GenericOp op = nest.op;
  InFlightDiagnostic error = op.emitOpError("expects to read ")
                             << rule << " as operand " << input;
  error.attachNote(writer.op->getLoc()) << "written here";
  return error;
}

LogicalResult LinalgKernel::checkRead(const KernelNest &nest, unsigned input,
                                      const Writes &writes) const {
  linalg::GenericOp op = nest.op;
  Value base = nest.inputs[input].base;
  auto argument = dyn_cast<BlockArgument>(base);
  if (argument && argument.getArgNumber() < firstOutput)
    return success();
  if (argument)
    return op.emitOpError("expects to read no results, but got argument ")
           << argument.getArgNumber() << " as operand " << input;
  auto write = writes.find(base);
  if (write != writes.end())
    return checkTaken(nest, input, write->second);
  return op.emitOpError("expects a linalg.generic before it to write the "
                        "memref.alloca that it reads, but got none for "
                        "operand ")
         << input;
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// All elements of a result, and none of any buffer twice.
LogicalResult LinalgKernel::checkElements(const KernelNest &nest,
                                          unsigned output) const {
  linalg::GenericOp op = nest.op;
  const NestOperand &written = nest.outputs[output];
  Layout layout;
  for (unsigned d : nest.dims) {
    if (!written.access.dependsOn(d))
      continue;
    layout.sizes.push_back(shape.getSizes()[d]);
    layout.strides.push_back(written.access.strides[d]);
  }
  if (!layout.isInjective())
    return op.emitOpError("expects to write each element once, but got ")
           << op.getOutputs()[output].getType() << " as output " << output;
  int64_t count = ShapedType::getNumElements(layout.sizes);
  auto type = cast<MemRefType>(written.base.getType());
  Layout rows = Layout::get(type);
  bool isResult = isa<BlockArgument>(written.base);
  if (isResult && count == getCount(written) && !rows.isDense()) {
    std::optional<Layout> own = layout.reshape(rows.sizes);
    if (!own || !own->isLike(rows))
      return op.emitOpError("expects to write the rows of ")
             << type << ", but got " << op.getOutputs()[output].getType()
             << " as output " << output;
  }
  if (!isResult || count == getCount(written))
    return success();
  return op.emitOpError("expects to write the ")
         << countText(getCount(written), "element") << " of a result, but got "
         << count << " of output " << output;
}

/// The dimensions of the space that the values of a body follow.
static DenseMap<Value, llvm::SmallBitVector> findDims(const KernelNest &nest,
                                                      unsigned rank) {
  DenseMap<Value, llvm::SmallBitVector> dims;
  for (auto [i, input] : llvm::enumerate(nest.inputs)) {
    llvm::SmallBitVector own(rank);
    for (unsigned d : nest.dims)
      if (input.access.dependsOn(d))
        own.set(d);
    dims[nest.getBody().getArgument(i)] = own;
  }
  for (Operation &op : nest.getBody().without_terminator()) {
    llvm::SmallBitVector own(rank);
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      own.set(nest.dims[index.getDim()]);
    for (Value operand : op.getOperands())
      own |= dims.lookup(operand);
    dims[op.getResult(0)] = own;
  }
  return dims;
}

/// Checks that each element of a memref.alloca is written with one value.
LogicalResult LinalgKernel::checkValue(const KernelNest &nest,
                                       unsigned output) const {
  const NestOperand &written = nest.outputs[output];
  if (isa<BlockArgument>(written.base) || nest.totals[output].combiner)
    return success();
  linalg::GenericOp op = nest.op;
  llvm::SmallBitVector follows =
      findDims(nest, shape.getRank()).lookup(nest.getResult(output));
  for (unsigned d : follows.set_bits())
    if (!written.access.dependsOn(d) && shape.getSizes()[d] != 1)
      return op.emitOpError("expects an element of a memref.alloca for each "
                            "value, but got one of output ")
             << output << " for all " << shape.getSizes()[d]
             << " of a dimension";
  return success();
}

/// Adds up the bytes of a row that are kept.
LogicalResult LinalgKernel::checkSaved(const KernelNest &nest, unsigned output,
                                       int64_t &bytes) const {
  const NestOperand &written = nest.outputs[output];
  if (isa<BlockArgument>(written.base) || nest.totals[output].combiner ||
      shape.getDepth(written.access) != ValueDepth::Lane)
    return success();
  linalg::GenericOp op = nest.op;
  Type element = getElementTypeOrSelf(written.base.getType());
  int64_t size = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  int64_t elements = shape.getCount(DimRole::Inner) * shape.getLaneSize();
  if (elements <= (kMostBytes - bytes) / size) {
    bytes += elements * size;
    return success();
  }
  return op.emitOpError("expects at most ")
         << kMostBytes << " bytes of a row in memref.alloca, but got "
         << countText(elements, "element") << " in output " << output
         << " in addition to " << countText(bytes, "byte");
}

LogicalResult LinalgKernel::checkWrite(const KernelNest &nest, unsigned output,
                                       Writes &writes) const {
  auto [known, isFirst] =
      writes.try_emplace(nest.outputs[output].base, Write{&nest, output});
  if (isFirst)
    return success(succeeded(checkElements(nest, output)) &&
                   succeeded(checkValue(nest, output)));
  linalg::GenericOp op = nest.op;
  InFlightDiagnostic error =
      op.emitOpError("expects to write each buffer once, but got output ")
      << output << " again";
  error.attachNote(known->second.nest->op->getLoc()) << "written here";
  return error;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// One thread per column writes the values computed from its sums. It may
/// overwrite elements that other threads read only after the threads have met
/// to add up.
LogicalResult LinalgKernel::checkMeetings(func::FuncOp function) const {
  DenseSet<Value> read;
  for (const KernelNest &nest : nests) {
    if (nest.level != NestLevel::End) {
      for (auto [i, input] : llvm::enumerate(nest.inputs))
        if (nest.reads(i))
          read.insert(input.base);
      if (llvm::any_of(nest.totals, [](const NestTotal &total) {
            return total.combiner != nullptr;
          }))
        read.clear();
      continue;
    }
    linalg::GenericOp op = nest.op;
    for (auto [i, output] : llvm::enumerate(nest.outputs))
      for (int64_t input : getInPlaceInputs(output.base))
        if (read.contains(function.getArgument(input)))
          return op.emitOpError("expects a sum, maximum or minimum after the "
                                "last read of argument ")
                 << input
                 << ", whose buffer a result may reuse, but got output " << i
                 << " after none";
  }
  return success();
}

LogicalResult LinalgKernel::checkBuffers(func::FuncOp function) const {
  Writes writes;
  int64_t savedBytes = 0;
  for (const KernelNest &nest : nests) {
    for (unsigned i = 0; i < nest.inputs.size(); ++i)
      if (nest.reads(i) && failed(checkRead(nest, i, writes)))
        return failure();
    for (unsigned i = 0; i < nest.outputs.size(); ++i)
      if (failed(checkWrite(nest, i, writes)) ||
          failed(checkSaved(nest, i, savedBytes)))
        return failure();
  }
  return checkMeetings(function);
}
