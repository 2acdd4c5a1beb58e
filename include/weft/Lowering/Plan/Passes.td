//===- Passes.td - From programs over values to plans ------*- tablegen -*-===//

#ifndef WEFT_LOWERING_PLAN_PASSES_TD
#define WEFT_LOWERING_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToPlanPass : Pass<"weft-lower-to-plan", "::mlir::ModuleOp"> {
  let summary = "Turn programs over values into programs over buffers";
  let description = [{
    Every `weft.param` and `weft.state` becomes a `plan.state`, every
    `weft.program` a `plan.program` with one command per op, in program order,
    after the declarations: states, inputs, then allocations and views in the
    order in which the commands need them.

    - Reshapes, slices, transposes and broadcasts become views. A consumer that
      cannot read the strides gets a copy, which is counted and reported by a
      remark.
    - A value that a program writes to a state is computed in the state's own
      buffer if every read of the old contents is finished by then.
    - An op becomes the command that its `weft.impl` names. A `weft.accumulate`
      that is `folded` becomes the accumulate mode of the routine before it: no
      temporary, unless the old contents must be kept; then it adds to a copy.
    - An op that may overwrite an operand does so if it is the operand's last
      use.
    - An operand of a concatenation is written in place if its producer can
      write with strides.

    Precondition: `weft-select-kernels`; a `weft.impl` that cannot run its op is
    an error on the op. Guarantees: no `weft` op remains but `weft.kernel`.

    Before:
    ```mlir
    weft.program @eval(%x: tensor<8x4xf32> {weft.input = "x"}) -> (tensor<8x2xf32> {weft.output = "y"})
        attributes {kind = #weft.kind<eval>} {
      %w = weft.read @w : tensor<4x2xf32>
      %y = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x2xf32>
      weft.return %y : tensor<8x2xf32>
    }
    ```
    After:
    ```mlir
    plan.program "eval" @eval {
      %w = plan.use @w : memref<4x2xf32>
      %x = plan.input "x" : memref<8x4xf32>
      %y = plan.alloc temporary : memref<8x2xf32>
      plan.gemm %x * %w -> %y : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
      plan.output "y" %y : memref<8x2xf32>
    }
    ```
    The pass does not choose kernels. It does not reorder commands, except that
    an accumulation moves next to the gradient that it adds.
  }];
  let statistics = [
    Statistic<"numCopies", "copies", "Copies that a consumer or a write of state needed">,
    Statistic<"numInPlace", "in-place", "Results in the buffer of an operand or a state">,
    Statistic<"numFolded", "folded-accumulates", "Accumulations folded into their producer">,
  ];
  let dependentDialects = ["::weft::plan::PlanDialect"];
}

#endif // WEFT_LOWERING_PLAN_PASSES_TD
