//===- ArenaMap.cpp - The last writer of each byte of the arena -----------===//

#include "ArenaMap.h"

using namespace mlir;
using namespace weft;

ByteRange weft::getRootBytes(Value root) {
  int64_t begin = *plan::getRootOffset(root);
  return {begin,
          begin + plan::getBufferBytes(cast<MemRefType>(root.getType()))};
}

/// Gives the bytes of `root` to it; roots that lose bytes lose all of them.
void ArenaMap::claim(Value root) {
  ByteRange bytes = getRootBytes(root);
  auto at = owners.lower_bound(bytes.begin);
  if (at != owners.begin() && std::prev(at)->second.end > bytes.begin)
    --at;
  while (at != owners.end() && at->first < bytes.end) {
    if (at->second.root != root) {
      takenBy[at->second.root] = root;
      written.erase(at->second.root);
    }
    at = owners.erase(at);
  }
  owners[bytes.begin] = {bytes.end, root};
}

void ArenaMap::write(Value buffer) {
  Value root = plan::getRoot(buffer);
  auto rootType = cast<MemRefType>(root.getType());
  if (!written.count(root))
    claim(root);
  takenBy.erase(root);
  written[root].add(cast<MemRefType>(buffer.getType()),
                    rootType.getNumElements());
}

LogicalResult ArenaMap::read(Operation *op, Value buffer) {
  Value root = plan::getRoot(buffer);
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getNumElements() == 0)
    return success();
  auto found = written.find(root);
  if (found == written.end()) {
    Value taker = takenBy.lookup(root);
    InFlightDiagnostic error =
        op->emitOpError("expects ")
        << type
        << (taker ? " to keep its bytes until it is read, but got them written "
                    "by another buffer"
                  : " to be written before it is read, but got no write");
    error.attachNote(root.getLoc()) << "the buffer at " << getRootBytes(root);
    if (taker)
      error.attachNote(taker.getLoc())
          << "the other buffer at " << getRootBytes(taker);
    return error;
  }
  if (found->second.covers(type))
    return success();
  return op->emitOpError("expects every element of ")
         << type << " to be written before it is read, but got a part of it";
}
