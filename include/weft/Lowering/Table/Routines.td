//===- Routines.td - Commands that routines run ------------*- tablegen -*-===//

#ifndef WEFT_LOWERING_TABLE_ROUTINES_TD
#define WEFT_LOWERING_TABLE_ROUTINES_TD

include "mlir/IR/OpBase.td"

def RoutineOpInterface : OpInterface<"RoutineOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    A command that a library routine of a target runs. Attached to commands as
    external models; one record serves every target.
  }];
  let methods = [
    InterfaceMethod<"The kind of the command in the tables.",
                    "::WeftCommandKind", "getKind", (ins)>,
    InterfaceMethod<[{
      The symbol of the routine, or "": the prefix of the target and the name of
      the kind. A command of WEFT_EXTENSION has one, unless it is a collective,
      whose routine the target names.
    }], "::llvm::StringRef", "getRoutine", (ins), /*methodBody=*/"",
    /*defaultImplementation=*/[{
      return {};
    }]>,
    InterfaceMethod<[{
      Appends the record of the kind (Records.h). Fails with an error on the op
      if no routine can run it.
    }], "::llvm::LogicalResult", "makeRecord", (ins "::weft::RecordWords &":$record)>,
    InterfaceMethod<[{
      Workspace of the routine of a WEFT_EXTENSION command, in bytes, in a
      program for at most `threads` threads; `record` is the result of
      makeRecord. The target answers for all other kinds. A command with a
      workspace is a WorkspaceOpInterface.
    }], "int64_t", "getWorkspaceBytes",
    (ins "::llvm::ArrayRef<int64_t>":$record, "int64_t":$threads), /*methodBody=*/"",
    /*defaultImplementation=*/[{
      return 0;
    }]>,
  ];
}

#endif // WEFT_LOWERING_TABLE_ROUTINES_TD
