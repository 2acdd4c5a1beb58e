//===- WeftTrainingOps.td - Gradient and optimizer ops -----*- tablegen -*-===//

#ifndef WEFT_TRAINING_OPS_TD
#define WEFT_TRAINING_OPS_TD

include "weft/Weft/WeftBase.td"
include "weft/Interfaces/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Weft_ScalerState
    : Type<CPred<"$_self == ::mlir::RankedTensorType::get({3}, ::mlir::IntegerType::get($_self.getContext(), 64))">,
           "tensor<3xi64>", "::mlir::RankedTensorType">,
      BuildableType<"::mlir::RankedTensorType::get({3}, $_builder.getI64Type())">;

def Weft_AccumulateOp : Weft_Op<"accumulate", [Pure, Weft_Writes<["getReusableOperands"]>, AllTypesMatch<["old", "value", "result"]>]> {
  let summary = "Adds to an accumulator, or overwrites it";
  let description = [{
    `result = accumulate == 0 ? value : old + value`; with 0 the old contents are
    not read, not even a NaN.

    Example: `%r = weft.accumulate %old, %g, %flag : tensor<4xf32>`.
    Created by: `weft-autodiff`. Folded into matmuls by `weft-select-kernels`.
  }];
  let arguments = (ins Weft_FloatTensor:$old, Weft_FloatTensor:$value, Weft_ScalarF32:$accumulate);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$old `,` $value `,` $accumulate attr-dict `:` type($old)";
}

def Weft_ScalerUpdateOp : Weft_Op<"scaler_update", [Pure]> {
  let summary = "New loss scale after a step";
  let description = [{
    The numbers come from `#weft.scaler`. `state` = [tracker, last
    overflow, hysteresis left], whose meaning depends on the policy:

    - `torch` (GradScaler): found_inf multiplies the scale by `backoff`, not
      below `minimum`, and clears the tracker; else the tracker counts, and when
      it reaches `interval` the scale is multiplied by `growth` if that is finite
      in f32, and the tracker cleared;
    - `deepspeed` (DynamicLossScaler): the first `hysteresis` - 1 overflows spare
      the scale, then each multiplies it by `backoff`, not below `minimum`; it
      grows (and hysteresis is refilled) when the steps since the last overflow
      are a multiple of `interval`. The tracker is the number of steps.
      With `consecutive`, every clean step refills hysteresis;
    - `mmcv` (LossScaler): as deepspeed with hysteresis 1;
    - `deepspeed_fused` (FP16_Optimizer): no hysteresis; the scale grows when the
      clean steps since the last overflow, less one, are a positive multiple of
      `interval`;
    - `colossalai` (DynamicGradScaler): as torch, but the first `hysteresis` - 1
      overflows since the scale last grew spare it.

    `exhausted`: the scale should shrink and cannot, because it is already at a
    positive minimum or the new scale would be 0. Runs after the update has used
    the old scale.

    Example: `%scale1, %state1, %end = weft.scaler_update %scale, %state, %bad by #weft.scaler<torch, interval = 500>`.
    Created by: `weft-expand-optimizer`.
  }];
  let arguments = (ins Weft_ScalarF32:$scale, Weft_ScalerState:$state,
                       Weft_ScalarI1:$found_inf, Weft_ScalerAttr:$scaler);
  let results = (outs Weft_ScalarF32:$new_scale, Weft_ScalerState:$new_state,
                      Weft_ScalarI1:$exhausted);
  let assemblyFormat = "$scale `,` $state `,` $found_inf `by` qualified($scaler) attr-dict";
}

def Weft_TotalNormOp : Weft_Op<"total_norm", [Pure, AttrSizedOperandSegments]> {
  let summary = "Norm over all groups that are not skipped";
  let description = [{
    `result = (sum n_i^p)^(1/p) / scale` over the norms whose `skips` is false
    (max for p = inf; all of them if every group is skipped): the norm of the
    unscaled gradients. With `powers` the operands are the sums of powers that
    `weft.norm_and_check` gives with it.

    Example: `%n = weft.total_norm %n0, %n1 skip %b0, %b1 scale %scale {p = 2.0 : f64}`.
    Created by: `weft-expand-optimizer` with a loss scale or several groups;
    `weft-partition`.
  }];
  let arguments = (ins Variadic<Weft_ScalarF64>:$norms, Variadic<Weft_ScalarI1>:$skips,
                       Optional<Weft_ScalarF32>:$scale, F64Attr:$p, UnitAttr:$powers);
  let results = (outs Weft_ScalarF64:$result);
  let assemblyFormat = "$norms `skip` $skips (`scale` $scale^)? attr-dict";
  let hasVerifier = 1;
}

