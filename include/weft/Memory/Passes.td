//===- Passes.td - Places of buffers in the arena ----------*- tablegen -*-===//

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
    happens before the other, by the order of streams, records and waits.

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
