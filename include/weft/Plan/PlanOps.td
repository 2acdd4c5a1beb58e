//===- PlanOps.td - Ops of the plan dialect ----------------*- tablegen -*-===//

#ifndef PLAN_OPS_TD
#define PLAN_OPS_TD

include "weft/Plan/PlanBase.td"
include "weft/Plan/PlanInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Plan_StateOp : Plan_Op<"state", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A persistent tensor";
  let description = [{
    Lives at one place over all programs. `param` names the weight a gradient or
    moment belongs to, `source` the weight's name in the file of initial weights
    where it differs from the symbol.

    Example:
    ```mlir
    plan.state param @fc1.weight : memref<4x2xf32> {trainable = true}
    plan.state optimizer @fc1.weight.exp_avg : memref<4x2xf32> {param = @fc1.weight, offset = 64 : i64}
    ```
    Created by: `weft-lower-to-plan`. Consumed by: `weft-lower-to-cpu`.
  }];
  let arguments = (ins Plan_StateKindAttr:$kind, SymbolNameAttr:$sym_name,
                       TypeAttrOf<Plan_Buffer>:$type,
                       DefaultValuedAttr<BoolAttr, "true">:$trainable,
                       OptionalAttr<FlatSymbolRefAttr>:$param,
                       OptionalAttr<StrAttr>:$source,
                       OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "`` $kind $sym_name `:` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getBufferType() {
      return ::llvm::cast<::mlir::MemRefType>(getType());
    }
  }];
}

