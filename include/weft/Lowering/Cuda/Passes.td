//===- Passes.td - From kernels to code for CUDA devices ---*- tablegen -*-===//

#ifndef WEFT_LOWERING_CUDA_PASSES_TD
#define WEFT_LOWERING_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def PadRowsPass : Pass<"weft-pad-rows", "::mlir::ModuleOp"> {
  let summary = "Let the rows of matrices begin where a device reads them fast";
  let description = [{
    What: a transient buffer that a `plan.gemm` reads or writes, and whose rows are no
    multiple of `least` bytes, gets room behind each row: to a multiple of `most` bytes (128);
    where that room would be more than one part in `share` (8) of the row, to a multiple of
    `least` (16); where that is too much as well, none. Users get strided views of it,
    kernels their `pitches`. Buffers that something else uses than products, kernels that
    run row by row, and copies stay as they are.

    Precondition: `weft-lower-to-plan`. A buffer that has an offset stays as it is. Guarantees: the same values;
    what lies behind a row is neither read nor written.

    Why: 50257 halves to a row put seven of eight rows at addresses that are no multiple of
    16 bytes, where products and kernels cannot read and write 16 bytes at once. On an H100
    a product that sums over the rows went from 17 to 5.1 ms.

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
           "Bytes that rows begin at multiples of where that is cheap, a power of two">,
    Option<"least", "least", "int64_t", "16",
           "Bytes that they begin at multiples of at least, a power of two">,
    Option<"share", "share", "int64_t", "8",
           "The room behind a row is at most one part in so many of it; 0: any">,
    Option<"explain", "explain", "bool", "false",
           "A remark for each buffer whose rows lie apart, or why they do not">,
  ];
  let statistics = [
    Statistic<"numPadded", "padded", "Buffers whose rows lie apart">,
  ];
}

def WidenProductsPass : Pass<"weft-widen-products", "::mlir::ModuleOp"> {
  let summary = "Let products run over the room behind rows";
  let description = [{
    What: a `plan.gemm` that fills all rows of a buffer with room behind them fills the
    room too, with zeros: its right factor is copied to one that is as much larger, with
    zeros there. A product whose left factor that buffer is later, with the same right
    factor transposed the other way and not written in between, sums over the room as well, where zeros are written
    again before. Both then have sizes that are multiples of what
    rows begin at. Products of fewer than `rows` (256) rows, those that do more than multiply
    (adding to C, bias, epilogue, sums, several right matrices), and what would take too much room or too large a copy (`share`)
    stay as they are.

    Precondition: `weft-pad-rows`. What has an offset, a stream or a workspace stays as it is.
    Guarantees: the same values, since
    what is added is 0.

    Why: cuBLASLt has fast algorithms for odd numbers of classes neither where they are
    the columns of a product (m in its words) nor where they are what it sums over (k),
    even if the rows begin where they should. On an H100 a product of 32768 x 50257 by 768
    took 26.7 ms of f16 with rows at multiples of 128 bytes, the sum over the classes
    19.5 ms, where their operations take about 4 (docs/performance.md).

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
           "The room, beside the rows, and the factor, beside the buffer, are at most one part in so many; 0: any">,
    Option<"explain", "explain", "bool", "false",
           "A remark for each buffer that products fill with its room">,
  ];
  let statistics = [
    Statistic<"numWidened", "widened", "Buffers that products fill with their room">,
  ];
}

def LowerKernelsToGpuPass : Pass<"weft-lower-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Write kernels for the threads of a device";
  let description = [{
    What: turns the linalg form of each kernel into a `gpu.func` in one
    `gpu.module`. Its arguments are device pointers, inputs first, then outputs;
    `known_grid_size` and `known_block_size` are the launch that it is written for.
    Without sums a thread takes a chunk of the last dimension, 16 bytes of the widest
    type; over rows, a row of up to 1024 elements is the work of a warp, a longer one
    that of a block; over columns, a block takes 32 of them.

    Precondition: `weft-convert-kernels-to-linalg`. Guarantees: no `func.func` is
    left; the bits of an element depend on the shapes only: accesses are as wide as
    the offsets of the buffers that `plan.launch` names allow, and the order of
    additions does not follow them.

    Example: test/Lowering/Cuda/lower-kernels-to-gpu.mlir.
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "::weft::kDeviceAlignment",
           "What buffers are multiples of, in bytes, where no launch names them">,
  ];
}

def LowerToCudaPass : Pass<"weft-lower-to-cuda", "::mlir::ModuleOp"> {
  let summary = "Lower kernels to the NVVM dialect";
  let description = [{
    What: `weft-lower-kernels-to-gpu` and the conversions of scf, gpu, vector, memref,
    arith and math to the LLVM and NVVM dialects. Square roots and magnitudes are
    instructions, other elementary functions calls of libdevice.

    Precondition: `weft-convert-kernels-to-linalg`. Guarantees: kernels are
    `llvm.func` ops in the `gpu.module`; nothing is contracted or reassociated. Plan
    programs stay.

    Example: test/Lowering/Cuda/lower-to-cuda.mlir. Does not write PTX.
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "::weft::kDeviceAlignment",
           "What buffers are multiples of, in bytes, where no launch names them">,
  ];
}

def AddDeviceWorkspacesPass : Pass<"weft-add-device-workspaces", "::mlir::ModuleOp"> {
  let summary = "Give commands the device memory that their routines work in";
  let description = [{
    What: as `weft-add-workspaces`, for a CUDA device: products get what cuBLASLt may
    use at most, attention and embedding gradients what their kernels need, and with
    `attention=cudnn` attention and its gradient what cuDNN may use at most.

    Precondition: `weft-lower-to-plan`. Sets `plan.max_threads` to 1: the size does
    not depend on threads of the host; and `plan.constant_bytes`, if the device has to
    keep constants. With `attention=cudnn` the module has the
    attribute `cuda.attention`, and attention that cuDNN does not compute is an error.

    Example: test/Lowering/Cuda/add-device-workspaces.mlir.
  }];
  let options = [
    Option<"chips", "chips", "std::string", "\"sm_90\"",
           "The devices, with commas between them: the largest need of all">,
    Option<"attention", "attention", "std::string", "\"own\"",
           "What computes attention: own or cudnn">,
  ];
}

def DescribeLaunchesPass : Pass<"weft-describe-launches", "::mlir::ModuleOp"> {
  let summary = "Add the launches of a device's kernels to the metadata";
  let description = [{
    Adds `launches` of docs/executable.md to the attribute `weft.metadata`: the grid
    and block that each kernel of the `gpu.module` is written for. Preconditions:
    `weft-describe-executable`, and `weft-lower-to-cuda` behind it.

    Example: test/Lowering/Cuda/describe-launches.mlir.
  }];
}

#endif // WEFT_LOWERING_CUDA_PASSES_TD
