//===- PaddingPasses.td - Passes on the padding of rows ----*- tablegen -*-===//

#ifndef WEFT_LOWERING_CUDA_PADDINGPASSES_TD
#define WEFT_LOWERING_CUDA_PADDINGPASSES_TD

include "mlir/Pass/PassBase.td"

def PadRowsPass : Pass<"weft-pad-rows", "::mlir::ModuleOp"> {
  let summary = "Align the rows of matrices for vector reads";
  let description = [{
    Pads the rows of a transient buffer that a `plan.gemm` reads or writes and
    whose rows are no multiple of `least` bytes: to a multiple of `most` bytes
    (128), or of `least` (16) if that padding would exceed one part in `share`
    (8) of the row. If both exceed it, rows stay dense. Users get strided views
    of the buffer, kernels their `pitches`. A buffer stays dense if it has other
    users than products, kernels that run row by row, and copies.

    Precondition: `weft-lower-to-plan`. A buffer with an offset is not changed.
    Guarantees: the same values; padding is neither read nor written.

    Why: with 50257 halves per row, seven of eight rows begin at addresses that
    are no multiple of 16 bytes, where products and kernels cannot access 16
    bytes at once. On an H100, padding reduced the time of a product that sums
    over the rows from 17 to 5.1 ms.

    Before:
    ```mlir
    %y = plan.alloc temporary : memref<8x31xf32>
    plan.gemm %x * %w -> %y : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
    ```
    After:
    ```mlir
    %0 = plan.alloc temporary : memref<8x32xf32>
    %y = plan.view %0 : memref<8x32xf32> to memref<8x31xf32, strided<[32, 1]>>
    plan.gemm %x * %w -> %y : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32, strided<[32, 1]>>
    ```
    Example: test/Lowering/Cuda/pad-rows.mlir.
  }];
  let options = [
    Option<"most", "most", "int64_t", "128",
           "Preferred alignment of rows in bytes, a power of two">,
    Option<"least", "least", "int64_t", "16",
           "Smallest alignment of rows in bytes, a power of two">,
    Option<"share", "share", "int64_t", "8",
           "Largest padding, as one part in so many of a row; 0: any">,
  ];
  let statistics = [
    Statistic<"numPadded", "padded", "Buffers with padded rows">,
  ];
}

def WidenProductsPass : Pass<"weft-widen-products", "::mlir::ModuleOp"> {
  let summary = "Let products run over the padding of rows";
  let description = [{
    Lets a `plan.gemm` that fills all rows of a padded buffer fill the padding
    with zeros too: its right factor is copied to a larger one with zeros there.
    A later product whose left factor is that buffer, with the same unchanged
    right factor transposed the other way, sums over the padding, where zeros are
    written again before it. Both products then have aligned sizes. Products that
    fill several buffers, as for a loss in chunks of rows, share the copy while
    nothing writes their right factor.

    These products are not changed: fewer than `rows` (256) rows; more than a
    multiplication (adding to C, bias, epilogue, sums, several right matrices);
    padding that exceeds one part in `share` of the rows, or a copied factor that
    exceeds one part in `share` of the results that share it.

    Precondition: `weft-pad-rows`. Buffers with an offset and commands with a
    stream or a workspace are not changed. Guarantees: the same values, since the
    added terms are 0.

    Why: cuBLASLt has no fast algorithms for an odd number of classes, neither
    as the columns of a product (its m) nor as the dimension that is summed (its
    k), even with aligned rows. On an H100 a product of 32768 x 50257 by 768 in
    f16 took 26.7 ms with rows at multiples of 128 bytes, and the sum over the
    classes 19.5 ms. At the device's peak rate they take about 4 ms
    (docs/how-to/performance.md).

    Before:
    ```mlir
    %0 = plan.alloc temporary : memref<8x32xf32>
    %y = plan.view %0 : memref<8x32xf32> to memref<8x31xf32, strided<[32, 1]>>
    plan.gemm %x * %w transposed -> %y : memref<8x4xf32> * memref<31x4xf32> -> memref<8x31xf32, strided<[32, 1]>>
    ```
    After, where `%v` is `%w` with a row of zeros:
    ```mlir
    plan.gemm %x * %v transposed -> %0 : memref<8x4xf32> * memref<32x4xf32> -> memref<8x32xf32>
    ```
    Example: test/Lowering/Cuda/widen-products.mlir.
  }];
  let options = [
    Option<"rows", "rows", "int64_t", "256",
           "Least rows of a product whose factor is copied">,
    Option<"share", "share", "int64_t", "8",
           "Largest padding of rows and largest copied factor, as one part in so many of the buffer; 0: any">,
  ];
  let statistics = [
    Statistic<"numWidened", "widened", "Buffers whose padding a product fills">,
  ];
}

def PadGradientsPass : Pass<"weft-pad-gradients", "::mlir::ModuleOp"> {
  let summary = "Put rows of padding behind gradients for their products";
  let description = [{
    A product whose left factor is a transposed matrix with padded rows, as the
    gradient of a weight by the gradient of the logits, has a row for each column
    of that matrix. This pass lets it compute a row for each column of the padding
    too. The memory of its target, a gradient or an allocation, gets these rows
    behind the others (`padded_rows` of the state). Nothing else reads or
    writes them: all other commands get a view of the rows before, and a saved,
    reduced or updated gradient has its shape.

    These products are not changed: fewer than `rows` (256) terms of a sum; more
    than a multiplication (bias, epilogue, sums); padding that exceeds one part in
    `share` of the columns; a left factor whose padding no product fills; a target
    that is a part of a buffer, as in a bucket of several parameters; an addition
    without a product before that writes the padding; more rows of padding than
    others, or than whole rows of the target's buffer hold; a target that another
    product gave other padding. A remark names the reason.

    Precondition: `weft-widen-products`. Buffers with an offset and commands with
    a stream or a workspace are not changed. Guarantees: the same values in all
    rows of the target.

    Why: cuBLASLt has no fast algorithms for an odd number of classes
    (`weft-widen-products`). On an H200, the gradient of 50257 x 768 took 5.4 ms
    where the product of the logits took 3.6 over 50304.

    Before:
    ```mlir
    plan.state gradient @w.grad : memref<31x4xf32> {param = @w}
    %g = plan.use @w.grad : memref<31x4xf32>
    plan.gemm %z transposed * %x -> %g : memref<8x31xf32, strided<[32, 1]>> * memref<8x4xf32> -> memref<31x4xf32>
    ```
    After, where `%0` is the buffer of which `%z` is a view:
    ```mlir
    plan.state gradient @w.grad : memref<31x4xf32> {padded_rows = 32 : i64, param = @w}
    %g = plan.use @w.grad : memref<32x4xf32>
    plan.gemm %0 transposed * %x -> %g : memref<8x32xf32> * memref<8x4xf32> -> memref<32x4xf32>
    ```
    Example: test/Lowering/Cuda/pad-gradients.mlir.
  }];
  let options = [
    Option<"rows", "rows", "int64_t", "256",
           "Least number of terms that an element of the product sums">,
    Option<"share", "share", "int64_t", "8",
           "Largest padding, as one part in so many of the columns; 0: any">,
  ];
  let statistics = [
    Statistic<"numPadded", "padded", "Products that write rows of padding">,
  ];
}

#endif // WEFT_LOWERING_CUDA_PADDINGPASSES_TD
