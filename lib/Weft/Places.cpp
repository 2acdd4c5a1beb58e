//===- Places.cpp - Destinations of ops and elements of views -------------===//

#include "weft/Weft/Weft.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

std::optional<Layout> ReshapeOp::apply(const Layout &source) {
  return source.reshape(getShape(getResult()));
}

std::optional<Layout> SliceOp::apply(const Layout &source) {
  Layout layout = source;
  for (size_t i = 0, e = layout.sizes.size(); i != e; ++i) {
    layout.offset += getOffsets()[i] * source.strides[i];
    layout.sizes[i] = getSizes()[i];
    layout.strides[i] = source.strides[i] * getStrides()[i];
  }
  return layout;
}

std::optional<Layout> TransposeOp::apply(const Layout &source) {
  Layout layout = source;
  for (auto [i, from] : llvm::enumerate(getPermutation())) {
    layout.sizes[i] = source.sizes[from];
    layout.strides[i] = source.strides[from];
  }
  return layout;
}

/// Repeated dimensions get stride 0.
std::optional<Layout> BroadcastOp::apply(const Layout &source) {
  Layout layout = Layout::getDense(getShape(getResult()));
  layout.offset = source.offset;
  size_t added = layout.sizes.size() - source.sizes.size();
  for (size_t i = 0, e = layout.sizes.size(); i != e; ++i) {
    bool repeats = i < added || source.sizes[i - added] != layout.sizes[i];
    layout.strides[i] = repeats ? 0 : source.strides[i - added];
  }
  return layout;
}

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

SmallVector<unsigned>
weft::CallOp::getReusableOperands(unsigned index, const SymbolTable &symbols) {
  auto kernel = symbols.lookup<KernelOp>(getKernelAttr().getAttr());
  ArrayRef<int64_t> inputs = kernel.getInPlaceInputs(index);
  return SmallVector<unsigned>(inputs.begin(), inputs.end());
}

/// Rows at one distance, one after the other.
static bool canWriteRows(const Layout &layout) {
  std::optional<StoredMatrix> matrix = StoredMatrix::get(layout, false);
  return matrix && !matrix->transposed;
}

bool MatmulOp::canWrite(unsigned, const Layout &layout) {
  return canWriteRows(layout);
}

bool MatmulOp::canAccumulate(unsigned) { return true; }

/// Results other than the product are dense.
bool GemmOp::canWrite(unsigned index, const Layout &layout) {
  return index == 0 ? canWriteRows(layout) : layout.isDense();
}

/// Activations and column sums need the product alone, without an accumulated
/// value. Sums of the factors do not depend on it.
bool GemmOp::canAccumulate(unsigned index) {
  return index == 0 && getEpilogue() == Epilogue::None && !getColumnSum();
}

/// The elements of a head are contiguous; lse is dense.
static bool canWriteHeads(const Layout &layout) {
  return layout.sizes.back() == 1 || layout.strides.back() == 1;
}

bool AttentionOp::canWrite(unsigned index, const Layout &layout) {
  return index == 0 ? canWriteHeads(layout) : layout.isDense();
}

bool AttentionGradOp::canWrite(unsigned, const Layout &layout) {
  return canWriteHeads(layout);
}

bool EmbeddingGradOp::canAccumulate(unsigned) { return true; }

SmallVector<unsigned> AccumulateOp::getReusableOperands(unsigned,
                                                        const SymbolTable &) {
  return {0};
}
