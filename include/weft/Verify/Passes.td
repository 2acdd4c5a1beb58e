//===- Passes.td - Proofs about plans ----------------------*- tablegen -*-===//

#ifndef WEFT_VERIFY_PASSES_TD
#define WEFT_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyPlanPass : Pass<"weft-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Prove that buffers of a plan never conflict";
  let description = [{
    Simulates every program on a map of the arena that records which buffer
    wrote each byte. The map does not use the live ranges of `weft-plan-memory`.
    Checks:

    - offsets are present, multiples of `plan.alignment` and inside their part
      of the arena;
    - every element that a command reads was written before, by that buffer, and
      no other buffer has overwritten its bytes since;
    - no buffer that a command writes shares a byte with another buffer that the
      command uses.

    If commands have streams: if two commands in different streams use the same
    bytes, and one of them writes, one happens before the other. The order of
    streams, records and waits proves it, within one run and across two runs of
    any programs. Each record of a stream of collectives has a wait below it in
    its program, at most one per stream. All collectives are done when the
    program ends.

    Then simulates the programs in sequence on the states, element by element:

    - a run begins with `init`, or with a checkpoint and `refresh`. It reads
      only elements that these or earlier commands wrote. A module without an
      `init` program has only runs from checkpoints. A module that also has no
      `micro` and no `apply` gets its states from elsewhere, and is not checked;
    - a program that writes a parameter writes the same elements of all its
      working copies, and reads the parameter for them only after the write.
      Working copies are the states whose `param` it is, or that have all of its
      segments.

    If the module has `weft.training`, checks that the states and inputs that it
    names exist and are of the right kind.

    `micro` may read the gradients of the step before. It is trusted to ignore
    them in the first micro-step of a step.

    Precondition: `weft-plan-memory`. Does not change the module.
  }];
}

#endif // WEFT_VERIFY_PASSES_TD
