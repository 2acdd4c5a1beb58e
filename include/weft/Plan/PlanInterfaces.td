//===- PlanInterfaces.td - Interfaces of commands ----------*- tablegen -*-===//

#ifndef PLAN_INTERFACES_TD
#define PLAN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let cppNamespace = "::weft::plan";
  let description = [{
    An op that runs: one entry of the command table. All of its operands are
    buffers. Sizes, strides and types are only in their memref types. A target
    reads them (Lowering/<target>) when it decides which code runs the command.

    The memory effects of the op (MemoryEffectsOpInterface) say how it uses each
    operand. A write covers every byte of the buffer and reads no old bytes, or
    leaves no meaningful bytes in it: a workspace. An operand that is read and
    written is updated.

    Verified for every command: each operand has an effect; a written buffer
    shares no byte with the other operands, unless the two are one buffer and
    `getInPlaceOperands` allows it; a stream is at least 0, and below 64.
  }];
  let methods = [
    InterfaceMethod<[{
      Operands that may be the same buffer as operand `index`, which is written.
    }], "::llvm::SmallVector<unsigned>", "getInPlaceOperands", (ins "unsigned":$index),
    /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      Element type that the command computes with and whose rates apply: the
      type of the largest buffer that it reads, or writes if it reads none.
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
      Number of the stream that the command runs in, or null for stream 0.
      Commands of one stream run in their order.
    }], "::mlir::IntegerAttr", "getStreamAttr", (ins)>,
    InterfaceMethod<"", "void", "setScopeAttr", (ins "::mlir::StringAttr":$scope)>,
    InterfaceMethod<"", "void", "setFlopsAttr", (ins "::mlir::IntegerAttr":$flops)>,
    InterfaceMethod<"", "void", "setEstUsAttr", (ins "::mlir::FloatAttr":$time)>,
    InterfaceMethod<"", "void", "setStreamAttr", (ins "::mlir::IntegerAttr":$stream)>,
  ];
  let extraClassDeclaration = [{
    /// The scope, or "".
    ::llvm::StringRef getCommandScope();
    /// The name of the command: the op's name without the dialect ("gemm"), or
    /// the symbol of a kernel.
    ::llvm::StringRef getCommandName();
    /// The op's name without the dialect: "gemm", "launch".
    ::llvm::StringRef getCommandKind();
    /// The stream, 0 if none is given.
    int64_t getStreamNumber();
    /// The use of each operand, by the memory effects.
    ::llvm::SmallVector<::weft::plan::Access> getAccesses();
    /// Whether it may read the old content of operand `index`.
    bool isRead(unsigned index) { return getAccesses()[index].isRead; }
    bool isWritten(unsigned index) { return getAccesses()[index].isWritten; }
  }];
  let verify = [{
    return ::weft::plan::verifyCommand(::llvm::cast<::weft::plan::CommandOpInterface>($_op));
  }];
  let verifyWithRegions = 0;
}

def WorkspaceOpInterface : OpInterface<"WorkspaceOpInterface"> {
  let cppNamespace = "::weft::plan";
  let description = [{
    A command that may have a workspace: scratch of its routine, whose bytes are
    undefined before and after. The target gives its size
    (`weft-add-workspaces`). Memory planning and verification treat it as a
    buffer that the command writes.

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
