//===- Passes.td - From kernels to code for CUDA devices ---*- tablegen -*-===//

#ifndef WEFT_LOWERING_CUDA_PASSES_TD
#define WEFT_LOWERING_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"
include "weft/Lowering/Cuda/PaddingPasses.td"

def GroupLaunchesPass : Pass<"weft-group-launches", "::mlir::ModuleOp"> {
  let summary = "Run independent kernels in one launch";
  let description = [{
    Replaces launches of which none reads or writes what another one writes by
    one launch of a `weft.kernel_group`, at the place of the last of them. Two
    kinds of launches are candidates, if their blocks have 256 threads:

    - small ones, of at most `bytes` in all buffers together. They move down to
      the last one before a command that needs a result or overwrites a buffer
      of theirs, past any other command;
    - larger ones with the same ops on the same types, as the updates of all
      parameters. They move past other launches of kernels only, so that no
      large buffer lives longer.

    A group has at most `buffers` buffers, which are arguments of one kernel. A
    launch with a result that a gather among ranks reads stays alone:
    `weft-schedule` starts it early, together with its gather.

    Precondition: `weft-lower-to-plan`; a program with streams is not changed.
    Guarantees: the same bits: each block computes as before.

    Why: a launch takes 2 to 3 us on a device however small it is. A training
    step of GPT-2 124M has about 200 of these.

    Before:
    ```mlir
    plan.launch @k_1f ins(%x : memref<16x8xf32>) outs(%a : memref<8xf32>)
    plan.launch @k_1f ins(%y : memref<16x8xf32>) outs(%b : memref<8xf32>)
    ```
    After:
    ```mlir
    plan.launch @g_2a ins(%x, %y : memref<16x8xf32>, memref<16x8xf32>) outs(%a, %b : memref<8xf32>, memref<8xf32>)
    ```
    Example: test/Lowering/Cuda/group-launches.mlir.
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", "1048576",
           "Most bytes of the buffers of a small launch">,
    Option<"buffers", "buffers", "int64_t", "400",
           "Most buffers of a group, up to 512; a kernel has at most 4 KiB of arguments">,
  ];
  let statistics = [
    Statistic<"numGrouped", "grouped", "Launches that became part of a group">,
    Statistic<"numGroups", "groups", "Launches of groups">,
  ];
}

def GroupCopiesPass : Pass<"weft-group-copies", "::mlir::ModuleOp"> {
  let summary = "Copy small buffers in one launch";
  let description = [{
    Replaces copies without another command between them by one launch of a
    `weft.kernel_group`, if no copy reads or writes what another one writes. Its
    kernels are `weft.materialize`. These copies stay:

    - of more than `bytes`, or with strides;
    - in another stream than 0;
    - of an f32 number that a routine reads, also through a view. The runtime
      finds the input that is the flag of an accumulating product by its copy.

    The launch has the longest common scope of the copies and the sum of their
    estimates.

    Precondition: `weft-assign-streams`, which copies inputs. Guarantees: the
    same bits.

    Why: a program has about ten inputs of a few bytes, and each copy takes 2 to
    3 us on a device.

    Before:
    ```mlir
    plan.copy %lr to %0 : memref<f64> to memref<f64>
    plan.copy %eps to %1 : memref<f64> to memref<f64>
    ```
    After:
    ```mlir
    plan.launch @g_3b ins(%lr, %eps : memref<f64>, memref<f64>) outs(%0, %1 : memref<f64>, memref<f64>)
    ```
    Example: test/Lowering/Cuda/group-copies.mlir.
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::plan::PlanDialect"];
  let options = [
    Option<"bytes", "bytes", "int64_t", "1048576",
           "Largest copy of a group, in bytes">,
    Option<"buffers", "buffers", "int64_t", "400",
           "Most buffers of a group, up to 512; a kernel has at most 4 KiB of arguments">,
  ];
  let statistics = [
    Statistic<"numGrouped", "grouped", "Copies that became part of a group">,
    Statistic<"numGroups", "groups", "Launches of groups">,
  ];
}

def LowerKernelsToGpuPass : Pass<"weft-lower-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Write kernels for the threads of a device";
  let description = [{
    Turns the linalg form of each kernel into a `gpu.func` in one `gpu.module`.
    Its arguments are device pointers, inputs first, then outputs.
    `known_grid_size` and `known_block_size` are the launch that it is written
    for.

    The kind of a kernel decides the work of a thread. Without sums, a thread
    takes a chunk of the last dimension, 16 bytes of the widest type. Over rows,
    a warp takes a row of up to 1024 elements, and a block takes a longer row.
    Over columns, a block takes 32 columns.

    An input that several passes over a row read is loaded by the first one,
    which leaves its elements in registers of the thread. A remark (category
    `fusion`) names each such input, or says why every pass loads it.

    Precondition: `weft-convert-kernels-to-linalg`. Guarantees: no `func.func`
    is left. The bits of an element depend on the shapes only: accesses are as
    wide as the offsets of the buffers that `plan.launch` names allow, but the
    order of additions does not depend on that width.

    Example: test/Lowering/Cuda/lower-kernels-to-gpu.mlir.
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "::weft::kDeviceAlignment",
           "Alignment of buffers that no launch names, in bytes">,
  ];
  let statistics = [
    Statistic<"numKept", "kept-rows", "Inputs that stay in registers between passes over a row">,
    Statistic<"numReloaded", "reloaded-rows", "Inputs that each pass over a row loads">,
  ];
}

def MarkKernelArgumentsPass : Pass<"weft-mark-kernel-arguments", "::mlir::ModuleOp"> {
  let summary = "Mark arguments whose bytes no other argument writes";
  let description = [{
    Marks arguments of device kernels by the buffers of all their launches, in
    all programs. LLVM then loads read-only arguments as `ld.global.nc`, and
    keeps loaded values across stores to other arguments.

    - An input is `llvm.noalias` and `llvm.readonly` if it shares no byte with
      an output at any launch, and the function stores nothing through it.
    - An output is `llvm.noalias` if it shares no byte with another operand at
      any launch, and the function does not load from it: after a barrier, a
      thread may load what another thread has stored.

    Views of one buffer are compared by their elements, buffers by their arena
    offsets. Before `weft-plan-memory` buffers share no byte. The function of a
    `weft.kernel_group` is marked by the launches of the group, whose members
    may update buffers in place.

    Precondition: `weft-lower-kernels-to-gpu`. Guarantees: the same bits. A
    kernel that no command launches is not marked. One launch in place keeps the
    argument of a kernel unmarked for all of its launches (`mixed`); a remark
    names it.

    Before:
    ```mlir
    gpu.func @k_1f(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel
    ```
    After:
    ```mlir
    gpu.func @k_1f(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}) kernel
    ```
    Example: test/Lowering/Cuda/mark-kernel-arguments.mlir.
  }];
  let statistics = [
    Statistic<"numReadOnly", "read-only", "Inputs of kernels that are marked">,
    Statistic<"numShared", "shared", "Inputs of kernels that an output may overwrite">,
    Statistic<"numMixed", "mixed", "Shared inputs that only some launches overwrite">,
  ];
}

def LowerToCudaPass : Pass<"weft-lower-to-cuda", "::mlir::ModuleOp"> {
  let summary = "Lower kernels to the NVVM dialect";
  let description = [{
    Runs `weft-lower-kernels-to-gpu`, `weft-mark-kernel-arguments` and the
    conversions of scf, gpu, vector, memref, arith and math to the LLVM and NVVM
    dialects. Square roots and magnitudes are instructions; other elementary
    functions are calls of libdevice.

    Precondition: `weft-convert-kernels-to-linalg`. Guarantees: kernels are
    `llvm.func` ops in the `gpu.module`; nothing is contracted or reassociated.
    Plan programs stay.

    Example: test/Lowering/Cuda/lower-to-cuda.mlir. Does not write PTX.
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "::weft::kDeviceAlignment",
           "Alignment of buffers that no launch names, in bytes">,
  ];
}

def ChooseAttentionPass : Pass<"weft-choose-attention", "::mlir::ModuleOp"> {
  let summary = "Choose the code of attention commands";
  let description = [{
    Marks the commands of attention that cuDNN computes with `cuda.attention`.
    Commands without the attribute run weft's own kernels.

    - `attention=own` marks none, `attention=cudnn` all. A marked command that
      cuDNN does not compute is an error of later passes.
    - `attention=auto` marks with `cudnn_or_own` each command that cuDNN computes
      on all chips in at most `most-bytes` of workspace. Such a program has both
      implementations, and chooses one when it starts. Where gradients exist and
      cuDNN takes none of them, nothing is marked: an evaluation alone does not
      justify the library.

    A fixed order of the sums of cuDNN's gradients costs workspace that grows
    with queries x keys. Without `deterministic`, gradients whose workspace
    exceeds `most-bytes` also get `cuda.nondeterministic`: cuDNN adds them up in
    any order, in less memory. Gradients within `most-bytes` keep a fixed order.

    Precondition: `weft-lower-to-plan`, with final row pitches.

    Before:
    ```mlir
    plan.attention %q, %k, %v -> %o, %lse {causal, scale = 0.125 : f64} : ...
    ```
    After:
    ```mlir
    plan.attention %q, %k, %v -> %o, %lse {causal, cuda.attention = "cudnn_or_own", scale = 0.125 : f64} : ...
    ```
    Example: test/Lowering/Cuda/choose-attention.mlir.
  }];
  let options = [
    Option<"chips", "chips", "std::string", "\"sm_90\"",
           "Devices, separated by commas; cuDNN must compute it on all">,
    Option<"attention", "attention", "::weft::AttentionLibrary", "::weft::AttentionLibrary::Own",
           "Implementation of attention: own, cudnn or auto", [{::llvm::cl::values(
               clEnumValN(::weft::AttentionLibrary::Own, "own", "weft's routines"),
               clEnumValN(::weft::AttentionLibrary::Cudnn, "cudnn", "cuDNN"),
               clEnumValN(::weft::AttentionLibrary::CudnnOrOwn, "auto", "cuDNN where possible"))}]>,
    Option<"mostBytes", "most-bytes", "int64_t", "0",
           "Most workspace bytes of a command of cuDNN with auto; 0: any number">,
    Option<"deterministic", "deterministic", "bool", "true",
           "Fix the order of the sums of all gradients">,
  ];
  let statistics = [
    Statistic<"numCudnn", "num-cudnn", "Commands of attention for cuDNN">,
    Statistic<"numNondeterministic", "num-nondeterministic",
              "Commands of cuDNN without a fixed order of sums">,
    Statistic<"numOwn", "num-own", "Commands of attention for own kernels">,
  ];
}

def AddDeviceWorkspacesPass : Pass<"weft-add-device-workspaces", "::mlir::ModuleOp"> {
  let summary = "Give commands the device workspaces of their routines";
  let description = [{
    Does the same as `weft-add-workspaces`, for a CUDA device. Products get the
    largest workspace that cuBLASLt may use; attention and embedding gradients
    get the workspace that their kernels need. Attention that cuDNN computes
    (`weft-choose-attention`) gets the largest workspace that cuDNN may use. If
    own kernels can replace cuDNN, the larger one of both needs counts.

    Precondition: `weft-lower-to-plan`. Sets `plan.max_threads` to 1, because
    the size does not depend on host threads, and `plan.constant_bytes` if the
    device has to keep constants. Attention marked for cuDNN that cuDNN does not
    compute is an error.

    Example: test/Lowering/Cuda/add-device-workspaces.mlir.
  }];
  let options = [
    Option<"chips", "chips", "std::string", "\"sm_90\"",
           "Devices, separated by commas; workspaces fit all of them">,
  ];
}

def DescribeLaunchesPass : Pass<"weft-describe-launches", "::mlir::ModuleOp"> {
  let summary = "Add the launches of a device's kernels to the metadata";
  let description = [{
    Adds `launches` of docs/reference/executable.md to the attribute
    `weft.metadata`: the grid and block that each kernel of the `gpu.module` is
    written for. Preconditions: `weft-describe-executable`, then
    `weft-lower-to-cuda`.

    Example: test/Lowering/Cuda/describe-launches.mlir.
  }];
}

#endif // WEFT_LOWERING_CUDA_PASSES_TD
