//===- Passes.td - Passes on imported models ---------------*- tablegen -*-===//

#ifndef WEFT_FRONTEND_PASSES_TD
#define WEFT_FRONTEND_PASSES_TD

include "mlir/Pass/PassBase.td"

def TieParamsPass : Pass<"weft-tie-params", "::mlir::ModuleOp"> {
  let summary = "Make tied parameters one parameter";
  let description = [{
    Replaces every use of a parameter with `tie = @other` by the parameter at the
    end of the chain of ties and erases the tied one.

    Precondition: any module. Guarantees: no `weft.param` has a `tie`. Errors: a
    tie to a symbol that is missing or no parameter, a cycle, types that differ,
    one of the two frozen.

    Before:
    ```mlir
    weft.param @wte.weight : tensor<256x64xf32>
    weft.param @lm_head.weight : tensor<256x64xf32> {tie = @wte.weight}
    ...
    %w = weft.read @lm_head.weight : tensor<256x64xf32>
    ```
    After:
    ```mlir
    weft.param @wte.weight : tensor<256x64xf32>
    ...
    %w = weft.read @wte.weight : tensor<256x64xf32>
    ```
    Two reads of one parameter stay two ops.
  }];
  let statistics = [Statistic<"numTied", "tied", "Parameters replaced">];
}

def InferShapesPass : Pass<"weft-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "Check that every shape is static";
  let description = [{
    Checks that all values, parameters and states have static shapes and at
    most 2^40 elements. Types between ops agree by the verifiers of the ops.

    Precondition: no ties. Guarantees: every type in a program is a tensor of
    static shape. Does not change the module.
  }];
}

#endif // WEFT_FRONTEND_PASSES_TD
