//===- PlanArena.h - The memory of one run of a plan ------------*- C++ -*-===//

#ifndef WEFT_LIB_INTERP_PLANARENA_H
#define WEFT_LIB_INTERP_PLANARENA_H

#include "weft/Interp/Interp.h"
#include "weft/Plan/Plan.h"

#include "llvm/ADT/DenseMap.h"

namespace weft {

/// Memory that is initialized to 0xFF, so that unwritten elements are NaN or
/// implausible numbers. In f64 mode a byte of the plan is kWide bytes here: a
/// floating-point element of any type can hold a double, and two elements
/// overlap exactly if they do in the plan.
class PlanArena {
public:
  /// One arena of `bytes` bytes, or without it a block for each root.
  PlanArena(ComputeMode mode, std::optional<int64_t> bytes);

  /// Assigns memory to a root, or reports an error at `op`. `name` identifies
  /// the root.
  llvm::LogicalResult place(mlir::Operation *op, const void *name,
                            mlir::MemRefType type, mlir::IntegerAttr offset);
  bool hasOffsets() const { return bytes.has_value(); }

  /// The elements of a type with a layout in the root `name`, row by row.
  Tensor load(const void *name, mlir::MemRefType type) const;
  /// Resets all bytes of a root to 0xFF.
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
