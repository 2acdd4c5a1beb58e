//===- KernelSpace.h - The iteration space of a fused kernel ----*- C++ -*-===//
//
// A kernel runs over one dense n-dimensional space. Each of its values depends
// on some dimensions of that space and is constant along the others; what comes
// from memory is an offset and a stride per dimension. The space is found by
// adding ops one by one: this is how fusion decides whether an op fits, and how
// the lowering learns the loops of an outlined kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_KERNELSPACE_H
#define WEFT_ANALYSIS_KERNELSPACE_H

#include "weft/Weft/Weft.h"

#include "llvm/ADT/MapVector.h"

namespace weft {

/// Where the elements of a value lie: an offset and one stride, in elements,
/// per dimension of the space (0: the value does not depend on it).
struct SpaceAccess {
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 4> strides;

  bool operator==(const SpaceAccess &other) const {
    return offset == other.offset && strides == other.strides;
  }
  bool dependsOn(unsigned dim) const { return strides[dim] != 0; }
};

/// An operand that is read from a value outside of the kernel, or the number of
/// an element: then the base is a `weft.iota`, and the place is the number.
struct ExternalUse {
  mlir::Value base;
  SpaceAccess access;
};

class KernelSpace {
public:
  /// `allowsSums`: reductions over rows may be added to a space that also
  /// reduces its rows.
  explicit KernelSpace(bool allowsSums = false) : allowsSums(allowsSums) {}

  /// Adds an op whose operands are members, views or values from outside.
  /// Returns false, and may leave the space broken, if it does not fit.
  bool add(mlir::Operation *op);

  /// As `add`, but leaves the space as it was if the op does not fit.
  bool tryAdd(mlir::Operation *op);

  llvm::ArrayRef<int64_t> getSizes() const { return sizes; }
  int64_t getNumPoints() const;
  bool hasReduction() const { return reductions; }
  /// Whether reductions run over `dim`.
  bool isReduced(unsigned dim) const { return reduced[dim]; }
  /// Whether reductions run over the last dimension (row kernels) or not
  /// (column kernels).
  bool reducesLast() const { return reductions && reduced.back(); }
  bool mayHaveSums() const { return allowsSums; }
  /// The sums over rows of a row kernel, and the dimensions that they run over.
  bool hasSums() const { return !sums.empty(); }
  bool isSum(mlir::Value member) const { return sums.contains(member); }
  unsigned getNumSums() const { return sums.size(); }
  bool isSummed(unsigned dim) const { return summed[dim]; }
  int64_t getSummedRows() const;
  /// The most elements that one loop over the end of a row can take, if every
  /// read and the given results walk them alike and sums keep the order of
  /// whole rows; 0 if no number of them does.
  int64_t findRowLanes(llvm::ArrayRef<mlir::Value> outputs) const;
  /// Whether reductions add up in the order that they have alone.
  bool keepsOrder() const { return !reducesLast() || findRowLanes({}) != 0; }

  /// Whether the result of an op added to the space.
  bool isMember(mlir::Value value) const { return members.contains(value); }
  const SpaceAccess &getAccess(mlir::Value member) const {
    return members.find(member)->second;
  }
  /// The read behind an operand, or null if it is a member or a constant.
  const ExternalUse *getUse(mlir::OpOperand &operand) const {
    auto it = uses.find(&operand);
    return it == uses.end() ? nullptr : &it->second;
  }
  unsigned getNumUses() const { return uses.size(); }
  auto getUses() const { return llvm::make_range(uses.begin(), uses.end()); }
  /// Whether the member depends on all dimensions.
  bool isFull(mlir::Value member) const;
  /// Whether the member depends on exactly the dimensions not reduced.
  bool isReducedLevel(mlir::Value member) const;

  /// Lets the rows that are read from `base`, or of the member `base` where
  /// it is written, begin `pitch` elements apart instead of `columns`. False if
  /// they are not read or written row by row.
  bool spreadReads(mlir::Value base, int64_t columns, int64_t pitch);
  bool spreadWrites(mlir::Value member, int64_t columns, int64_t pitch);

  /// Joins neighbouring dimensions that every read and the given results walk
  /// alike. `outer` has one flag per dimension and is joined along. The last
  /// dimension gets at most `lanes` elements.
  void collapse(llvm::ArrayRef<mlir::Value> outputs,
                llvm::SmallVectorImpl<bool> &outer, int64_t lanes);

private:
  /// Elements of a value from outside.
  struct View {
    mlir::Value base;
    Layout layout;
  };
  /// Dimensions of the space that each dimension of a tensor runs over.
  using DimLists = llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 4>;

  bool addView(ViewOpInterface op);
  bool addIota(IotaOp op);
  bool addAlias(mlir::Operation *op);
  bool addElementwise(mlir::Operation *op);
  bool addReduce(ReduceOp op);
  bool addSum(ReduceOp op, llvm::ArrayRef<bool> dims);
  void addReduced(mlir::Value result, llvm::ArrayRef<bool> dims);

  bool locate(mlir::Operation *op, llvm::ArrayRef<int64_t> shape,
              DimLists &lists);
  bool locateByMembers(mlir::Operation *op, llvm::ArrayRef<int64_t> shape,
                       DimLists &lists);
  bool grow(mlir::Operation *op, llvm::ArrayRef<int64_t> shape,
            DimLists &lists);
  bool assign(llvm::ArrayRef<int64_t> shape, llvm::SmallVector<bool> support,
              DimLists &lists);
  void split(unsigned dim, int64_t inner);
  bool useOperand(mlir::OpOperand &operand, const DimLists &lists);
  bool walksAsOne(unsigned dim, llvm::ArrayRef<mlir::Value> outputs) const;
  SpaceAccess makeAccess(const Layout &layout, const DimLists &lists) const;
  View getView(mlir::Value value) const;
  llvm::SmallVector<bool> getSupport(mlir::Value member) const;
  template <typename Fn> void forEachAccess(Fn fn);

  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<bool> reduced, summed;
  bool allowsSums = false;
  bool reductions = false;
  bool empty = true;
  // Most spaces are of a few ops.
  llvm::SmallMapVector<mlir::Value, SpaceAccess, 8> members;
  llvm::SmallDenseSet<mlir::Value, 8> afterReduction;
  llvm::SmallDenseSet<mlir::Value, 4> sums; // under all their names
  llvm::SmallDenseSet<mlir::Value, 4> constants;
  llvm::SmallDenseMap<mlir::Value, View, 2> views;
  llvm::SmallMapVector<mlir::OpOperand *, ExternalUse, 8> uses;
};

/// Whether the op reduces over dimensions of size 1 only: another name.
bool isTrivialReduce(mlir::Operation *op);

/// Whether the op is a constant with one repeated value.
bool isSplatConstant(mlir::Operation *op);

} // namespace weft

#endif // WEFT_ANALYSIS_KERNELSPACE_H
