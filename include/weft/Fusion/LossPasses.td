//===- LossPasses.td - Passes on cross-entropies -----------*- tablegen -*-===//

#ifndef WEFT_FUSION_LOSSPASSES_TD
#define WEFT_FUSION_LOSSPASSES_TD

include "mlir/Pass/PassBase.td"

def ChunkLossesPass : Pass<"weft-chunk-losses", "::mlir::ModuleOp"> {
  let summary = "Compute logits for one chunk of rows at a time";
  let description = [{
    Unrolls the product of the logits, their `weft.cross_entropy` and
    `weft.accuracy`, and in a backward program `weft.cross_entropy_grad` and the
    two products with its result, over `chunks` chunks of rows. Sizes of chunks
    differ by at most one row. The gradient of the weight is added up in f32, in
    the accumulator of the gradient if nothing else reads it, and rounded behind
    the last chunk. The input's gradients are joined by `weft.concat`.

    Precondition: `weft-autodiff`, `weft-fold-casts`. Guarantees: at most one
    chunk of the logits is needed at once, and results are equal up to the order
    of additions. One chunk changes nothing. Errors: the logits are no product
    of rows and a matrix (also one with a bias), or their rows are reshaped; ops
    other than those above read the logits, their gradient or the `lse` of a
    loss; there are fewer rows than chunks; no program has a
    `weft.cross_entropy`.

    ```mlir
    %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
    %l, %lse, %n = weft.cross_entropy %x, %t {reduction = #weft.loss_reduction<sum>} : tensor<8x16xf32>, tensor<8xi32>
    // becomes, with two chunks
    %h0 = weft.slice %h offsets [0, 0] sizes [4, 4] strides [1, 1] : tensor<8x4xf32>
    %x0 = weft.matmul %h0, %w {transpose_rhs} : tensor<4x4xf32>, tensor<16x4xf32>
    ... // likewise the second half
    %l = weft.add %l0, %l1 : tensor<f32>, tensor<f32>
    ```
    Example: test/Fusion/chunk-losses.mlir. Does not choose the number of chunks
    (`--loss-chunks=auto` under a memory limit).
  }];
  let options = [
    Option<"chunks", "chunks", "int64_t", /*default=*/"1",
           "Number of chunks of rows">];
  let statistics = [
    Statistic<"numChunked", "chunked", "Number of losses in chunks">];
}

def MergeLossesPass : Pass<"weft-merge-losses", "::weft::ProgramOp"> {
  let summary = "Compute a cross-entropy and its gradient in one kernel";
  let description = [{
    Replaces a `weft.cross_entropy` and its `weft.cross_entropy_grad` by one
    formula. The divisor of a mean comes first, since it depends on the targets
    alone. The loss of each row and the gradient of its logits follow, and after
    them the sum over the rows. `weft-fuse` makes the middle one kernel, whose
    gradient may take the buffer of the logits.

    Precondition: `weft-select-kernels`. Guarantees: loss and gradient have the
    semantics of the two ops. Their bits may differ from the formulas of
    `weft-decompose`: a gradient whose probability is below e^-87 is not set to
    zero first.

    ```mlir
    %l, %lse, %n = weft.cross_entropy %x, %t : tensor<64x50257xf16>, tensor<64xi32>
    %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f32>, tensor<64x50257xf16>, tensor<64xi32>, tensor<64xf32>
    ```
    Example: test/Fusion/merge-losses.mlir. Does not merge losses with class
    weights or smoothed labels, of f64 logits, or whose gradient depends on the
    loss.
  }];
  let statistics = [
    Statistic<"numMerged", "merged", "Number of losses merged">,
    Statistic<"numMissed", "missed",
              "Number of losses with a gradient that were not merged">];
}

#endif // WEFT_FUSION_LOSSPASSES_TD
