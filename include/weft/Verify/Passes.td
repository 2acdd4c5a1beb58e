//===- Passes.td - Proofs about plans ----------------------*- tablegen -*-===//

#ifndef WEFT_VERIFY_PASSES_TD
#define WEFT_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

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
    - an old gradient reaches no state and no output of `micro`, except through a
      command with the input `accumulate` or a value computed from it alone. A
      kernel that gets both is trusted to choose rightly,
    - a program that writes a parameter writes the same elements of all its
      working copies, and reads the parameter for them no earlier. Copies are the
      states whose `param` it is, or that have all of its segments,
    - a step is counted, as a state, before an optimizer gets it: 1 is added to it.

    Precondition: `weft-plan-memory`. Changes nothing.
  }];
}

#endif // WEFT_VERIFY_PASSES_TD