def Weft_NormAndCheckOp : Weft_Op<"norm_and_check", [Pure]> {
  let summary = "Gradient norm and check for non-finite values";
  let description = [{
    `norm = (sum |g|^p)^(1/p)` over all elements of all operands (max for
    p = inf), with f64 partials; `found_inf` is true if any element is infinite
    or NaN. With `powers` no root is taken, so that several results can be added
    up first (or their maximum taken for p = inf).

    Example: `%norm, %bad = weft.norm_and_check %g0, %g1 {p = 2.0 : f64} : tensor<4xf32>, tensor<2x2xf32>`.
    Created by: `weft-expand-optimizer`; with `powers` by `weft-partition`.
  }];
  let arguments = (ins Variadic<Weft_FloatTensor>:$grads, F64Attr:$p, UnitAttr:$powers);
  let results = (outs Weft_ScalarF64:$norm, Weft_ScalarI1:$found_inf);
  let assemblyFormat = "$grads attr-dict `:` type($grads)";
  let hasVerifier = 1;
}

def Weft_ClipCoefficientOp : Weft_Op<"clip_coefficient", [Pure]> {
  let summary = "Factor that clips the global gradient norm";
  let description = [{
    `result = min(1, max_norm / (norm + 1e-6))` in f32; 1 if `max_norm` is 0 (no
    clipping). With a loss scale the result is multiplied by `1 / scale` (f32):
    one factor unscales and clips. `norm` is of unscaled gradients.

    Example: `%c = weft.clip_coefficient %norm, %max_norm scale %scale`.
  }];
  let arguments = (ins Weft_ScalarF64:$norm, Weft_ScalarF64:$max_norm,
                       Optional<Weft_ScalarF32>:$scale);
  let results = (outs Weft_ScalarF32:$result);
  let assemblyFormat = "$norm `,` $max_norm (`scale` $scale^)? attr-dict";
}

def Weft_StepIncrementOp : Weft_Op<"step_increment", [Pure]> {
  let summary = "Step counter, not advanced on a skipped step";
  let description = [{
    `result = skip ? step : step + 1`. Example: `%s = weft.step_increment %step, %skip`.
  }];
  let arguments = (ins Weft_ScalarI64:$step, Weft_ScalarI1:$skip);
  let results = (outs Weft_ScalarI64:$result);
  let assemblyFormat = "$step `,` $skip attr-dict";
}

