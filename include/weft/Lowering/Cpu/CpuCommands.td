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
    InterfaceMethod<[{
      Bytes that the routine works in beside its operands, in a program for at
      most `threads` threads; `record` is what makeRecord made. Of the kinds in
      Workspaces.h the bytes stand there; a command of WEFT_EXTENSION that says
      nothing needs none. One that needs some is a WorkspaceOpInterface.
    }], "int64_t", "getWorkspaceBytes",
    (ins "::llvm::ArrayRef<int64_t>":$record, "int64_t":$threads), /*methodBody=*/"",
    /*defaultImplementation=*/[{
      auto command = ::llvm::cast<::weft::CpuCommandOpInterface>($_op.getOperation());
      return ::weft::workspaceBytes(command.getKind(), record.data(), threads);
    }]>,
  ];
}

#endif // WEFT_LOWERING_CPU_COMMANDS_TD
