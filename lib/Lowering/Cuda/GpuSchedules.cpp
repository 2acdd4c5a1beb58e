//===- GpuSchedules.cpp - Grid, block and what each thread computes -------===//

#include "GpuEmitter.h"
#include "weft/Analysis/RowSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace weft;

static constexpr int64_t kThreads = kGroupThreads;
/// Bytes of the widest elements that a thread takes, and the most elements.
static constexpr int64_t kChunkBytes = 16, kChunkElements = 8;

GpuEmitter::GpuEmitter(func::FuncOp source, const LinalgKernel &kernel,
                       ArrayRef<int64_t> alignments)
    : source(source), kernel(kernel), shape(kernel.getShape()),
      alignments(alignments), b(source.getContext()), loc(source.getLoc()) {}

FailureOr<gpu::GPUFuncOp> GpuEmitter::emit(OpBuilder &builder) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace);
  SmallVector<Type> types(source.getNumArguments(), pointer);
  function = gpu::GPUFuncOp::create(builder, loc, source.getSymName(),
                                    builder.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  b.setInsertionPointToStart(&function.getBody().front());
  indices.resize(shape.getSizes().size());
  chooseIndexType();
  if (shape.hasSums() && failed(checkSums()))
    return failure();
  emitBody();
  gpu::ReturnOp::create(b, loc);
  if (numBlocks <= kMostGridBlocks)
    return function;
  return source.emitOpError("expects sizes for a grid of at most ")
         << kMostGridBlocks << " blocks, but got " << numBlocks << " blocks";
}

/// A kernel of single numbers is one row.
static bool isElements(const KernelShape &shape) {
  return shape.getKind() == KernelKind::Elementwise && shape.getRank() != 0;
}

int64_t weft::threadsOfBlock(const KernelShape &shape) {
  if (isElements(shape))
    return kThreads;
  if (shape.getKind() == KernelKind::Columns)
    return kColumnThreads * threadsOfColumn(shape);
  int64_t threads =
      getRowThreads(shape.getCount(DimRole::Inner) * shape.getLaneSize());
  return threads == kWarp ? kWarp * kRowsPerBlock : threads;
}

void GpuEmitter::emitBody() {
  if (shape.getKind() == KernelKind::Columns)
    return emitColumns();
  if (shape.hasSums())
    return emitSummedRows();
  if (isElements(shape))
    return emitElements();
  emitRows();
}

/// The launch that the code is written for.
void GpuEmitter::setLaunch(int64_t blocks, int64_t columns, int64_t rows) {
  auto sizes = [&](int64_t x, int64_t y) {
    return b.getDenseI32ArrayAttr(
        {static_cast<int32_t>(x), static_cast<int32_t>(y), 1});
  };
  numBlocks = std::max<int64_t>(blocks, 1);
  function.setKnownBlockSizeAttr(sizes(columns, rows));
  function.setKnownGridSizeAttr(sizes(std::min(numBlocks, kMostGridBlocks), 1));
}

/// A nest over the outer loops: its temporaries are single numbers.
void GpuEmitter::emitOuterNest(const KernelNest &nest) {
  emitValues(nest, /*outer=*/true);
  for (auto [i, output] : llvm::enumerate(nest.outputs))
    if (!isa<BlockArgument>(output.base))
      numbers[output.base] = getValue(nest, nest.getResult(i), 0);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Elements that a thread takes: 16 bytes of the widest type of which it takes
/// one for each step of the loops.
int64_t GpuEmitter::chooseChunk() const {
  int64_t bytes = kChunkBytes / kChunkElements, size = shape.getLaneSize();
  for (const KernelNest &nest : kernel.getNests())
    for (const auto *operands : {&nest.inputs, &nest.outputs})
      for (const NestOperand &operand : *operands)
        if (nest.level != NestLevel::End && isPerLane(operand) &&
            isa<BlockArgument>(operand.base))
          bytes =
              std::max<int64_t>(bytes, cast<MemRefType>(operand.base.getType())
                                               .getElementTypeBitWidth() /
                                           8);
  int64_t chunk = kChunkBytes / bytes;
  while (chunk / 2 >= size && chunk > 1)
    chunk /= 2;
  return chunk;
}

/// Each thread takes a chunk of the last dimension.
void GpuEmitter::emitElements() {
  chunk = chooseChunk();
  int64_t chunks = shape.getCount(DimRole::Outer) *
                   shape.getCount(DimRole::Inner) *
                   llvm::divideCeil(shape.getLaneSize(), chunk);
  setLaunch(llvm::divideCeil(chunks, kThreads), kThreads);
  Value number =
      add(multiply(blockId(), kThreads), threadId(gpu::Dimension::x));
  if (chunks % kThreads == 0 && chunks != 0)
    return emitElementChunk(number);
  emitIf(isLess(number, constant(chunks)), {}, [&]() -> Values {
    emitElementChunk(number);
    return {};
  });
}

void GpuEmitter::emitElementChunk(Value number) {
  int64_t perLane = llvm::divideCeil(shape.getLaneSize(), chunk);
  decode(divide(number, perLane), {DimRole::Inner, DimRole::Outer});
  bool isFlat = shape.getSizes().size() == 1;
  indices.back() =
      multiply(isFlat ? number : remainder(number, perLane), chunk);
  for (const KernelNest &nest : kernel.getNests()) {
    if (nest.level == NestLevel::Outer) {
      emitOuterNest(nest);
      continue;
    }
    emitValues(nest, /*outer=*/true);
    emitPiece(nest, {});
  }
}
