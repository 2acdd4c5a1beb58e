//===- Passes.td - Places of buffers in the arena ----------*- tablegen -*-===//

#ifndef WEFT_MEMORY_PASSES_TD
#define WEFT_MEMORY_PASSES_TD

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
    Example: test/Memory/pad-rows.mlir.
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
    Example: test/Memory/widen-products.mlir.
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

def PlanMemoryPass : Pass<"weft-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every buffer its offset in one arena";
  let description = [{
    The arena starts with the persistent part: parameters, gradients, optimizer
    state, loss-scale state, in that order. One transient part follows, which
    all programs share: two buffers of a program get the same bytes only if they
    are never live at once, and nothing transient outlives its program.

    Where the plan has staged inputs and results (`weft-assign-streams`), their part
    lies between the two: the inputs of each program from its start, then the
    results of each. A buffer that several streams use is live until a command
    that happens after all of its uses: two buffers share bytes only if every use
    of one happens before the first write of the other.

    Sets `offset` on `plan.state`, `plan.use`, `plan.input` and `plan.alloc`, and the module
    attributes `plan.alignment`, `plan.persistent_bytes`, `plan.arena_bytes` and,
    if there is one, `plan.staging_bytes`. The result is deterministic.

    Before:
    ```mlir
    plan.state param @w : memref<4xf32>
    plan.program "eval" @eval {
      %w = plan.use @w : memref<4xf32>
      %a = plan.alloc temporary : memref<4xf32>
      plan.copy %w to %a : memref<4xf32> to memref<4xf32>
      plan.output "a" %a : memref<4xf32>
    }
    ```
    After: `@w` has `offset = 0`, `%a` has `offset = 64`, the module
    `plan.persistent_bytes = 64`, `plan.arena_bytes = 128`.

    It does not reorder commands. The statistics hold the sizes and the lower
    bound: the most bytes live at one command.
  }];
  let options = [
    Option<"report", "report", "bool", "false", "Print where the bytes go">,
    Option<"alignment", "alignment", "int64_t", "64",
           "Bytes that offsets are multiples of, a power of two; the target's">,
  ];
  let statistics = [
    Statistic<"numPersistentBytes", "persistent-bytes", "Parameters, gradients and state">,
    Statistic<"numTransientBytes", "transient-bytes", "Packed size of the shared part">,
    Statistic<"numLowerBoundBytes", "lower-bound-bytes", "Most transient bytes live at one command">,
  ];
}

def VerifyPlanPass : Pass<"weft-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Prove that buffers of a plan never disturb each other";
  let description = [{
    Runs every program on a map of the arena that remembers which buffer wrote
    each byte, independently of the lifetimes that `weft-plan-memory` computed:

    - offsets are present, multiples of `plan.alignment` and inside their part of the arena,
    - every element that a command reads was written before, by that buffer,
      and no other buffer has taken its bytes since,
    - no buffer that a command writes shares a byte with another one it uses.

    Where commands have streams: of two commands in different streams that use the
    same bytes, one of them writing, in one run or in two runs of any programs, one
    happens before the other, by the order of streams, records and waits. Each
    record of a stream of collectives is waited for below it in its program, by a
    stream once, and all collectives are done when the program ends.

    Then runs the programs one after the other on the states, element by element:

    - a run that begins with `init`, and one that begins with a checkpoint and
      `refresh`, reads nothing that neither those nor earlier commands wrote. A
      module without an `init` program has runs of the second kind only; one
      without `micro` and `apply` as well gets its states from elsewhere,
    - what a gradient held before a step reaches no state and no output of `micro`
      but through a command that has the input `accumulate`, or what is computed
      from it alone. A kernel that gets both is trusted to choose rightly,
    - a program that writes a parameter writes the same elements of all its
      working copies, and reads the parameter for them no earlier. Copies are the
      states whose `param` it is, or that have all of its segments,
    - a step is counted, as a state, before an optimizer gets it: 1 is added to it.

    Precondition: `weft-plan-memory`. Changes nothing.
  }];
}

#endif // WEFT_MEMORY_PASSES_TD
