//===- Passes.td - Fusion and choice of kernels ------------*- tablegen -*-===//

#ifndef WEFT_FUSION_PASSES_TD
#define WEFT_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"
include "weft/Fusion/LossPasses.td"

def FoldCastsPass : Pass<"weft-fold-casts", "::mlir::ModuleOp"> {
  let summary = "Fold casts of f16 and bf16 into losses and routines";
  let description = [{
    Removes casts that the formula of a loss, or a routine, performs itself:

    - `weft.cross_entropy`, `weft.cross_entropy_grad` and `weft.embedding_grad`
      of a value widened to f32 read the low-precision value;
    - a `weft.cross_entropy_grad` of low-precision logits, or a
      `weft.matmul {out = f32}`, whose only users cast it to the type of its
      operands, has that type as its result.

    Precondition: `weft-autodiff`. Guarantees: results are bitwise equal,
    because widening is exact and a sum in f32 is rounded once either way.
    Exception: a bf16 product over a long dimension may add its terms in another
    order.

    Example: test/Fusion/fold-casts.mlir.
    ```mlir
    %f = weft.cast %logits : tensor<8x4xbf16> to tensor<8x4xf32>
    %loss, %lse, %denom = weft.cross_entropy %f, %t : tensor<8x4xf32>, tensor<8xi32>
    // becomes
    %loss, %lse, %denom = weft.cross_entropy %logits, %t : tensor<8x4xbf16>, tensor<8xi32>
    ```
    Does not fold casts around elementwise ops: kernels contain those casts.
  }];
  let statistics = [
    Statistic<"numWidened", "widened", "Number of operands read without a cast">,
    Statistic<"numRounded", "rounded", "Number of results rounded by their op">];
}

def SelectKernelsPass : Pass<"weft-select-kernels", "::mlir::ModuleOp"> {
  let summary = "Claim ops for the routines of a target";
  let description = [{
    Asks the kernel library of a target (include/weft/Analysis/KernelLibrary.h)
    which ops of the programs it runs, before composite ops are decomposed. Each
    such op gets `weft.impl`, the kind of its command ("gemm", "attention").
    `weft-fuse` decomposes all other ops and generates kernels for them.

    First, each product is merged with the epilogues that the library's products
    support, into a `weft.gemm`: bias, relu, gelu, their adjoints, sums over the
    rows, and sums of a factor over the inner dimension.

    - An op is not merged across a rounding or across another use. Results are
      the same, except that a sum may be added in another order.
    - If a kernel computes a factor, that kernel also computes its sum. Other
      sums of factors are merged, and their users are moved after the product.
    - With `fast`, an activation or its adjoint is merged across a rounding to
      f16 or bf16, if the library's products round once, at their end.

    A `weft.accumulate` of a product becomes `folded` if nothing else reads the
    product or the old contents. The product then accumulates, and has the
    attribute `weft.folded`.

    Precondition: `weft-autodiff`, static shapes. Guarantees: the library runs
    each op, or a kernel can compute it, or it only names or moves elements.
    Errors, on the op: neither the library nor a kernel supports the op or its
    element types.

    Example: test/Fusion/select-kernels.mlir. Does not measure anything.
  }];
  let options = [
    Option<"library", "library", "std::string", /*default=*/"\"cpu\"", "Name of the library">,
    Option<"epilogues", "epilogues", "bool", /*default=*/"true",
           "Merge more than a bias into products">,
    Option<"fast", "fast", "bool", /*default=*/"false",
           "Merge across a rounding, if products round once (--numerics=fast)">];
  let statistics = [
    Statistic<"numClaimed", "claimed", "Number of ops that routines run">,
    Statistic<"numMerged", "merged", "Number of ops merged into products">,
    Statistic<"numMissed", "missed", "Number of ops that could not be merged into a product">,
    Statistic<"numFolded", "folded", "Number of accumulations folded away">];
}

def DecomposePass : Pass<"weft-decompose", "::weft::ProgramOp"> {
  let summary = "Decompose composite ops into primitives";
  let description = [{
    Replaces every op with a `CompositeOpInterface` (softmax, layer_norm, gelu,
    losses, accumulations, updates, ...) by its formula, unless
    `weft-select-kernels` claimed it. Scalars that several updates share are
    computed once. Attributes tell `weft-fuse` where the ops came from:

    - `weft.formula` is the name of the op that the formula replaces;
    - `weft.update` is the number of the update that an op belongs to;
    - of updates that differ only in their tensors, the first one is decomposed.
      The others stay and have `weft.repeats`, the number of the first one.

    Precondition: autodiff has run (adjoints are written for the composites).
    Guarantees: no composite op is left in a program, except ops with
    `weft.impl` or `weft.repeats`.

    ```mlir
    %y = weft.silu %x : tensor<8xf32>
    // becomes
    %s = weft.div %one, (1 + exp(-x)) ; %y = weft.mul %x, %s
    ```
    Does not simplify or merge other formulas: a value recomputed in the
    backward pass stays recomputed.
  }];
}

