//===- TypeText.h - Types as text -------------------------------*- C++ -*-===//

#ifndef WEFT_SUPPORT_TYPETEXT_H
#define WEFT_SUPPORT_TYPETEXT_H

#include "mlir/IR/Types.h"

#include <string>

namespace weft {

/// The type as MLIR prints it. Printing sets up the state of a whole printer
/// each time; the usual element types (f16, bf16, f32, f64, integers without a
/// sign) do without it.
std::string getTypeText(mlir::Type type);

} // namespace weft

#endif // WEFT_SUPPORT_TYPETEXT_H
