//===- Passes.td - From kernels to code for CUDA devices ---*- tablegen -*-===//

#ifndef WEFT_LOWERING_CUDA_PASSES_TD
#define WEFT_LOWERING_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // WEFT_LOWERING_CUDA_PASSES_TD