def Plan_ProgramOp : Plan_Op<"program", [
    Symbol, SymbolTable, HasParent<"::mlir::ModuleOp">, NoTerminator,
    NoRegionArguments, SingleBlock]> {
  let summary = "A straight-line program";
  let description = [{
    Buffers and commands in the order of execution. `kind` is that of the
    `weft.program` it came from. Inputs are written before the program starts,
    outputs are read after its last command.

    Example:
    ```mlir
    plan.program "eval" @eval {
      %x = plan.input "x" : memref<8xf32>
      %y = plan.alloc temporary : memref<8xf32>
      plan.copy %x to %y : memref<8xf32> to memref<8xf32>
      plan.output "y" %y : memref<8xf32>
    }
    ```
    Created by: `weft-lower-to-plan`. Consumed by: `weft-lower-to-cpu`.
  }];
  let arguments = (ins StrAttr:$kind, SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind $sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

def Plan_UseOp : Plan_Op<"use", [
    HasParent<"ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The buffer of a persistent tensor";
  let description = [{
    Example: `%w = plan.use @fc1.weight : memref<4x2xf32>`. At most one per state
    and program. `offset` is that of the state.
  }];
  let arguments = (ins FlatSymbolRefAttr:$state, OptionalAttr<I64Attr>:$offset);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "$state attr-dict `:` type($buffer)";
}

def Plan_InputOp : Plan_Op<"input", [HasParent<"ProgramOp">]> {
  let summary = "The buffer of a named input";
  let description = [{
    Written by the runtime before each run of the program.

    Example: `%x = plan.input "tokens" : memref<8x128xi32>`.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$offset);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "$name attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Plan_OutputOp : Plan_Op<"output", [HasParent<"ProgramOp">]> {
  let summary = "Names a buffer as an output";
  let description = [{
    The buffer keeps its contents to the end of the program, where the runtime
    reads it. It must be dense.

    Example: `plan.output "loss" %l : memref<f32>`.
  }];
  let arguments = (ins StrAttr:$name, Plan_Buffer:$buffer);
  let assemblyFormat = "$name $buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Plan_AllocOp : Plan_Op<"alloc", [HasParent<"ProgramOp">]> {
  let summary = "A transient buffer";
  let description = [{
    Alive from its first write to its last read. `activation`: written in the
    forward part and read in the backward part; `temporary`: everything else.

    Example: `%a = plan.alloc activation {offset = 4096 : i64} : memref<8x128xf32>`.
  }];
  let arguments = (ins Plan_RoleAttr:$role, OptionalAttr<I64Attr>:$offset);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "`` $role attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Plan_ViewOp : Plan_Op<"view", [HasParent<"ProgramOp">, Pure]> {
  let summary = "A strided part of a root buffer";
  let description = [{
    The result's layout holds the strides and the offset, in elements from the
    start of the root: a reshape, a slice or a permutation without a copy. The
    source is a root, never a view.

    Example:
    ```mlir
    %q = plan.view %qkv : memref<8x384xf32> to memref<8x2x64xf32, strided<[384, 64, 1], offset: 128>>
    ```
  }];
  let arguments = (ins Plan_Buffer:$source);
  let results = (outs Plan_Buffer:$view);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($view)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

class Plan_CommandOp<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat(traits, [HasParent<"ProgramOp">,
        DeclareOpInterfaceMethods<CommandOpInterface>])>;

def Plan_LaunchOp : Plan_CommandOp<"launch", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a generated kernel";
  let description = [{
    Buffers are dense, inputs first. An output may be the very buffer of an
    input where the kernel allows it. `extent` and `grain` are the range of the
    parallel loop (see `WeftCommand`).

    Example:
    ```mlir
    plan.launch @k_1f ins(%x, %b : memref<8x4xf32>, memref<4xf32>) outs(%y : memref<8x4xf32>) {extent = 8 : i64, grain = 1 : i64}
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<Plan_Buffer>:$inputs, Variadic<Plan_Buffer>:$outputs,
                       OptionalAttr<I64Attr>:$extent, OptionalAttr<I64Attr>:$grain,
                       OptionalAttr<StrAttr>:$scope, OptionalAttr<F64Attr>:$flops,
                       OptionalAttr<F64Attr>:$est_us);
  let assemblyFormat = [{
    $kernel (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`outs` `(` $outputs^ `:` type($outputs) `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_CallOp : Plan_CommandOp<"call"> {
  let summary = "Calls a library routine";
  let description = [{
    Buffers, integers and floats as include/weft/Runtime/Library.h lists them.
    `accesses` says per buffer what the routine does: `read`, `write` (all bytes,
    none of the old ones read) or `update`.

    Example:
    ```mlir
    plan.call "weft_cpu_fill"(write %a : memref<8xf32>) ints [0, 8] floats [1.0]
    ```
  }];
  let arguments = (ins StrAttr:$callee, Variadic<Plan_Buffer>:$buffers,
                       DenseI32ArrayAttr:$accesses,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$ints,
                       DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$floats,
                       OptionalAttr<StrAttr>:$scope, OptionalAttr<F64Attr>:$flops,
                       OptionalAttr<F64Attr>:$est_us);
  let assemblyFormat = [{
    $callee `` custom<Accesses>($buffers, type($buffers), $accesses)
    (`ints` $ints^)? custom<Floats>($floats) attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_ConstantOp : Plan_CommandOp<"constant"> {
  let summary = "Writes constant values";
  let description = [{
    A splat runs as `weft_cpu_fill`, other values as `weft_cpu_constant`.

    Example: `plan.constant %c = dense<1.0> : tensor<4xf32> : memref<4xf32>`.
  }];
  let arguments = (ins Plan_Buffer:$target, ElementsAttr:$value,
                       OptionalAttr<StrAttr>:$scope, OptionalAttr<F64Attr>:$est_us);
  let assemblyFormat = "$target `=` $value attr-dict `:` type($target)";
  let hasVerifier = 1;
}

def Plan_CopyOp : Plan_CommandOp<"copy"> {
  let summary = "Copies a strided buffer";
  let description = [{
    `target[i...] = source[i...]` for equal shapes; a source stride of 0 repeats
    elements (broadcast). Runs as `weft_cpu_copy`. Created where a consumer
    cannot read strides.

    Example: `plan.copy %x to %y : memref<8xf32> to memref<8xf32>`.
  }];
  let arguments = (ins Plan_Buffer:$source, Plan_Buffer:$target,
                       OptionalAttr<StrAttr>:$scope, OptionalAttr<F64Attr>:$est_us);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `to` type($target)";
  let hasVerifier = 1;
}

#endif // PLAN_OPS_TD
