//===- Passes.td - Mixed precision -------------------------*- tablegen -*-===//

#ifndef WEFT_PRECISION_PASSES_TD
#define WEFT_PRECISION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LossScalePass : Pass<"weft-loss-scale", "::mlir::ModuleOp"> {
  let summary = "Multiply the gradient of the loss by a loss scale";
  let description = [{
    Small gradients underflow in f16. The pass declares `@loss_scale`, has
    `@init` write its first value, and multiplies `loss_seed` of the micro
    program by it, so that every gradient carries the scale.
    `weft-expand-optimizer` takes it out again.

    `mode` is a number (the scale never changes) or `dynamic`: then
    `@loss_scale.state` holds [tracker, last overflow, hysteresis left], and the
    attribute `weft.scaler` of `@loss_scale` the numbers for
    `weft.scaler_update`. What is not given depends on the policy:

    | policy | init | growth | backoff | interval | hysteresis | minimum |
    |---|---|---|---|---|---|---|
    | torch | 65536 | 2 | 0.5 | 2000 | 1 | 0 |
    | deepspeed | 65536 | 2 | 0.5 | 1000 | 2 | 1 |
    | mmcv | 2^32 | 2 | 0.5 | 1000 | 1 | 1 |

    Precondition: `weft-autodiff`; the loss and its seed are f32. Guarantees:
    only the backward part of `micro` changes, and only by the scale.

    Errors, at the module: a scale that is not finite and positive, growth not
    above 1, backoff outside (0, 1), interval or hysteresis below 1, a negative
    minimum, hysteresis above 1 with another policy than deepspeed, numbers of a
    dynamic scale with a static one.

    Before:
    ```mlir
    %1 = weft.mul %loss_seed, %x : tensor<f32>, tensor<4xf32>
    ```
    After (test/Precision/loss-scale.mlir):
    ```mlir
    weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = {...}}
    %s = weft.read @loss_scale : tensor<f32>
    %0 = weft.mul %loss_seed, %s : tensor<f32>, tensor<f32>
    %1 = weft.mul %0, %x : tensor<f32>, tensor<4xf32>
    ```
    Does not: check, unscale or skip (`weft-expand-optimizer`).
  }];
  let options = [
    Option<"mode", "mode", "std::string", "\"dynamic\"", "dynamic, or a fixed scale">,
    Option<"policy", "policy", "std::string", "\"torch\"", "torch, deepspeed or mmcv">,
    Option<"init", "init", "double", "65536.0", "First scale; default: the policy's">,
    Option<"growth", "growth", "double", "2.0", "Factor of growth">,
    Option<"backoff", "backoff", "double", "0.5", "Factor after an overflow">,
    Option<"interval", "interval", "int64_t", "2000", "Clean steps before growth; default: the policy's">,
    Option<"hysteresis", "hysteresis", "int64_t", "1", "Overflows before the scale shrinks; default: the policy's">,
    Option<"minimum", "minimum", "double", "0.0", "Least scale; default: the policy's">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

#endif // WEFT_PRECISION_PASSES_TD
