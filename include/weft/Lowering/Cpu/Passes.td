//===- Passes.td - From kernels to LLVM for the CPU --------*- tablegen -*-===//

#ifndef WEFT_LOWERING_CPU_PASSES_TD
#define WEFT_LOWERING_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerKernelsPass : Pass<"weft-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Write kernels as loops over vectors";
  let description = [{
    Turns the linalg form of each kernel into an `llvm.func` of the form
    `void k(ptr buffers, i64 begin, i64 end)` (WeftKernelFn). Its body is scf
    loops over vectors of 16 lanes with arith and math ops. The nests of a
    kernel share one loop over rows or tiles of columns; the temporaries between
    them are registers or one row on the stack.

    The pass chooses, from the facts of the kernel, the range that threads
    divide, the grain (part sizes are multiples of it) and the columns of a
    tile. It records the range and the grain on the function (`weft.extent`,
    `weft.grain`), where the program tables read them.

    Precondition: `weft-convert-kernels-to-linalg`. Guarantees: no `func.func`
    is left; the parts of a range write disjoint bytes; the bits of an element
    depend on the shapes only.

    Example: test/Lowering/lower-kernels.mlir. Does not expand math functions.
  }];
}

def ExpandMathPass : Pass<"weft-expand-math"> {
  let summary = "Write elementary functions as polynomials";
  let description = [{
    Replaces math.exp, log, log1p, tanh, erf, sin, cos and powf on f32 scalars
    and vectors by arithmetic; docs/explanation/codegen-cpu.md has the error bounds.
    With the fast-math flag `afn`, exp and tanh take fewer operations. Conversions
    from and to bf16 become integer operations.

    Precondition: none. Guarantees: none of these ops is left for f32. On f64,
    math.erf becomes a call of libm; the other ops stay, and LLVM makes them
    calls of libm. No arithmetic or comparison of bf16 values is left.

    Example: test/Lowering/expand-math.mlir.
  }];
  let options = [
    Option<"fma", "fma", "bool", /*default=*/"true",
           "Use fused multiply-add (the target has it)">];
}

def LowerToCpuPass : Pass<"weft-lower-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Lower kernels to the LLVM dialect";
  let description = [{
    Runs `weft-lower-kernels`, `weft-expand-math` and the conversions of scf,
    vector, arith and math to the LLVM dialect.

    Precondition: `weft-convert-kernels-to-linalg`. Plan programs stay: they become
    constant tables when the object file is written.

    Example: test/Lowering/lower-to-cpu.mlir.
  }];
  let options = [
    Option<"fma", "fma", "bool", /*default=*/"true",
           "Use fused multiply-add (the target has it)">];
}

def AddWorkspacesPass : Pass<"weft-add-workspaces", "::mlir::ModuleOp"> {
  let summary = "Give commands the workspaces of their routines";
  let description = [{
    Declares a `plan.alloc workspace` for each command whose routine on the CPU
    needs scratch memory: matrix products (copies of oneDNN, or blocks packed as
    f32), tiles of attention, sums of a loss and of a norm, the order of an
    embedding's ids. Its size follows from shapes, types and `threads`, the
    largest number of threads, and not from the machine that compiles. A routine
    that would need more on some processor chooses an algorithm that needs less.
    The declaration follows the declarations that this command and earlier ones
    use.

    Precondition: `weft-lower-to-plan`. Sets `plan.max_threads`. A command that
    has a workspace keeps it.

    Before:
    ```mlir
    plan.gemm %x * %w -> %y : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
    ```
    After:
    ```mlir
    %0 = plan.alloc workspace : memref<163840xi8>
    plan.gemm %x * %w -> %y workspace(%0 : memref<163840xi8>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
    ```
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "::weft::kDefaultMaxThreads",
           "Largest number of threads of the program">,
  ];
}

#endif // WEFT_LOWERING_CPU_PASSES_TD
