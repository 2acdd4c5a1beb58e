//===- KernelShape.h - What a kernel runs over ------------------*- C++ -*-===//
//
// The facts of shape that fusion records on a `weft.kernel`, and the loops that
// follow from them. Targets choose ranges, tiles and blocks from these alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_KERNELSHAPE_H
#define WEFT_ANALYSIS_KERNELSHAPE_H

#include "weft/Analysis/KernelSpace.h"

namespace weft {

/// Bytes of a row that a kernel may keep on its stack between passes over it.
inline constexpr int64_t kMaxSavedBytes = 128 << 10;

/// What a dimension of the space is in the loop nest: around the others, inside
/// of a row or column, or the last one, of whose elements some are computed at
/// once.
enum class DimRole { Outer, Inner, Lane };

/// How often a value changes: per step of the outer loops, per step of the
/// inner ones, per lane.
enum class ValueDepth { Outer = 0, Inner = 1, Lane = 2 };

class KernelShape {
public:
  KernelShape() = default;
  KernelShape(KernelKind kind, llvm::ArrayRef<int64_t> sizes,
              llvm::ArrayRef<int64_t> over)
      : kind(kind), sizes(sizes), over(over) {}

  /// What is recorded on a kernel.
  static KernelShape get(KernelOp kernel);
  void set(KernelOp kernel) const;
  /// The same on a function that a kernel has become. Fails with an error on
  /// one that does not say it.
  static llvm::FailureOr<KernelShape> get(mlir::FunctionOpInterface function);
  void set(mlir::FunctionOpInterface function) const;

  KernelKind getKind() const { return kind; }
  llvm::ArrayRef<int64_t> getSizes() const { return sizes; }
  llvm::ArrayRef<int64_t> getOver() const { return over; }
  unsigned getRank() const { return sizes.size(); }

  DimRole getRole(unsigned dim) const;
  /// Elements of all dimensions of a role.
  int64_t getCount(DimRole role) const;
  int64_t getLaneSize() const { return sizes.empty() ? 1 : sizes.back(); }
  /// How often the index of a dimension changes, and what is read or written
  /// there.
  ValueDepth getDepth(unsigned dim) const;
  ValueDepth getDepth(const SpaceAccess &access) const;

  /// As the kernel's own syntax has it: "rows [8, 64] over [1]".
  std::string spell() const;
  bool operator==(const KernelShape &other) const {
    return kind == other.kind && sizes == other.sizes && over == other.over;
  }

private:
  KernelKind kind = KernelKind::Elementwise;
  llvm::SmallVector<int64_t> sizes, over;
};

} // namespace weft

#endif // WEFT_ANALYSIS_KERNELSHAPE_H
