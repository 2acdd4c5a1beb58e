//===- KernelShape.h - Iteration shape of a kernel --------------*- C++ -*-===//
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

/// Role of an iteration dimension in the loop nest. Outer dimensions enclose
/// the others. Inner dimensions iterate within a row or column. The lane
/// dimension is the last one; several of its elements are computed at once.
enum class DimRole { Outer, Inner, Lane };

/// How often a value changes: per step of the outer loops, per step of the
/// inner ones, per lane.
enum class ValueDepth { Outer = 0, Inner = 1, Lane = 2 };

class KernelShape {
public:
  KernelShape() = default;
  KernelShape(KernelKind kind, llvm::ArrayRef<int64_t> sizes,
              llvm::ArrayRef<int64_t> over, llvm::ArrayRef<int64_t> sums)
      : kind(kind), sizes(sizes), over(over), sums(sums) {}

  /// The shape recorded on a kernel.
  static KernelShape get(KernelOp kernel);
  void set(KernelOp kernel) const;
  /// The shape recorded on a function lowered from a kernel. Fails with an
  /// error if its attributes are missing or invalid.
  static llvm::FailureOr<KernelShape> get(mlir::FunctionOpInterface function);
  void set(mlir::FunctionOpInterface function) const;

  KernelKind getKind() const { return kind; }
  llvm::ArrayRef<int64_t> getSizes() const { return sizes; }
  llvm::ArrayRef<int64_t> getOver() const { return over; }
  /// The outer dimensions of rows that sums over rows run over.
  llvm::ArrayRef<int64_t> getSums() const { return sums; }
  bool hasSums() const { return !sums.empty(); }
  /// Rows that a sum over rows adds up.
  int64_t getSummedRows() const;
  unsigned getRank() const { return sizes.size(); }

  DimRole getRole(unsigned dim) const;
  /// Elements of all dimensions of a role.
  int64_t getCount(DimRole role) const;
  int64_t getLaneSize() const { return sizes.empty() ? 1 : sizes.back(); }
  /// How often the index of a dimension, or the element at an access, changes.
  ValueDepth getDepth(unsigned dim) const;
  ValueDepth getDepth(const SpaceAccess &access) const;

  /// The shape in the kernel's assembly format: "rows [8, 64] over [1]".
  std::string spell() const;
  bool operator==(const KernelShape &other) const {
    return kind == other.kind && sizes == other.sizes && over == other.over &&
           sums == other.sums;
  }

private:
  KernelKind kind = KernelKind::Elementwise;
  llvm::SmallVector<int64_t> sizes, over, sums;
};

} // namespace weft

#endif // WEFT_ANALYSIS_KERNELSHAPE_H
