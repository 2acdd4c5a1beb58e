//===- KernelRange.cpp - Ranges of a kernel for the threads of the CPU ----===//

#include "KernelRange.h"

using namespace mlir;
using namespace weft;

/// Elements that one part of the range should have at least.
static constexpr int64_t kGrainElements = 4096;
/// Columns of a tile: enough for streaming, few enough for a share per thread.
static constexpr int64_t kLeastTile = 64, kMostTile = 1024, kTileShare = 8;

bool weft::isFlat(const KernelShape &shape) {
  return shape.getKind() == KernelKind::Elementwise && shape.getRank() == 1;
}

static int64_t chooseTile(int64_t columns) {
  int64_t tile = std::clamp<int64_t>(llvm::divideCeil(columns, kTileShare),
                                     kLeastTile, kMostTile);
  return llvm::divideCeil(tile, kLanes) * kLanes;
}

KernelRange KernelRange::choose(const KernelShape &shape) {
  KernelRange range;
  const int64_t lanes = shape.getLaneSize();
  if (isFlat(shape)) {
    range.extent = lanes;
    range.grain = kGrainElements;
    return range;
  }
  range.extent = shape.getCount(DimRole::Outer);
  if (shape.getKind() == KernelKind::Columns) {
    range.tile = chooseTile(lanes);
    range.extent *= llvm::divideCeil(lanes, range.tile);
    return range;
  }
  const int64_t row = shape.getCount(DimRole::Inner) * lanes;
  range.grain = std::max<int64_t>(1, kGrainElements / row);
  return range;
}

std::optional<KernelRange> KernelRange::get(LLVM::LLVMFuncOp function) {
  auto extent = function->getAttrOfType<IntegerAttr>(WeftDialect::kExtentAttr);
  auto grain = function->getAttrOfType<IntegerAttr>(WeftDialect::kGrainAttr);
  if (!extent || !grain)
    return std::nullopt;
  KernelRange range;
  range.extent = extent.getInt();
  range.grain = grain.getInt();
  return range;
}

void KernelRange::set(LLVM::LLVMFuncOp function) const {
  Builder b(function.getContext());
  function->setAttr(WeftDialect::kExtentAttr, b.getI64IntegerAttr(extent));
  function->setAttr(WeftDialect::kGrainAttr, b.getI64IntegerAttr(grain));
}
