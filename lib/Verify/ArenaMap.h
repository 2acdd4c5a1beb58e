//===- ArenaMap.h - Last writer of each byte of the arena -------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_ARENAMAP_H
#define WEFT_LIB_VERIFY_ARENAMAP_H

#include "weft/Layout/ElementSet.h"
#include "weft/Plan/Plan.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace weft {

/// Arena bytes of a root; its offset is set.
ByteRange getRootBytes(mlir::Value root);

/// The arena while a program runs. A root owns all of its bytes from its first
/// write until another root writes one of them; within a root, the map knows
/// which elements have been written.
class ArenaMap {
public:
  /// Records that `buffer` is written.
  void write(mlir::Value buffer);

  /// Checks that every element of `buffer` was written and not overwritten.
  llvm::LogicalResult read(mlir::Operation *op, mlir::Value buffer);

private:
  struct Owner {
    int64_t end;
    mlir::Value root;
  };

  void claim(mlir::Value root);

  /// By first byte; disjoint.
  std::map<int64_t, Owner> owners;
  llvm::DenseMap<mlir::Value, ElementSet> written;
  /// The root that overwrote bytes of another one.
  llvm::DenseMap<mlir::Value, mlir::Value> takenBy;
};

} // namespace weft

#endif // WEFT_LIB_VERIFY_ARENAMAP_H
