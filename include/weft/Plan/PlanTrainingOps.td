//===- PlanTrainingOps.td - The end of a step --------------*- tablegen -*-===//

#ifndef PLAN_TRAINING_OPS_TD
#define PLAN_TRAINING_OPS_TD

include "weft/Plan/PlanCommands.td"

def Plan_NormAndCheckOp : Plan_WorkspaceCommand<"norm_and_check",
    (ins Variadic<Plan_FloatBuffer>:$grads, Plan_ScalarF64:$norm, Plan_ScalarI1:$found_inf),
    (ins F64Attr:$p), [Plan_Single<"1, 2">, Plan_Dense]> {
  let summary = "Gradient norm and check for non-finite values";
  let description = [{
    `norm = (sum |g|^p)^(1/p)` over all elements (the largest for p = inf);
    `found_inf` is true if any of them is infinite or NaN.

    Example:
    ```mlir
    plan.norm_and_check %g0, %g1 -> norm(%n : memref<f64>) found_inf(%bad : memref<i1>) {p = 2.0 : f64} : memref<4xf32>, memref<2x2xf32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = "($grads^)? `->` " # Plan_Clause<"norm">.required
      # Plan_Clause<"found_inf">.required # workspaceClause # "attr-dict (`:` type($grads)^)?";
  let hasVerifier = 1;
}

def Plan_TotalNormOp : Plan_Command<"total_norm",
    (ins Variadic<Plan_ScalarF64>:$norms, Variadic<Plan_ScalarI1>:$skips, Plan_ScalarF64:$target,
         Optional<Plan_ScalarF32>:$scale, F64Attr:$p),
    [AttrSizedOperandSegments, Plan_Single<"2">, Plan_Dense]> {
  let summary = "Norm over all groups that are not skipped";
  let description = [{
    `target = (sum n^p)^(1/p) / scale` over the norms whose `skips` is false (all
    of them if every group is skipped; the largest for p = inf).

    Example:
    ```mlir
    plan.total_norm norms(%n0, %n1 : memref<f64>, memref<f64>) skips(%b0, %b1 : memref<i1>, memref<i1>) scale(%s : memref<f32>) -> %n {p = 2.0 : f64} : memref<f64>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = Plan_Clause<"norms">.required # Plan_Clause<"skips">.required
      # Plan_Clause<"scale">.optional # "`->` $target attr-dict `:` type($target)";
  let hasVerifier = 1;
}

def Plan_ClipCoefficientOp : Plan_Command<"clip_coefficient",
    (ins Plan_ScalarF64:$norm, Plan_ScalarF64:$max_norm, Plan_ScalarF32:$target,
         Optional<Plan_ScalarF32>:$scale), [Plan_Dense]> {
  let summary = "Factor that clips the global gradient norm";
  let description = [{
    `target = min(1, max_norm / (norm + 1e-6))`, 1 if `max_norm` is 0, times
    `1 / scale` if there is a loss scale.

    Example:
    ```mlir
    plan.clip_coefficient norm(%n : memref<f64>) max_norm(%m : memref<f64>) scale(%s : memref<f32>) -> %c : memref<f32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = Plan_Clause<"norm">.required # Plan_Clause<"max_norm">.required
      # Plan_Clause<"scale">.optional # "`->` $target attr-dict `:` type($target)";
}

def Plan_StepIncrementOp : Plan_InPlaceCommand<"step_increment",
    (ins Plan_ScalarI64:$step, Plan_ScalarI1:$skip, Plan_ScalarI64:$target), [Plan_Dense]> {
  let summary = "Step counter, not advanced on a skipped step";
  let description = [{
    `target = skip ? step : step + 1`; may be in place.

    Example:
    ```mlir
    plan.step_increment %t skip(%bad : memref<i1>) -> %t : memref<i64> -> memref<i64>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = "$step " # Plan_Clause<"skip">.required
      # "`->` $target attr-dict `:` type($step) `->` type($target)";
}

def Plan_ScalerUpdateOp : Plan_InPlaceCommand<"scaler_update",
    (ins Plan_ScalarF32:$scale, Plan_Integers:$state, Plan_ScalarI1:$found_inf,
         Plan_ScalarF32:$new_scale, Plan_Integers:$new_state, Plan_ScalarI1:$exhausted,
         Plan_ScalerPolicyAttr:$policy, F64Attr:$growth, F64Attr:$backoff, I64Attr:$interval,
         DefaultValuedAttr<I64Attr, "1">:$hysteresis,
         DefaultValuedAttr<F64Attr, "0.0">:$minimum, UnitAttr:$consecutive), [Plan_Dense]> {
  let summary = "New loss scale after a step";
  let description = [{
    The policies of `weft.scaler_update`. New scale and state may be the buffers
    of the old ones.

    Example:
    ```mlir
    plan.scaler_update torch scale(%s : memref<f32>) state(%t : memref<3xi64>) found_inf(%bad : memref<i1>) -> new_scale(%s : memref<f32>) new_state(%t : memref<3xi64>) exhausted(%end : memref<i1>) {growth = 2.0 : f64, backoff = 0.5 : f64, interval = 2000}
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = "`` $policy " # Plan_Clause<"scale">.required # Plan_Clause<"state">.required
      # Plan_Clause<"found_inf">.required # "`->` " # Plan_Clause<"new_scale">.required
      # Plan_Clause<"new_state">.required # Plan_Clause<"exhausted">.required # "attr-dict";
  let hasVerifier = 1;
}

def Plan_OptimizerOp : Plan_Command<"optimizer",
    (ins Plan_FloatBuffer:$param, Variadic<Plan_F32Buffer>:$moments, Plan_FloatBuffer:$grad,
         Plan_ScalarF32:$coefficient, Plan_ScalarI1:$skip, Plan_ScalarI64:$step,
         Variadic<Plan_ScalarF64>:$hyper, Optional<Plan_FloatBuffer>:$working,
         Plan_UpdateRuleAttr:$rule, DefaultValuedAttr<F64Attr, "1.0">:$lr_scale,
         DefaultValuedAttr<F64Attr, "1.0">:$decay_scale, UnitAttr:$nesterov),
    [AttrSizedOperandSegments, Plan_Single<"0, 2, 3, 4, 5">, Plan_Dense]> {
  let summary = "Updates a parameter in place";
  let description = [{
    Updates `param` and `moments` by `grad` times `coefficient`; nothing but
    `working`, the rounded copy of the parameter, is written if `skip` is true.
    `step` is the number of this update.

    | rule | moments | hyper |
    |---|---|---|
    | `adamw`, `adam` | exp_avg, exp_avg_sq | lr, weight_decay, beta1, beta2, eps |
    | `sgd` | momentum_buffer | lr, weight_decay, momentum |

    Example:
    ```mlir
    plan.optimizer sgd %w moments(%b : memref<4xf32>) grad(%g : memref<4xf32>) coefficient(%c : memref<f32>) skip(%bad : memref<i1>) step(%t : memref<i64>) hyper(%lr, %wd, %mu : memref<f64>, memref<f64>, memref<f64>) : memref<4xf32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = [{
    `` $rule $param `moments` `(` $moments `:` type($moments) `)`
  }] # Plan_Clause<"grad">.required # Plan_Clause<"coefficient">.required
     # Plan_Clause<"skip">.required # Plan_Clause<"step">.required
     # Plan_Clause<"hyper">.required # "(`->` `working` `(` $working^ `:` type($working) `)`)? "
     # "attr-dict `:` type($param)";
  let hasVerifier = 1;
}

#endif // PLAN_TRAINING_OPS_TD
