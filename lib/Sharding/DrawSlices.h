//===- DrawSlices.h - Initial values of one shard ---------------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_DRAWSLICES_H
#define WEFT_LIB_SHARDING_DRAWSLICES_H

#include "weft/Weft/Weft.h"

#include <optional>

namespace weft {

/// The random numbers that a flat tensor of initial values consists of.
struct FlatDraws {
  mlir::Value seed;
  llvm::SmallVector<mlir::Attribute> draws; // DrawAttr, in order
};

/// Finds the draws of a flat tensor. Nothing if it contains other values than
/// random numbers and constants, or no random numbers.
std::optional<FlatDraws> findDraws(mlir::Value full);

} // namespace weft

#endif // WEFT_LIB_SHARDING_DRAWSLICES_H
