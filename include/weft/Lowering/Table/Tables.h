//===- Tables.h - Plan programs as constant tables --------------*- C++ -*-===//

#ifndef WEFT_LOWERING_TABLE_TABLES_H
#define WEFT_LOWERING_TABLE_TABLES_H

#include "weft/Lowering/Table/Routines.h"

namespace llvm {
class Module;
} // namespace llvm

namespace weft {

/// Machine code of kernels for one kind of device.
struct DeviceImage {
  std::string chip; // "sm_90"
  std::vector<char> code;
};

/// Adds the tables of the plan programs to `output`: `weft_tables` of
/// Runtime/Execute/Tables.h.
llvm::LogicalResult emitTables(mlir::ModuleOp module, llvm::Module &output,
                               const TableTarget &target,
                               llvm::ArrayRef<DeviceImage> images = {});

} // namespace weft

#endif // WEFT_LOWERING_TABLE_TABLES_H
