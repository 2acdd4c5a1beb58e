//===- Buffers.cpp - Roots and offsets of buffers -------------------------===//

#include "weft/Plan/Transfers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llvm;

namespace weft::plan {

int64_t getElementBytes(MemRefType type) {
  return (type.getElementTypeBitWidth() + 7) / 8;
}

int64_t getBufferBytes(MemRefType type) {
  return type.getNumElements() * getElementBytes(type);
}

bool isWorkspace(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getElementType().isInteger(8);
}

Value getRoot(Value buffer) {
  if (auto view = buffer.getDefiningOp<ViewOp>())
    return view.getSource();
  return buffer;
}

std::optional<int64_t> getRootOffset(Value root) {
  IntegerAttr offset =
      llvm::TypeSwitch<Operation *, IntegerAttr>(root.getDefiningOp())
          .Case<AllocOp, UseOp, InputOp, StagingOp>(
              [](auto op) { return op.getOffsetAttr(); })
          .Default(IntegerAttr());
  if (!offset)
    return std::nullopt;
  return offset.getInt();
}

std::optional<int64_t> getByteOffset(Value buffer) {
  std::optional<int64_t> offset = getRootOffset(getRoot(buffer));
  if (!offset)
    return std::nullopt;
  auto type = cast<MemRefType>(buffer.getType());
  return *offset + Layout::get(type).offset * getElementBytes(type);
}

void setRootOffset(Value root, int64_t offset) {
  IntegerAttr attr = Builder(root.getContext()).getI64IntegerAttr(offset);
  llvm::TypeSwitch<Operation *>(root.getDefiningOp())
      .Case<AllocOp, UseOp, InputOp, StagingOp>(
          [&](auto op) { op.setOffsetAttr(attr); });
}

} // namespace weft::plan
