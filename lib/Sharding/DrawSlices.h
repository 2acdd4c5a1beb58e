//===- DrawSlices.h - Initial values of a slice alone -----------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_DRAWSLICES_H
#define WEFT_LIB_SHARDING_DRAWSLICES_H

#include "weft/Weft/Weft.h"

#include <optional>

namespace weft {

/// What a flat tensor of initial values is made of.
struct FlatDraws {
  mlir::Value seed;
  llvm::SmallVector<mlir::Attribute> draws; // DrawAttr, in order
};

/// Nothing if anything else than random numbers and constants is in the value,
/// or no random numbers.
std::optional<FlatDraws> findDraws(mlir::Value full);

} // namespace weft

#endif // WEFT_LIB_SHARDING_DRAWSLICES_H
