//===- PlanOps.td - Ops of the plan dialect ----------------*- tablegen -*-===//

#ifndef PLAN_OPS_TD
#define PLAN_OPS_TD

include "weft/Interfaces/Interfaces.td"
include "weft/Plan/PlanCommands.td"
include "weft/Plan/PlanMatrixOps.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Plan_StateOp : Plan_Op<"state", [
    Symbol, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<SegmentedOpInterface>]> {
  let summary = "A persistent tensor";
  let description = [{
    Has a fixed offset in all programs. `param` names the weight that a gradient
    or moment belongs to. `source` is the weight's name in the file of initial
    weights, if it differs from the symbol. A flat state lists its `segments`,
    the `slot` of a state other than a parameter, and the number of shards
    (`slices`) of which each rank holds one, like `weft.param` and `weft.state`.
    `padded_rows` is the number of rows in the memory of a gradient, if it has
    more than the shape (`weft-pad-gradients`). Products may write the rows of
    padding, nothing reads them, and `plan.use` has the type of the memory.

    Example:
    ```mlir
    plan.state param @fc1.weight : memref<4x2xf32> {trainable = true}
    plan.state optimizer @fc1.weight.exp_avg : memref<4x2xf32> {param = @fc1.weight, offset = 64 : i64}
    plan.state param @fc2 : memref<20xf32> {segments = [#plan.segment<@fc2.weight [4, 2] at 0 to 8>,
                                                        #plan.segment<@fc2.bias [4] at 16 to 20>]}
    ```
    Created by: `weft-lower-to-plan`. Consumed by: `weft-lower-to-cpu`.
  }];
  let arguments = (ins Plan_StateKindAttr:$kind, SymbolNameAttr:$sym_name,
                       TypeAttrOf<Plan_Buffer>:$type,
                       DefaultValuedAttr<BoolAttr, "true">:$trainable,
                       OptionalAttr<FlatSymbolRefAttr>:$param,
                       OptionalAttr<StrAttr>:$source,
                       OptionalAttr<StrAttr>:$slot,
                       OptionalAttr<Plan_Segments>:$segments,
                       DefaultValuedAttr<I64Attr, "1">:$slices,
                       OptionalAttr<I64Attr>:$padded_rows,
                       OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "`` $kind $sym_name `:` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getBufferType() {
      return ::llvm::cast<::mlir::MemRefType>(getType());
    }
    /// The type of the memory. Without valid padding, getBufferType().
    ::mlir::MemRefType getStorageType();
  }];
}

def Plan_ProgramOp : Plan_Op<"program", [
    Symbol, SymbolTable, HasParent<"::mlir::ModuleOp">, NoTerminator,
    NoRegionArguments, SingleBlock]> {
  let summary = "A straight-line program";
  let description = [{
    Declarations (`plan.use`, `plan.input`, `plan.alloc`, `plan.view`), then
    commands in the order of execution. No declaration follows the first
    command, so a command can be moved without its buffers. `kind` is the kind
    of the `weft.program` it came from. Inputs are written before the program
    starts, outputs are read after its last command.

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
  let arguments = (ins Plan_ProgramKindAttr:$kind, SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<ProgramKind>($kind) $sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::StringRef getKindName() { return stringifyProgramKind(getKind()); }
  }];
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

def Plan_UseOp : Plan_Op<"use", [
    HasParent<"ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The buffer of a persistent tensor";
  let description = [{
    Example: `%w = plan.use @fc1.weight : memref<4x2xf32>`. At most one per
    state and program. `offset` is the offset of the state.
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
    Live from its first write to its last read. `activation`: written in the
    forward part and read in the backward part; `workspace`: scratch of one
    command; `temporary`: everything else.

    Example: `%a = plan.alloc activation {offset = 4096 : i64} : memref<8x128xf32>`.
  }];
  let arguments = (ins Plan_RoleAttr:$role, OptionalAttr<I64Attr>:$offset);
  let results = (outs Plan_Transient:$buffer);
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
// Commands for any value
//===----------------------------------------------------------------------===//

def Plan_LaunchOp : Plan_Command<"launch",
    (ins FlatSymbolRefAttr:$kernel, Plan_Reads<Variadic<Plan_Buffer>>:$inputs,
         Plan_Writes<Variadic<Plan_Buffer>>:$outputs),
    [AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<CommandOpInterface, ["getInPlaceOperands"]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a generated kernel";
  let description = [{
    Reads `ins`, writes `outs`. Their shapes and types are the shapes and types
    of the kernel's arguments and results. They are dense, except for the row
    strides in the kernel's `pitches`. An output may be the same buffer as an
    input if the kernel's `inplace` lists it. The target chooses how the kernel
    runs in parts.

    Example:
    ```mlir
    plan.launch @k_1f ins(%x, %b : memref<8x4xf32>, memref<4xf32>) outs(%y : memref<8x4xf32>)
    ```
  }];
  let assemblyFormat = [{
    $kernel (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`outs` `(` $outputs^ `:` type($outputs) `)`)? attr-dict
  }];
}

def Plan_ConstantOp : Plan_Command<"constant",
    (ins Plan_Writes<Plan_Buffer>:$target, ElementsAttr:$value), [Plan_Dense]> {
  let summary = "Writes constant values";
  let description = [{
    Example: `plan.constant %c = dense<1.0> : tensor<4xf32> : memref<4xf32>`.
  }];
  let assemblyFormat = "$target `=` $value attr-dict `:` type($target)";
  let hasVerifier = 1;
}

def Plan_CopyOp : Plan_Command<"copy",
    (ins Plan_Reads<Plan_Buffer>:$source, Plan_Writes<Plan_Buffer>:$target)> {
  let summary = "Copies a strided buffer";
  let description = [{
    `target[i...] = source[i...]` for equal shapes; a source stride of 0 repeats
    elements (broadcast). Created where a consumer cannot read strides.

    Example: `plan.copy %x to %y : memref<8xf32> to memref<8xf32>`.
  }];
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `to` type($target)";
  let hasVerifier = 1;
}

#endif // PLAN_OPS_TD
