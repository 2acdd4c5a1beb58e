//===- KernelLibrary.h - What a target runs by routines ---------*- C++ -*-===//
//
// A target has a library of routines beside the code that is generated for it.
// weft-select-kernels asks the library of one target which ops it takes, and
// what a product of it does besides; all else is decomposed and generated.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_KERNELLIBRARY_H
#define WEFT_ANALYSIS_KERNELLIBRARY_H

#include "weft/Weft/Weft.h"

#include "mlir/IR/DialectInterface.h"

#include <memory>
#include <string>

namespace weft {

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

/// What a product of a library may do with its sum before it writes it, and
/// what it may add up beside it: rows of its result, or a factor over the inner
/// dimension.
enum class ProductPart {
  Bias,
  Relu,
  Gelu,
  ReluGrad,
  GeluGrad,
  ColumnSum,
  LhsSum,
  RhsSum
};

/// "bias", "relu", "gelu", "relu_grad", "gelu_grad", "column_sum", "lhs_sum",
/// "rhs_sum".
llvm::StringRef stringifyProductPart(ProductPart part);

/// The parts of a weft.gemm.
llvm::SmallVector<ProductPart> getProductParts(GemmOp op);

/// What a library says of an op.
struct LibraryAnswer {
  bool isKnown = false;   // it has a routine for ops of this name
  mlir::Type unsupported; // the first element type that one does not take

  bool runs() const { return isKnown && !unsupported; }
};

/// A product with the parts that it has got so far.
struct PartialProduct {
  MatmulOp product;
  bool hasBias = false;
  Epilogue epilogue = Epilogue::None;
  /// The sum is read beside its activation.
  bool keepsSum = false;
  bool hasColumnSum = false, hasLhsSum = false, hasRhsSum = false;
};

class KernelLibrary {
public:
  virtual ~KernelLibrary() = default;

  /// As options name it, and as messages do.
  virtual llvm::StringRef getName() const = 0;
  virtual llvm::StringRef getTitle() const = 0;

  virtual LibraryAnswer find(mlir::Operation *op) const = 0;
  virtual bool hasPart(ProductPart part) const = 0;
  /// Whether `product` gives the same result with that part as without it and
  /// with an op behind it.
  virtual bool mayMerge(ProductPart part, MatmulOp product) const {
    return hasPart(part);
  }
  /// Why that part cannot join, for a reader, or "": of a part that it has.
  virtual std::string findObstacle(ProductPart part,
                                   const PartialProduct &product) const {
    return "";
  }
  /// Whether its products see low-precision sums before these are rounded: such
  /// parts may join where rounding at the borders of ops is not asked for.
  virtual bool roundsOnce() const { return false; }
};

/// The libraries of a context: an interface of the weft dialect, which
/// extensions of targets fill while it is loaded.
class KernelLibraries : public mlir::DialectInterface::Base<KernelLibraries> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelLibraries)
  explicit KernelLibraries(mlir::Dialect *dialect) : Base(dialect) {}

  static KernelLibraries &of(mlir::Dialect &dialect);
  void add(std::unique_ptr<KernelLibrary> library) {
    libraries.push_back(std::move(library));
  }
  /// The library of that name, or the first if it is empty; null if there is
  /// none.
  const KernelLibrary *find(llvm::StringRef name) const;

private:
  std::vector<std::unique_ptr<KernelLibrary>> libraries;
};

//===----------------------------------------------------------------------===//
// Libraries that are tables
//===----------------------------------------------------------------------===//

/// Floating-point types, as a set.
enum Floats : unsigned {
  F32 = 1,
  F64 = 2,
  F16 = 4,
  BF16 = 8,
  UpToF32 = F32 | F16 | BF16,
};

struct LibraryRoutine {
  llvm::StringLiteral op;
  /// Types that its operands and results may have, where they are
  /// floating-point numbers.
  unsigned floats;
};

LibraryAnswer findRoutine(llvm::ArrayRef<LibraryRoutine> routines,
                          mlir::Operation *op);

} // namespace weft

#endif // WEFT_ANALYSIS_KERNELLIBRARY_H
