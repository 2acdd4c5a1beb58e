//===- CastRegions.h - Settings of autocast regions -------------*- C++ -*-===//

#ifndef WEFT_LIB_PRECISION_CASTREGIONS_H
#define WEFT_LIB_PRECISION_CASTREGIONS_H

#include "weft/Weft/Weft.h"

#include "llvm/ADT/DenseMap.h"

namespace weft {

/// Settings of a `with torch.autocast(...)` for the ops inside.
struct CastSettings {
  /// The low type, or null: nothing is cast in the whole program.
  mlir::Type dtype;
  bool enabled = true;
};

/// The settings of the ops from regions.
using CastSettingsMap = llvm::DenseMap<mlir::Operation *, CastSettings>;

/// Moves the ops of all `weft.autocast` regions of the program in front of
/// their region and erases the regions. Returns the settings of these ops; all
/// other ops have the settings `outside`.
CastSettingsMap inlineAutocastRegions(ProgramOp program, CastSettings outside);

} // namespace weft

#endif // WEFT_LIB_PRECISION_CASTREGIONS_H
