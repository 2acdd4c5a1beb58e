//===- PlanArena.h - The memory of one run of a plan ------------*- C++ -*-===//

#ifndef WEFT_LIB_INTERP_PLANARENA_H
#define WEFT_LIB_INTERP_PLANARENA_H

#include "weft/Interp/Interp.h"
#include "weft/Plan/Plan.h"

#include "llvm/ADT/DenseMap.h"

namespace weft {

/// Bytes that start as 0xFF, so that what no command has written is NaN or a
/// wild number. In f64 mode every byte of the plan is kWide bytes here: an
/// element of any type has room for a double, and two elements share bytes
/// exactly if they do in the plan.
class PlanArena {
public:
  /// One arena of that size, or without it a block for each root.
  PlanArena(ComputeMode mode, std::optional<int64_t> bytes);

  /// Finds the place of a root, or says at `op` why it has none. `name` stands
  /// for the root where roots have blocks.
  llvm::LogicalResult place(mlir::Operation *op, const void *name,
                            mlir::MemRefType type, mlir::IntegerAttr offset);
  bool hasOffsets() const { return bytes.has_value(); }

  /// The elements of a type with a layout in the root `name`, row by row.
  Tensor load(const void *name, mlir::MemRefType type) const;
  /// Makes all bytes of a root what they were before anything was written.
  void poison(const void *name, mlir::MemRefType type);
  void store(const void *name, mlir::MemRefType type, const Tensor &tensor);

private:
  static constexpr int64_t kWide = 4;
  int64_t getScale() const { return mode == ComputeMode::F64 ? kWide : 1; }

  ComputeMode mode;
  std::optional<int64_t> bytes;
  std::vector<uint8_t> arena;
  /// The blocks, where there is no arena.
  std::vector<std::unique_ptr<std::vector<uint8_t>>> blocks;
  llvm::DenseMap<const void *, uint8_t *> places;
};

} // namespace weft

#endif // WEFT_LIB_INTERP_PLANARENA_H
