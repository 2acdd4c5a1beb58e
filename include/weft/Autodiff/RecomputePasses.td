//===- RecomputePasses.td - Saved and recomputed values ----*- tablegen -*-===//

#ifndef WEFT_AUTODIFF_RECOMPUTEPASSES_TD
#define WEFT_AUTODIFF_RECOMPUTEPASSES_TD

include "mlir/Pass/PassBase.td"

def InlineRecomputePass : Pass<"weft-inline-recompute", "::mlir::ModuleOp"> {
  let summary = "Mark the ops of recompute regions";
  let description = [{
    Each op of a `weft.recompute` region gets the attribute `weft.recompute`
    with the name of the region. The ops move in front of the region, which is
    erased. `weft-recompute` recomputes the results of marked ops that the
    backward part reads. In nested regions the innermost name applies.
    Parameters and constants are never marked.

    Before:
    ```mlir
    weft.program @model(%x: tensor<4xf32> {weft.input = "x"})
        -> (tensor<4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
      %y = weft.recompute "mlp" {
        %e = weft.exp %x : tensor<4xf32>
        %t = weft.tanh %e : tensor<4xf32>
        weft.yield %t : tensor<4xf32>
      } : tensor<4xf32>
      weft.return %y : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    weft.program @model(%x: tensor<4xf32> {weft.input = "x"})
        -> (tensor<4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
      %e = weft.exp %x {weft.recompute = "mlp"} : tensor<4xf32>
      %t = weft.tanh %e {weft.recompute = "mlp"} : tensor<4xf32>
      weft.return %t : tensor<4xf32>
    }
    ```

    The pass runs before `weft-autocast`, so that a cast belongs to the segment
    of the op that it is made for. Values do not change.
  }];
  let statistics = [
    Statistic<"numRegions", "regions", "Regions that became marks">,
  ];
}

def StoreDropoutBitsPass : Pass<"weft-store-dropout-bits", "::mlir::ModuleOp"> {
  let summary = "Store dropout bits of attention";
  let description = [{
    Attention with dropout in the program of kind `micro` gets `stores_bits` and
    the result `bits`. `weft-autodiff` gives the bits to the adjoint, in place of
    `rng`, so the backward pass draws no random numbers. A score takes one bit in
    memory from the forward to the backward pass. Results do not change by a bit.

    Precondition: `weft-derive-programs`, and no `weft-autodiff` yet. The target
    must have routines for bits: CUDA devices do, the CPU does not.

    Before:
    ```mlir
    %out, %lse = weft.attention %q, %q, %q rng %rng : tensor<2xi64>
        {dropout = 0.1 : f64, op_id = 3 : i64, scale = 0.5 : f64}
        : tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>
    ```
    After:
    ```mlir
    %out, %lse, %bits = weft.attention %q, %q, %q rng %rng : tensor<2xi64>
        {dropout = 0.1 : f64, op_id = 3 : i64, scale = 0.5 : f64, stores_bits}
        : tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>
    ```
    Example: test/Autodiff/store-dropout-bits.mlir.

    If `weft-recompute` copies the attention, the adjoint reads the copy's bits.
    Bits that nothing reads get no buffer. Does not: change `weft.dropout`, whose
    numbers fuse with other kernels.
  }];
  let options = [
    Option<"stores", "stores", "bool", /*default=*/"true",
           "Store bits; false: only report the ops whose numbers are drawn again">,
  ];
  let statistics = [
    Statistic<"numStored", "stored", "Ops of attention that store their bits">,
    Statistic<"numDrawn", "drawn", "Ops of attention whose numbers are drawn again">,
  ];
}

