//===- EmitCudaObject.cpp - Tables and device code in an object -----------===//

#include "CudaRoutines.h"

#include "weft/Lowering/Linalg/LlvmCode.h"
#include "weft/Lowering/Table/Tables.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace weft;

/// The baseline is enough: the host runs only code of the runtime, none of the
/// program.
static constexpr StringLiteral kHostProcessor = "x86-64-v2";

FailureOr<std::vector<char>>
weft::emitCudaObject(ModuleOp module, ArrayRef<CudaTarget> devices,
                     ArrayRef<DeviceImage> images) {
  std::unique_ptr<llvm::TargetMachine> machine =
      createHostMachine(module, kHostProcessor, /*features=*/"");
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  llvm::Module output("weft", context);
  output.setDataLayout(machine->createDataLayout());
  output.setTargetTriple(machine->getTargetTriple());
  output.setPICLevel(llvm::PICLevel::BigPIC);
  if (failed(emitTables(module, output, CudaRoutines(module, devices), images)))
    return failure();
  return writeCode(module, output, *machine, llvm::CodeGenFileType::ObjectFile);
}
