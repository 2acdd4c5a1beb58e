//===- PlanArena.cpp - The memory of one run of a plan --------------------===//

#include "PlanInterpreter.h"

#include <cstring>

using namespace mlir;
using namespace weft;

static constexpr uint8_t kPoison = 0xFF;

PlanArena::PlanArena(ComputeMode mode, std::optional<int64_t> bytes)
    : mode(mode), bytes(bytes), arena(bytes.value_or(0) * getScale(), kPoison) {
}

LogicalResult PlanArena::place(Operation *op, const void *name, MemRefType type,
                               IntegerAttr offset) {
  int64_t size = plan::getBufferBytes(type);
  if (!bytes) {
    blocks.push_back(
        std::make_unique<std::vector<uint8_t>>(size * getScale(), kPoison));
    places[name] = blocks.back()->data();
    return success();
  }
  if (!offset)
    return op->emitOpError(
        "expects an offset (weft-plan-memory), but got none");
  int64_t begin = offset.getInt(), alignment = plan::getElementBytes(type);
  if (begin % alignment != 0)
    return op->emitOpError("expects an offset that is a multiple of ")
           << alignment << ", but got " << begin;
  if (begin < 0 || begin > *bytes - size)
    return op->emitOpError("expects bytes inside [0, ")
           << *bytes << "), but got " << size << " at " << begin;
  places[name] = arena.data() + begin * getScale();
  return success();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Calls visit(element of the tensor, its distance from the root in elements).
static void forEachElement(const plan::Layout &layout,
                           function_ref<void(int64_t, int64_t)> visit) {
  int64_t position = 0;
  forEachIndex(layout.sizes, [&](ArrayRef<int64_t> index) {
    int64_t distance = layout.offset;
    for (auto [i, stride] : llvm::zip(index, layout.strides))
      distance += i * stride;
    visit(position++, distance);
  });
}

Tensor PlanArena::load(const void *name, MemRefType type) const {
  ElementKind kind = *elementKindOf(type.getElementType());
  bool isWide = mode == ComputeMode::F64;
  ElementKind stored = isWide && isFloat(kind) ? ElementKind::F64 : kind;
  Tensor tensor(type.getShape().vec(), kind);
  const uint8_t *root = places.lookup(name);
  int64_t step = plan::getElementBytes(type) * getScale();
  forEachElement(plan::Layout::get(type), [&](int64_t i, int64_t distance) {
    tensor.loadElement(i, stored, root + distance * step);
  });
  return tensor;
}

void PlanArena::poison(const void *name, MemRefType type) {
  std::memset(places.lookup(name), kPoison,
              plan::getBufferBytes(type) * getScale());
}

void PlanArena::store(const void *name, MemRefType type, const Tensor &tensor) {
  bool isWide = mode == ComputeMode::F64;
  ElementKind stored =
      isWide && tensor.isFloat() ? ElementKind::F64 : tensor.kind();
  uint8_t *root = places.lookup(name);
  int64_t step = plan::getElementBytes(type) * getScale();
  forEachElement(plan::Layout::get(type), [&](int64_t i, int64_t distance) {
    uint8_t *element = root + distance * step;
    // The element owns its unused bytes too, so reset them.
    std::memset(element, kPoison, step);
    tensor.storeElement(i, stored, element);
  });
}