def MarkRecomputePass : Pass<"weft-mark-recompute", "::mlir::ModuleOp"> {
  let summary = "Mark the ops that the backward pass recomputes";
  let description = [{
    Gives ops of the program of kind `micro` the attribute `weft.recompute`, the
    name of a **segment**. `weft-recompute` recomputes the results of a segment
    that the backward part reads, instead of saving them in the forward part. A
    segment is one block (`rule=blocks`: "h.0", by the path to the first number
    in the scope), or N consecutive blocks under the name of the first
    (`rule=every:N`). Parameters, constants and ops outside of blocks are never
    marked. Marks of the model (`weft-inline-recompute`) remain where the rule
    marks nothing.

    `rule=bytes:N` decides for each value that the backward part will read. It
    builds the gradients of a copy of the program and drops values greedily
    until N bytes are freed. Each step picks the value with the lowest recompute
    cost per byte among those idle at the memory peak. Values that are already
    recomputed cost nothing. Values that other segments read are kept. An op
    without a block belongs to the segment of its scope.

    Before:
    ```mlir
    weft.program @micro(%x: tensor<4xf32> {weft.input = "x"})
        -> (tensor<4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
      %y = weft.exp %x {weft.scope = "h.0.mlp"} : tensor<4xf32>
      %z = weft.exp %y {weft.scope = "head"} : tensor<4xf32>
      weft.return %z : tensor<4xf32>
    }
    ```
    After (`rule=blocks`):
    ```mlir
    weft.program @micro(%x: tensor<4xf32> {weft.input = "x"})
        -> (tensor<4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
      %y = weft.exp %x {weft.recompute = "h.0", weft.scope = "h.0.mlp"} : tensor<4xf32>
      %z = weft.exp %y {weft.scope = "head"} : tensor<4xf32>
      weft.return %z : tensor<4xf32>
    }
    ```

    With `gelu-with-product` a marked gelu (tanh) also marks the f32 product
    before it and the bias addition between them. A library that fuses both
    rounds a gelu differently than a kernel, but recomputed values must have the
    same bits. If another op reads the product or the sum, the gelu gets the
    attribute `weft.apart`. `weft-select-kernels` then leaves it to a kernel, in
    the forward part and in the recomputation.

    The pass only marks ops. Only `bytes:N` depends on tensor sizes.
  }];
  let options = [
    Option<"rule", "rule", "std::string", "\"none\"", "none, blocks, every:N or bytes:N">,
    Option<"geluWithProduct", "gelu-with-product", "bool", /*default=*/"false",
           "Recompute a gelu (tanh) only together with the f32 product before it, with which the target's library fuses it">,
  ];
}

def RecomputePass : Pass<"weft-recompute", "::weft::ProgramOp"> {
  let summary = "Recompute marked forward values in the backward part";
  let description = [{
    If the backward part reads results of ops with `weft.recompute`
    (`weft-mark-recompute`), the pass copies these ops. The copies of a segment
    precede its first backward op. They keep types, scopes and the random
    numbers of dropout, so they give the same bits. The values that the copies
    start from stay saved, and so do results that another segment reads.

    The forward part ends with the last op that makes an output of the program.
    Outputs are kept: copies never replace a returned value.

    The pass first merges ops that differ only in their marks or `weft.saved`,
    also in a program without marks. It removes forward ops that nothing reads
    any more, and all marks. It updates `weft.saved`. A program without a
    backward part (nothing reads `loss_seed`) only loses its marks and duplicate
    ops.

    Precondition: `weft-autodiff`. No CSE may follow: it would merge the copies
    with the first computation.

    Before:
    ```mlir
    %t = weft.tanh %x {weft.recompute = "h.0", weft.saved = array<i64: 0>} : tensor<4xf32>
    %loss = weft.reduce sum %t dims [0] : tensor<4xf32>
    %g = weft.broadcast %seed : tensor<1xf32> to tensor<4xf32>
    %tt = weft.mul %t, %t : tensor<4xf32>, tensor<4xf32>
    ```
    After:
    ```mlir
    %t = weft.tanh %x : tensor<4xf32>
    %loss = weft.reduce sum %t dims [0] : tensor<4xf32>
    %g = weft.broadcast %seed : tensor<1xf32> to tensor<4xf32>
    %again = weft.tanh %x : tensor<4xf32>
    %tt = weft.mul %again, %again : tensor<4xf32>, tensor<4xf32>
    ```

    Values do not change. The pass does not choose what to recompute.
  }];
}

#endif // WEFT_AUTODIFF_RECOMPUTEPASSES_TD
