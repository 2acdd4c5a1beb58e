//===- TransferModels.h - What the device itself does -----------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_TABLE_TRANSFERMODELS_H
#define WEFT_LIB_LOWERING_TABLE_TRANSFERMODELS_H

#include "mlir/IR/MLIRContext.h"

namespace weft {

void attachTransferModels(mlir::MLIRContext *context);

} // namespace weft

#endif // WEFT_LIB_LOWERING_TABLE_TRANSFERMODELS_H
