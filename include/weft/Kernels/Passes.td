//===- Passes.td - Fusion and choice of kernels ------------*- tablegen -*-===//

#ifndef WEFT_KERNELS_PASSES_TD
#define WEFT_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"weft-decompose", "::mlir::ModuleOp"> {
  let summary = "Write composite ops out as primitives";
  let description = [{
    What: replaces every op with a `CompositeOpInterface` (softmax, layer_norm,
    gelu, losses, ...) by its formula, and a `weft.accumulate` that no library
    routine can fold by a select. The first step of `weft-fuse`.

    Precondition: autodiff has run (adjoints are written for the composites).
    Guarantees: no composite op is left in a program.

    ```mlir
    %y = weft.silu %x : tensor<8xf32>
    // becomes
    %s = weft.div %one, (1 + exp(-x)) ; %y = weft.mul %x, %s
    ```
    Does not simplify or merge equal formulas: a value recomputed in the backward
    pass stays recomputed.
  }];
}

def FusePass : Pass<"weft-fuse", "::mlir::ModuleOp"> {
  let summary = "Outline chains of primitive ops as kernels";
  let description = [{
    What: writes composite ops out (`weft-decompose`), then groups elementwise
    ops, reductions over the trailing or the leading dimensions and views of
    their operands into `weft.kernel` symbols, called by `weft.call`. Groups of
    equal content share one kernel.

    Precondition: static shapes. Guarantees: no elementwise op or reduction is
    left outside of a kernel; each kernel is one loop nest with `weft.extent`
    and `weft.grain`, and `weft.inplace` lists per result the inputs whose
    buffers it may take; the order of remaining ops is kept; what a routine or a
    reshape reads of a broadcast is written by a kernel.

    Example: test/Kernels/fuse.mlir. Does not fuse into matmuls, and does not
    compute anything twice.
  }];
  let options = [
    Option<"maxOps", "max-ops", "unsigned", /*default=*/"64",
           "Largest number of ops in one kernel">,
    Option<"maxBuffers", "max-buffers", "unsigned", /*default=*/"24",
           "Largest number of inputs and outputs of one kernel">,
    Option<"apart", "apart", "bool", /*default=*/"false",
           "Give every op a kernel of its own, so that each value is a buffer (--debug-nan)">,
    Option<"explain", "explain", "bool", /*default=*/"false",
           "Report as remarks each op that is not fused with its operand's kernel and the reason, and each kernel">];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of distinct kernels">,
    Statistic<"numCalls", "calls", "Number of calls of kernels">,
    Statistic<"numOps", "fused-ops", "Number of ops moved into kernels">,
    Statistic<"numMissed", "missed",
              "Number of ops that a limit kept out of a kernel">];
}

def FoldCastsPass : Pass<"weft-fold-casts", "::mlir::ModuleOp"> {
  let summary = "Let routines widen and round f16 and bf16 themselves";
  let description = [{
    What: removes casts whose work a library routine does anyway:

    - `weft.cross_entropy`, `weft.cross_entropy_grad` and `weft.embedding_grad`
      of a value widened to f32 read the low value;
    - a `weft.cross_entropy_grad` of low logits, or a `weft.matmul {out = f32}`,
      that is only read by casts to its operands' type gives that type.

    Precondition: `weft-autodiff`. Guarantees: widening is exact and a sum in f32
    is rounded once either way, so results are equal bit for bit; but a bf16
    product over a long dimension may add its terms in another order.

    Example: test/Kernels/fold-casts.mlir.
    ```mlir
    %f = weft.cast %logits : tensor<8x4xbf16> to tensor<8x4xf32>
    %loss, %lse, %denom = weft.cross_entropy %f, %t : tensor<8x4xf32>, tensor<8xi32>
    // becomes
    %loss, %lse, %denom = weft.cross_entropy %logits, %t : tensor<8x4xbf16>, tensor<8xi32>
    ```
    Does not touch casts around elementwise ops: those run inside kernels.
  }];
  let statistics = [
    Statistic<"numWidened", "widened", "Number of operands read without a cast">,
    Statistic<"numRounded", "rounded", "Number of results rounded by their op">];
}

def SelectKernelsPass : Pass<"weft-select-kernels", "::mlir::ModuleOp"> {
  let summary = "Choose the routine that runs each remaining op";
  let description = [{
    What: sets `weft.impl` on every op of the programs: a routine of
    include/weft/Runtime/Execute/Library.h, `generated` for a call of a kernel, `view`
    for an op that only names elements in another shape, `folded` for a
    `weft.accumulate` that the product before it performs itself (that op
    carries `weft.folded`). A routine is found by the op and its element types;
    `weft-lower-to-plan` calls the one that stands there. A product performs an
    accumulation if nothing else reads the product or the old contents.

    Precondition: `weft-fuse`. Guarantees: every op but reads and the terminator
    has `weft.impl`; an op that nothing can run, or nothing for its element
    types, is an error on that op.

    Example: test/Kernels/select-kernels.mlir. Does not measure anything.
  }];
  let statistics = [
    Statistic<"numFolded", "folded", "Number of accumulations folded away">];
}

def ConvertKernelsToLinalgPass
    : Pass<"weft-convert-kernels-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Write kernels as linalg ops on memrefs";
  let description = [{
    What: each `weft.kernel` becomes a `func.func` of the same name on memrefs,
    inputs first, then outputs. Its body has one `linalg.generic` per phase over
    the iteration space, and small ones over the outer dimensions for what
    changes once per row. Indexing maps carry broadcasts and transposes,
    `memref.reinterpret_cast` joined dimensions and slices. What a phase leaves
    for the next (totals, statistics of a row, costly values) is in
    `memref.alloca`s; totals start from a `linalg.fill`. The attributes
    `weft.schedule`, `weft.loops`, `weft.sizes` and `weft.tile` say how the loops
    are meant to run.

    Precondition: `weft-fuse`. Guarantees: no kernel is left; run in order, the
    ops of a function compute what the kernel did.

    f16 and bf16 are computed in f32 and rounded after each op, as the ops say.
    With `fast` they are rounded where a kernel writes them and nowhere else,
    whatever casts say inside.

    Example: test/Lowering/convert-kernels-to-linalg.mlir. Does not choose the
    order of additions.
  }];
  let options = [
    Option<"fast", "fast", "bool", /*default=*/"false",
           "Round f16 and bf16 at the borders of kernels alone">];
}

#endif // WEFT_KERNELS_PASSES_TD
