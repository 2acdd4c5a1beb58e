//===- CpuCommands.td - How the CPU runs a command ---------*- tablegen -*-===//

#ifndef WEFT_LOWERING_CPU_COMMANDS_TD
#define WEFT_LOWERING_CPU_COMMANDS_TD

include "mlir/IR/OpBase.td"

def CpuCommandOpInterface : OpInterface<"CpuCommandOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    A command that a library routine of the CPU runs. Attached to commands as
    external models.
  }];
  let methods = [
    InterfaceMethod<"The kind of the command in the tables.",
                    "::WeftCommandKind", "getKind", (ins)>,
    InterfaceMethod<[{
      The symbol of the routine, or "": `weft_cpu_` and the name of the kind. A
      command of WEFT_EXTENSION has one.
    }], "::llvm::StringRef", "getRoutine", (ins), /*methodBody=*/"",
    /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      Appends the record of the kind (Records.h). Fails with an error on the op
      if the routine cannot run it.
    }], "::llvm::LogicalResult", "makeRecord", (ins "::weft::RecordWords &":$record)>,
  ];
}

#endif // WEFT_LOWERING_CPU_COMMANDS_TD
