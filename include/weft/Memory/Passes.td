//===- Passes.td - Offsets of buffers in the arena ---------*- tablegen -*-===//

#ifndef WEFT_MEMORY_PASSES_TD
#define WEFT_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanMemoryPass : Pass<"weft-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every buffer its offset in one arena";
  let description = [{
    The arena starts with the persistent part: parameters, gradients, optimizer
    state, loss-scale state, in that order. One transient part follows, which
    all programs share: two buffers of a program get the same bytes only if they
    are never live at once, and nothing transient outlives its program.

    If the plan has staged inputs and results (`weft-assign-streams`), a staging
    part lies between these two. It begins with the inputs of each program; the
    results of each program follow. A buffer that several streams use is live
    until a command that happens after all of its uses: two buffers share bytes
    only if every use of one happens before the first write of the other.

    Sets `offset` on `plan.state`, `plan.use`, `plan.input` and `plan.alloc`,
    and the module attributes `plan.alignment`, `plan.persistent_bytes`,
    `plan.arena_bytes` and, with a staging part, `plan.staging_bytes`. The
    result is deterministic.

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
    Option<"report", "report", "bool", "false", "Print the memory report">,
    Option<"alignment", "alignment", "int64_t", "64",
           "Alignment of offsets in bytes, a power of two; set by the target">,
  ];
  let statistics = [
    Statistic<"numPersistentBytes", "persistent-bytes", "Parameters, gradients and state">,
    Statistic<"numTransientBytes", "transient-bytes", "Packed size of the shared part">,
    Statistic<"numLowerBoundBytes", "lower-bound-bytes", "Most transient bytes live at one command">,
  ];
}

#endif // WEFT_MEMORY_PASSES_TD
