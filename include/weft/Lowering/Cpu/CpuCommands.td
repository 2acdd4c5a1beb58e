//===- CpuCommands.td - How the CPU runs a command ---------*- tablegen -*-===//

#ifndef WEFT_LOWERING_CPU_COMMANDS_TD
#define WEFT_LOWERING_CPU_COMMANDS_TD

include "mlir/IR/OpBase.td"

def CpuCommandOpInterface : OpInterface<"CpuCommandOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    A command that a library routine of the CPU runs: `weft_cpu_` and the name of
    its kind. Attached to the commands of plan as external models.
  }];
  let methods = [
    InterfaceMethod<"The kind of the command in the tables.",
                    "::WeftCommandKind", "getKind", (ins)>,
    InterfaceMethod<[{
      Appends the record of the kind (Records.h). Fails with an error on the op
      if the routine cannot run it.
    }], "::llvm::LogicalResult", "makeRecord", (ins "::weft::RecordWords &":$record)>,
  ];
}

#endif // WEFT_LOWERING_CPU_COMMANDS_TD
