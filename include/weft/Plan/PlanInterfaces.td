//===- PlanInterfaces.td - What a command of a plan is -----*- tablegen -*-===//

#ifndef PLAN_INTERFACES_TD
#define PLAN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let cppNamespace = "::weft::plan";
  let description = [{
    An op that becomes one entry of the command table (`WeftCommand`): a kernel
    or a library routine, its buffers in order and its numbers.
  }];
  let methods = [
    InterfaceMethod<"Symbol of the kernel or name of the library routine.",
                    "::llvm::StringRef", "getRoutine", (ins)>,
    InterfaceMethod<"Whether the routine is a generated kernel.",
                    "bool", "isKernel", (ins)>,
    InterfaceMethod<"All buffers, in the routine's order.",
                    "::mlir::OperandRange", "getCommandBuffers", (ins)>,
    InterfaceMethod<[{
      What the command does with buffer `index`. `Write` covers every byte of the
      buffer and reads none of the old ones; `Update` may read and write.
    }], "::weft::plan::Access", "getAccess", (ins "unsigned":$index)>,
    InterfaceMethod<"Integer arguments of the routine.",
                    "::llvm::SmallVector<int64_t>", "getIntArguments", (ins)>,
    InterfaceMethod<"Floating-point arguments of the routine.",
                    "::llvm::SmallVector<double>", "getFloatArguments", (ins)>,
  ];
  let extraClassDeclaration = [{
    /// Module path of the op this command came from, or "".
    ::llvm::StringRef getCommandScope();
  }];
}

#endif // PLAN_INTERFACES_TD