/// The names of the values of a dag as C++ text: "exp_avg", "exp_avg_sq".
class Weft_NamesOf<dag values> {
  string text = !interleave(
      !foreach(i, !range(!size(values)), "\"" # !getdagname(values, i) # "\""), ", ");
}

/// The gradient is multiplied by `coef` first. `step` counts this update (from
/// 1). If `skip` is true every result is the old value. `lr_scale` multiplies
/// the learning rate; weight decay is the operand times `decay_scale`. With
/// `factors` each range of elements has its own: the parameter is flat, and no
/// range begins inside a segment.
/// Parameter and gradient may be f16 or bf16; arithmetic and moments are f32.
/// The last result, if there is one, is the new parameter rounded to its type:
/// the working copy. `decay` is PyTorch's default weight decay.
class Weft_OptimizerOp<string mnemonic, int flops, dag state, dag numbers, dag newState,
                       string decay, bit decoupled = 0, dag flags = (ins)>
    : Weft_Op<mnemonic, [Pure, OptimizerOpInterface, Weft_ElementFlops<flops>,
                         DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  dag allNumbers = !con((ins Weft_ScalarF64:$lr, Weft_ScalarF64:$weight_decay), numbers);
  let arguments = !con((ins Weft_FloatTensor:$param), state,
      (ins Weft_FloatTensor:$grad, Weft_ScalarF32:$coef, Weft_ScalarI1:$skip,
           Weft_ScalarI64:$step),
      allNumbers,
      (ins DefaultValuedAttr<F64Attr, "1.0">:$lr_scale,
           DefaultValuedAttr<F64Attr, "1.0">:$decay_scale,
           OptionalAttr<Weft_FactorList>:$factors), flags);
  let results = !con((outs Weft_FloatTensor:$new_param), newState,
                     (outs Optional<Weft_FloatTensor>:$working));
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "static const ::weft::OptimizerInfo &getOptimizer() {\n"
      # "  static const ::weft::OptimizerInfo info = {\"" # mnemonic # "\", {"
      # Weft_NamesOf<state>.text # "}, {" # Weft_NamesOf<allNumbers>.text # "}, {"
      # Weft_NamesOf<flags>.text # "}, " # decay # ", " # !if(decoupled, "true", "false") # "};\n"
      # "  return info;\n}\n"
      # "::llvm::SmallVector<::weft::UpdateFactors> getFactorList();\n";
}

class Weft_AdamLike<string mnemonic, string decay, bit decoupled>
    : Weft_OptimizerOp<mnemonic, !add(12, !mul(2, kDivision)),
        (ins Weft_FloatTensor:$exp_avg, Weft_FloatTensor:$exp_avg_sq),
        (ins Weft_ScalarF64:$beta1, Weft_ScalarF64:$beta2, Weft_ScalarF64:$eps),
        (outs Weft_FloatTensor:$new_exp_avg, Weft_FloatTensor:$new_exp_avg_sq),
        decay, decoupled>;

def Weft_AdamWOp : Weft_AdamLike<"adamw", /*decay=*/"0.01", /*decoupled=*/1> {
  let summary = "AdamW update with decoupled weight decay";
  let description = [{
    PyTorch's AdamW: `p *= 1 - lr wd; m += (1-b1)(g - m); v = b2 v + (1-b2) g^2;`
    `p -= lr / (1-b1^t) * m / (sqrt(v) / sqrt(1-b2^t) + eps)`.
    Operands in order: param, exp_avg, exp_avg_sq, grad, coef, skip, step, lr,
    weight_decay, beta1, beta2, eps. Created by: `weft-expand-optimizer`; for
    several parameters, with `factors`, by `weft-bucket`.

    Example:
    ```mlir
    %w1, %m1, %v1 = weft.adamw(%w, %m, %v, %g, %coef, %skip, %step, %lr, %wd, %beta1, %beta2, %eps)
        : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>,
           tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    ```
  }];
}
def Weft_AdamOp : Weft_AdamLike<"adam", /*decay=*/"0.0", /*decoupled=*/0> {
  let summary = "Adam update with L2 weight decay";
  let description = [{
    PyTorch's Adam: `g += wd p`, then as `weft.adamw` without decoupled decay.
    Created by: `weft-expand-optimizer`.

    Example:
    ```mlir
    %w1, %m1, %v1 = weft.adam(%w, %m, %v, %g, %coef, %skip, %step, %lr, %wd, %beta1, %beta2, %eps)
        : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>,
           tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    ```
  }];
}
def Weft_SgdOp : Weft_OptimizerOp<"sgd", 6,
    (ins Weft_FloatTensor:$momentum_buffer), (ins Weft_ScalarF64:$momentum),
    (outs Weft_FloatTensor:$new_momentum_buffer), /*decay=*/"0.0", /*decoupled=*/0,
    /*flags=*/(ins UnitAttr:$nesterov)> {
  let summary = "SGD update with momentum";
  let description = [{
    PyTorch's SGD (dampening 0): `g += wd p; b = step == 1 ? g : mu b + g;`
    `p -= lr (nesterov ? g + mu b : b)`; with mu = 0 this is plain SGD.
    Operands in order: param, momentum_buffer, grad, coef, skip, step, lr,
    weight_decay, momentum. Created by: `weft-expand-optimizer`.

    Example:
    ```mlir
    %w1, %b1 = weft.sgd(%w, %b, %g, %coef, %skip, %step, %lr, %wd, %momentum)
        : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>,
           tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    ```
  }];
}

#endif // WEFT_TRAINING_OPS_TD
