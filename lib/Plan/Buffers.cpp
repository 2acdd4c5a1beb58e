//===- Buffers.cpp - Roots and offsets of buffers -------------------------===//

#include "weft/Plan/BufferBytes.h"
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

SmallVector<Operation *> getUsers(Value root) {
  SmallVector<Operation *> users;
  for (Operation *user : root.getUsers())
    if (auto view = dyn_cast<ViewOp>(user))
      llvm::append_range(users, view.getView().getUsers());
    else
      users.push_back(user);
  return users;
}

BufferBytes::BufferBytes(Value buffer)
    : root(getRoot(buffer)),
      layout(Layout::get(cast<MemRefType>(buffer.getType()))) {
  if (std::optional<int64_t> begin = getRootOffset(root))
    bytes = {*begin, *begin + getBufferBytes(cast<MemRefType>(root.getType()))};
}

bool BufferBytes::overlaps(const BufferBytes &other) const {
  if (root == other.root)
    return layout.overlaps(other.layout);
  if (!bytes || !other.bytes)
    return bytes.has_value() != other.bytes.has_value();
  return bytes->overlaps(*other.bytes);
}

} // namespace weft::plan
