//===- Packing.h - Offsets for buffers with lifetimes -----------*- C++ -*-===//

#ifndef WEFT_MEMORY_PACKING_H
#define WEFT_MEMORY_PACKING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace weft {

/// A block of bytes that is needed at the positions [begin, end].
struct PackItem {
  int64_t bytes = 0;
  int64_t begin = 0;
  int64_t end = 0;

  bool interferes(const PackItem &other) const {
    return begin <= other.end && other.begin <= end;
  }
};

struct Packing {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Offsets, multiples of `alignment`, so that items that are needed at the same
/// time are disjoint. Places items in several orders, each into the smallest
/// gap that holds it, and returns the smallest result. Deterministic.
Packing packItems(llvm::ArrayRef<PackItem> items, int64_t alignment);

/// Most bytes needed at one position: no packing is smaller.
int64_t getLowerBound(llvm::ArrayRef<PackItem> items, int64_t alignment);

} // namespace weft

#endif // WEFT_MEMORY_PACKING_H