def MarkApproximatePass : Pass<"weft-mark-approximate", "::weft::ProgramOp"> {
  let summary = "Allow approximate functions of f16 and bf16 values";
  let description = [{
    Sets `afn` on each `weft.exp` and `weft.tanh` whose operand is computed from
    f16 or bf16 values and constants alone, through elementwise ops, reductions
    and moved elements. Their rounding is 2^-11 or 2^-8 of a value, so a target
    may compute the function in fewer instructions
    (docs/decisions/0096-approximate-functions.md).

    Precondition: `weft-decompose`. Guarantees: functions of f64, of f32
    parameters and of constants alone keep their precision. The flag is set
    before `weft-fuse`, so fusion changes no bits on the CPU. On devices the
    short form of a function also depends on the ops beside it in its kernel.

    ```mlir
    %w = weft.cast %x : tensor<8xbf16> to tensor<8xf32>
    %y = weft.exp %w : tensor<8xf32>
    // becomes
    %w = weft.cast %x : tensor<8xbf16> to tensor<8xf32>
    %y = weft.exp %w {afn} : tensor<8xf32>
    ```
    Example: test/Fusion/mark-approximate.mlir. Does not look through collectives
    and routines with f32 results, and does not choose instructions.
  }];
  let statistics = [
    Statistic<"numMarked", "marked", "Number of functions that may be approximate">];
}

def SplitSumsPass : Pass<"weft-split-sums", "::mlir::ModuleOp"> {
  let summary = "Reduce many rows of few columns in two stages";
  let description = [{
    Splits a `weft.reduce` over leading dimensions whose columns would occupy
    few blocks. The first stage reduces equal chunks of the rows; the second
    stage reduces the results of the chunks. f16 and bf16 are widened before the
    first stage and rounded once after the second.

    If chunks that divide the rows evenly would occupy at most half of the
    usable blocks, the chunks do not cover all rows. The remaining rows are then
    reduced separately, and their result is added.

    With `sums-in-rows`, sums whose rows a kernel reduces anyway are cut into
    groups of rows that a block of that kernel adds up
    (`weft-fuse{sums-in-rows}`): at most 128 rows of up to 1024 elements, or 16
    longer ones. The first stage stays in place, the second is in front of its
    first reader, so one kernel can compute the first stage of several sums.

    Precondition: `weft-decompose`. Guarantees: the split depends on the shape
    alone, with `sums-in-rows` also on the ops that share a kernel. A chunk has
    at least 256 rows, or 1024 elements if there are no columns. A reduction of
    fewer than 65536 elements is not split. Sums are added in another order;
    minima and maxima are the same.

    ```mlir
    %s = weft.reduce sum %x dims [0] : tensor<32768x768xf32>
    // becomes, for 264 blocks
    %r = weft.reshape %x : tensor<32768x768xf32> to tensor<16x2048x768xf32>
    %c = weft.reduce sum %r dims [1] : tensor<16x2048x768xf32>
    %s = weft.reduce sum %c dims [0] : tensor<16x768xf32>

    %s = weft.reduce sum %x dims [0] : tensor<32771x768xf32>
    // 11 chunks of 2979 rows, and two rows behind them
    %m = weft.slice %x offsets [0, 0] sizes [32769, 768] strides [1, 1] : tensor<32771x768xf32>
    %r = weft.reshape %m : tensor<32769x768xf32> to tensor<11x2979x768xf32>
    %c = weft.reduce sum %r dims [1] : tensor<11x2979x768xf32>
    %d = weft.reduce sum %c dims [0] : tensor<11x768xf32>
    %t = weft.slice %x offsets [32769, 0] sizes [2, 768] strides [1, 1] : tensor<32771x768xf32>
    %e = weft.reduce sum %t dims [0] : tensor<2x768xf32>
    %s = weft.add %d, %e : tensor<768xf32>
    ```
    Example: test/Fusion/split-sums.mlir. Does not split within a row:
    reductions of few long rows stay as they are.
  }];
  let options = [
    Option<"blocks", "blocks", "int64_t", /*default=*/"264",
           "Number of blocks that fill a device">,
    Option<"tileColumns", "tile-columns", "int64_t", /*default=*/"32",
           "Columns per block">,
    Option<"sumsInRows", "sums-in-rows", "bool", /*default=*/"false",
           "Cut sums of rows that a kernel reduces into the groups of its blocks">];
  let statistics = [
    Statistic<"numSplit", "split", "Number of reductions split into two stages">];
}

