//===- PlanInterfaces.td - What a command of a plan is -----*- tablegen -*-===//

#ifndef PLAN_INTERFACES_TD
#define PLAN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let cppNamespace = "::weft::plan";
  let description = [{
    An op that runs: one entry of the command table. All of its operands are
    buffers. Sizes, strides and types stand in their memref types alone; a
    target reads them off (Lowering/<target>), as it decides what runs the
    command.

    Verified for every command: what it writes shares no byte with its other
    operands, unless the two are one buffer and `getInPlaceOperands` allows it;
    a stream is at least 0, and below 64.
  }];
  let methods = [
    InterfaceMethod<[{
      What the command does with operand `index`. `Write` covers every byte of the
      buffer and reads none of the old ones, or leaves nothing in it that means
      anything: a workspace; `Update` may read and write.
    }], "::weft::plan::Access", "getAccess", (ins "unsigned":$index)>,
    InterfaceMethod<[{
      Operands that may be the very buffer which operand `index` writes.
    }], "::llvm::SmallVector<unsigned>", "getInPlaceOperands", (ins "unsigned":$index),
    /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      Element type of what the command works on, whose rates it runs at: that of
      the largest buffer that it reads, or writes if it reads none.
    }], "::mlir::Type", "getElementType", (ins), /*methodBody=*/"",
    /*defaultImplementation=*/[{
      return ::weft::plan::getLargestElementType(
          ::llvm::cast<::weft::plan::CommandOpInterface>($_op.getOperation()));
    }]>,
    InterfaceMethod<"Module path of the op this command came from, or null.",
                    "::mlir::StringAttr", "getScopeAttr", (ins)>,
    InterfaceMethod<"Floating-point operations of one run, or null: not counted.",
                    "::mlir::IntegerAttr", "getFlopsAttr", (ins)>,
    InterfaceMethod<"Estimated time of one run in microseconds, or null.",
                    "::mlir::FloatAttr", "getEstUsAttr", (ins)>,
    InterfaceMethod<[{
      Number of the queue that the command runs in, or null: that is 0. Commands
      of one stream run in their order.
    }], "::mlir::IntegerAttr", "getStreamAttr", (ins)>,
    InterfaceMethod<"", "void", "setScopeAttr", (ins "::mlir::StringAttr":$scope)>,
    InterfaceMethod<"", "void", "setFlopsAttr", (ins "::mlir::IntegerAttr":$flops)>,
    InterfaceMethod<"", "void", "setEstUsAttr", (ins "::mlir::FloatAttr":$time)>,
    InterfaceMethod<"", "void", "setStreamAttr", (ins "::mlir::IntegerAttr":$stream)>,
  ];
  let extraClassDeclaration = [{
    /// The scope, or "".
    ::llvm::StringRef getCommandScope();
    /// What the command is: the op's name without the dialect ("gemm"), or the
    /// symbol of a kernel.
    ::llvm::StringRef getCommandName();
    /// The op's name without the dialect: "gemm", "launch".
    ::llvm::StringRef getCommandKind();
    /// The stream, 0 if none is given.
    int64_t getStreamNumber();
    /// Whether it reads or writes what operand `index` held before.
    bool isRead(unsigned index) {
      return getAccess(index) != ::weft::plan::Access::Write;
    }
    bool isWritten(unsigned index) {
      return getAccess(index) != ::weft::plan::Access::Read;
    }
  }];
  let verify = [{
    return ::weft::plan::verifyCommand(::llvm::cast<::weft::plan::CommandOpInterface>($_op));
  }];
  let verifyWithRegions = 0;
}

def WorkspaceOpInterface : OpInterface<"WorkspaceOpInterface"> {
  let cppNamespace = "::weft::plan";
  let description = [{
    A command that may have a workspace: memory that its routine works in, of
    bytes that mean nothing before and after. The target says how many it needs
    (`weft-add-workspaces`). Memory planning and verification see a buffer that the
    command writes.

    Verified: the workspace is the last operand, where routines look for it, of
    i8, and the command writes it.
  }];
  let methods = [
    InterfaceMethod<"The workspace, or null.", "::mlir::Value", "getWorkspace", (ins)>,
    InterfaceMethod<"The operand, to set it.", "::mlir::MutableOperandRange",
                    "getWorkspaceMutable", (ins)>,
  ];
  let verify = [{
    return ::weft::plan::verifyWorkspace(::llvm::cast<::weft::plan::WorkspaceOpInterface>($_op));
  }];
  let verifyWithRegions = 0;
}

#endif // PLAN_INTERFACES_TD
