//===- Packing.cpp - Offsets for buffers with lifetimes -------------------===//

#include "weft/Memory/Packing.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <map>

#define DEBUG_TYPE "weft-plan-memory"

using namespace mlir;
using namespace weft;

namespace {
/// An item at its offset. Every item is compared with all placed ones, so what
/// that needs lies side by side.
struct Placed {
  PackItem item;
  int64_t offset;
  int64_t end;
};
} // namespace

/// Start of the smallest gap between the placed items that interfere with
/// `item`, or the end of the last of them.
static int64_t findGap(ArrayRef<Placed> placed, const PackItem &item,
                       int64_t bytes) {
  int64_t best = -1, bestSize = std::numeric_limits<int64_t>::max();
  int64_t free = 0;
  for (const Placed &other : placed) {
    if (!item.interferes(other.item))
      continue;
    int64_t size = other.offset - free;
    if (size >= bytes && size < bestSize) {
      best = free;
      bestSize = size;
    }
    free = std::max(free, other.end);
  }
  return best >= 0 ? best : free;
}

static Packing packInOrder(ArrayRef<PackItem> items, ArrayRef<size_t> order,
                           int64_t alignment) {
  Packing packing;
  packing.offsets.assign(items.size(), 0);
  // Sorted by offset.
  SmallVector<Placed> placed;
  for (size_t index : order) {
    int64_t bytes = llvm::alignTo(items[index].bytes, alignment);
    if (bytes == 0)
      continue;
    int64_t offset = findGap(placed, items[index], bytes);
    auto place =
        llvm::upper_bound(placed, offset, [](int64_t value, const Placed &p) {
          return value < p.offset;
        });
    placed.insert(place, {items[index], offset, offset + bytes});
    LDBG() << "item " << index << ": " << bytes << " bytes at " << offset;
    packing.offsets[index] = offset;
    packing.bytes = std::max(packing.bytes, offset + bytes);
  }
  return packing;
}

int64_t weft::getLowerBound(ArrayRef<PackItem> items, int64_t alignment) {
  std::map<int64_t, int64_t> change;
  for (const PackItem &item : items) {
    int64_t bytes = llvm::alignTo(item.bytes, alignment);
    change[item.begin] += bytes;
    change[item.end + 1] -= bytes;
  }
  int64_t live = 0, bound = 0;
  for (auto [position, delta] : change) {
    live += delta;
    bound = std::max(bound, live);
  }
  return bound;
}

Packing weft::packItems(ArrayRef<PackItem> items, int64_t alignment) {
  int64_t bound = getLowerBound(items, alignment);
  auto length = [&](size_t i) { return items[i].end - items[i].begin; };
  auto bySize = [&](size_t a, size_t b) {
    return items[a].bytes > items[b].bytes;
  };
  auto byLength = [&](size_t a, size_t b) { return length(a) > length(b); };
  auto byBegin = [&](size_t a, size_t b) {
    return items[a].begin < items[b].begin;
  };
  auto byArea = [&](size_t a, size_t b) {
    return static_cast<double>(items[a].bytes) * (length(a) + 1) >
           static_cast<double>(items[b].bytes) * (length(b) + 1);
  };
  Packing best;
  auto tryOrder = [&](function_ref<bool(size_t, size_t)> before) {
    if (best.bytes == bound && !best.offsets.empty())
      return;
    SmallVector<size_t> order =
        llvm::to_vector(llvm::seq<size_t>(0, items.size()));
    // Equal items keep their order.
    llvm::sort(order, [&](size_t a, size_t b) {
      return before(a, b) || (!before(b, a) && a < b);
    });
    Packing packing = packInOrder(items, order, alignment);
    if (best.offsets.empty() || packing.bytes < best.bytes)
      best = std::move(packing);
  };
  tryOrder(bySize);
  tryOrder(byLength);
  tryOrder(byBegin);
  tryOrder(byArea);
  return best;
}