def CloneCastsPass : Pass<"weft-clone-casts", "::weft::ProgramOp"> {
  let summary = "Clone casts of f16 and bf16 into each kernel that reads them";
  let description = [{
    Clones a cast of f16 or bf16 to f32 if its readers cannot share a kernel.
    Each group of readers gets its own cast, directly before its first reader:
    a sum over rows is one group, and the other readers between two routines
    are another. With `weft-fuse{widen-in-readers}` each kernel then reads the
    f16 or bf16 value, and no f32 copy is stored.

    Precondition: `weft-decompose`. Guarantees: results are bitwise equal. A cast
    whose f32 elements a routine, a view or the end of the program needs in
    memory stays as it is.

    ```mlir
    %f = weft.cast %x : tensor<64x32xf16> to tensor<64x32xf32>
    %y = weft.mul %f, %g : tensor<64x32xf32>, tensor<32xf32>
    %s = weft.reduce sum %f dims [0] : tensor<64x32xf32>
    // becomes
    %f = weft.cast %x : tensor<64x32xf16> to tensor<64x32xf32>
    %y = weft.mul %f, %g : tensor<64x32xf32>, tensor<32xf32>
    %c = weft.cast %x : tensor<64x32xf16> to tensor<64x32xf32>
    %s = weft.reduce sum %c dims [0] : tensor<64x32xf32>
    ```
    Example: test/Fusion/clone-casts.mlir. Does not clone casts that round.
  }];
  let statistics = [
    Statistic<"numCloned", "cloned", "Number of casts added">];
}

def SinkSumsPass : Pass<"weft-sink-sums", "::weft::ProgramOp"> {
  let summary = "Move sums over rows to the end of the ops that one kernel can contain";
  let description = [{
    Moves each reduction over rows (any dimensions except the last one) that
    only gradients read. Its new place is in front of the first routine behind
    the op that computes its operand, or behind the reduction if a routine
    computes the operand. Ops that depend on it move too if they are
    in front of that routine. Reductions at one place precede all their readers.

    A kernel ends before the first use of its results. Without this pass, a sum
    for the gradient of a layer norm's weight ends the kernel of the norm's
    adjoint before the residual add.

    Precondition: `weft-decompose`. Guarantees: only the order of ops changes.
    A reduction stays if a routine or a larger reduction depends on it: then it
    is no gradient.

    ```mlir
    %d = weft.mul %g, %x : tensor<64x32xf32>, tensor<64x32xf32>
    %s = weft.reduce sum %d dims [0] : tensor<64x32xf32>
    %t = weft.add %s, %old : tensor<32xf32>, tensor<32xf32>
    %r = weft.add %d, %residual : tensor<64x32xf32>, tensor<64x32xf32>
    %y = weft.matmul %r, %w {weft.impl = "gemm"} : tensor<64x32xf32>, tensor<32x32xf32>
    // becomes
    %d = weft.mul %g, %x : tensor<64x32xf32>, tensor<64x32xf32>
    %r = weft.add %d, %residual : tensor<64x32xf32>, tensor<64x32xf32>
    %s = weft.reduce sum %d dims [0] : tensor<64x32xf32>
    %t = weft.add %s, %old : tensor<32xf32>, tensor<32xf32>
    %y = weft.matmul %r, %w {weft.impl = "gemm"} : tensor<64x32xf32>, tensor<32x32xf32>
    ```
    Example: test/Fusion/sink-sums.mlir. Does not move sums of inputs.
  }];
  let statistics = [
    Statistic<"numMoved", "moved", "Number of reductions moved">];
}

def ShareNumbersPass : Pass<"weft-share-numbers", "::weft::ProgramOp"> {
  let summary = "Compute equal single numbers once";
  let description = [{
    Replaces an op whose result is a single number by an earlier op with the same
    attributes and equal operands. Constants count as equal by their values.

    On a device each number that a kernel reads has a launch of its own, or one
    with others. The flag of the first micro-batch is the same for all gradients.

    Precondition: `weft-decompose`. Guarantees: the same values.

    ```mlir
    %c = weft.compare eq %n, %zero : tensor<f32>, tensor<f32>
    %x = weft.select %c, %a, %b : tensor<i1>, tensor<4xf32>, tensor<4xf32>
    %d = weft.compare eq %n, %zero : tensor<f32>, tensor<f32>
    %y = weft.select %d, %a, %e : tensor<i1>, tensor<4xf32>, tensor<4xf32>
    // becomes
    %c = weft.compare eq %n, %zero : tensor<f32>, tensor<f32>
    %x = weft.select %c, %a, %b : tensor<i1>, tensor<4xf32>, tensor<4xf32>
    %y = weft.select %c, %a, %e : tensor<i1>, tensor<4xf32>, tensor<4xf32>
    ```
    Example: test/Fusion/share-numbers.mlir.
  }];
  let statistics = [
    Statistic<"numShared", "shared", "Number of ops replaced by an earlier one">];
}

