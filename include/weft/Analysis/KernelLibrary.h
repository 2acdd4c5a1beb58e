//===- KernelLibrary.h - Library routines of a target -----------*- C++ -*-===//
//
// A target has a library of routines in addition to generated kernels.
// weft-select-kernels asks the target's library which ops it runs and which
// parts its matrix products merge. All other ops are decomposed and generated.
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

/// Parts that a library product may merge. Bias to GeluGrad change the sum
/// before the product writes it. ColumnSum adds up the rows of the result;
/// LhsSum and RhsSum add up a factor over the inner dimension.
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

/// Whether a library runs an op.
struct LibraryAnswer {
  bool isKnown = false;   // it has a routine for ops of this name
  mlir::Type unsupported; // the first element type that one does not take

  bool runs() const { return isKnown && !unsupported; }
};

/// A product with the parts merged so far.
struct PartialProduct {
  MatmulOp product;
  bool hasBias = false;
  Epilogue epilogue = Epilogue::None;
  /// Other ops read the sum before its activation.
  bool keepsSum = false;
  bool hasColumnSum = false, hasLhsSum = false, hasRhsSum = false;
};

class KernelLibrary {
public:
  virtual ~KernelLibrary() = default;

  /// The name in options, and the title in messages.
  virtual llvm::StringRef getName() const = 0;
  virtual llvm::StringRef getTitle() const = 0;

  virtual LibraryAnswer find(mlir::Operation *op) const = 0;
  virtual bool hasPart(ProductPart part) const = 0;
  /// Whether merging the part into `product` gives the same result as a
  /// separate op after the product.
  virtual bool mayMerge(ProductPart part, MatmulOp product) const {
    return hasPart(part);
  }
  /// For a part that the library has: a readable reason why it cannot merge
  /// into `product`, or "".
  virtual std::string findObstacle(ProductPart part,
                                   const PartialProduct &product) const {
    return "";
  }
  /// Whether merged parts read a low-precision sum before it is rounded. Such
  /// parts may merge only where rounding at op boundaries is not required.
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
  /// The library of that name, or null.
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