def FusePass : Pass<"weft-fuse", "::mlir::ModuleOp"> {
  let summary = "Outline chains of primitive ops as kernels";
  let description = [{
    Groups elementwise ops, reductions over the trailing or the leading
    dimensions, and views of their operands into `weft.kernel` symbols, called
    by `weft.call`. Groups of equal content share one kernel. An update with
    `weft.repeats` calls the kernels of the update that it repeats. It is an error
    if these do not compute the formula of the update.

    With `sums-in-rows`, a sum over groups of rows joins the kernel that computes
    or reduces these rows (`sums` of `weft.kernel`), and one kernel adds up all
    such sums of a kernel.

    At the end an elementwise kernel behind a routine moves up into a kernel that
    computes one of its operands, if all that it reads is computed there, one loop
    nest computes both, and no more bytes are in use behind it.

    Precondition: static shapes, `weft-select-kernels` (without it no op runs as
    a routine), `weft-decompose`. Guarantees:

    - no elementwise op or reduction is left outside of a kernel;
    - each kernel is one loop nest. It records its iteration space and the
      inputs whose buffers its results may reuse (`weft.kernel`), but no ranges,
      tiles or blocks: the target chooses those;
    - the order of the remaining ops is kept;
    - an elementwise kernel behind a routine is part of the kernel before it that
      computes an operand, if one loop nest computes both without more bytes in
      use and nothing between is read (test/Fusion/fuse-merges.mlir);
    - if a routine or a reshape reads a broadcast, a kernel writes its elements;
    - the shape of a reduction alone determines its order of additions, whatever
      else its kernel computes (test/Fusion/fuse-row-order.mlir).

    Example: test/Fusion/fuse.mlir. Does not fuse into matmuls, and does not
    duplicate computation.
  }];
  let options = [
    Option<"maxOps", "max-ops", "unsigned", /*default=*/"64",
           "Largest number of ops in one kernel">,
    Option<"maxBuffers", "max-buffers", "unsigned", /*default=*/"24",
           "Largest number of inputs and outputs of one kernel">,
    Option<"apart", "apart", "bool", /*default=*/"false",
           "Outline every op as its own kernel, so that each value has a buffer (--debug-nan); the ops of one update still share a kernel">,
    Option<"widenInReaders", "widen-in-readers", "bool", /*default=*/"false",
           "Compute a widening cast of a value from outside in the kernel of its only reader">,
    Option<"sumsInRows", "sums-in-rows", "bool", /*default=*/"false",
           "Compute sums over rows in the kernel that computes or reduces the rows">];
  let statistics = [
    Statistic<"numKernels", "kernels", "Number of distinct kernels">,
    Statistic<"numCalls", "calls", "Number of calls of kernels">,
    Statistic<"numOps", "fused-ops", "Number of ops moved into kernels">,
    Statistic<"numMissed", "missed", "Number of ops that a limit kept out of a kernel">,
    Statistic<"numMerged", "merged", "Number of kernels that became part of one before a routine">,
    Statistic<"numRepeated", "repeated", "Number of updates that call the kernels of another update; their ops are not counted">];
}

def ConvertKernelsToLinalgPass
    : Pass<"weft-convert-kernels-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Write kernels as linalg ops on memrefs";
  let description = [{
    Converts each `weft.kernel` to a `func.func` of the same name on memrefs,
    inputs first, then outputs. The body has one `linalg.generic` per phase over
    the iteration space, and small ones over the outer dimensions for values
    that change once per row. Indexing maps express broadcasts and transposes;
    `memref.reinterpret_cast` expresses joined dimensions and slices. Values
    that a phase passes to the next (totals, row statistics, costly values) are
    in `memref.alloca`s; totals start from a `linalg.fill`. The function keeps
    the kernel's attributes `weft.kernel_kind`, `weft.sizes`, `weft.over` and
    `weft.inplace`.

    Precondition: `weft-fuse`. Guarantees: no kernel is left. The ops of a
    function, run in order, compute the results of the kernel. Errors: the
    attributes of a kernel contradict its body.

    f16 and bf16 are computed in f32 and rounded after each op, as the op
    semantics require. With `fast` they are rounded only where a kernel writes
    them, and casts inside of a kernel do not round.

    Example: test/Lowering/convert-kernels-to-linalg.mlir. Does not choose the
    order of additions.
  }];
  let options = [
    Option<"fast", "fast", "bool", /*default=*/"false",
           "Round f16 and bf16 only where a kernel writes them">];
}

#endif // WEFT_FUSION_PASSES_TD
