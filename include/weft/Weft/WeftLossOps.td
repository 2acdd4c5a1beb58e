//===- WeftLossOps.td - Losses and metrics -----------------*- tablegen -*-===//
//
// Included by WeftOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LOSS_OPS_TD
#define WEFT_LOSS_OPS_TD

def Weft_CrossEntropyOp : Weft_Op<"cross_entropy", [
    Pure, Weft_InferTypes, DeclareOpInterfaceMethods<CountedMeanOpInterface>,
    Weft_ElementFlops<!add(kExp, 4)>,
    Weft_Casts<"F32", "F32", "cross_entropy_loss nll_loss nll_loss2d", "Statistics",
               /*firstFactor=*/0, /*llm=*/"Follow", /*isLoss=*/1>]> {
  let summary = "Softmax cross-entropy with class indices";
  let description = [{
    logits [..., V], targets [...]. Per row `-w[t] (logit[t] - lse)`; rows with
    `target == ignore_index` do not count. `mean` divides by the sum of the
    weights of the counted rows (NaN if there are none, as in PyTorch), `sum`
    does not divide. A mean whose targets may be ignored, or have weights,
    becomes a `sum` in the programs of a training step, divided by the count of
    the complete step (`weft-derive-programs`). `label_smoothing` as in PyTorch.
    f16 and bf16 logits are widened to f32, the type of all results. Results:
    loss (scalar), `lse` (shape of targets) and `denom` (scalar), kept for the
    backward pass.

    Any other target outside of the classes makes the loss and its row of the
    gradient NaN. If the targets are an input, possibly reshaped, a run refuses
    data files with such a target when it opens them.

    Example:
    ```mlir
    %loss, %lse, %denom = weft.cross_entropy %logits, %targets {ignore_index = -100}
        : tensor<8x16x256xf32>, tensor<8x16xi32>
    ```
  }];
  let arguments = (ins Weft_FloatTensor:$logits, Weft_IntTensor:$targets,
                       Optional<Weft_FloatTensor>:$weight,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing,
                       DefaultValuedAttr<Weft_LossReductionAttr, "::weft::LossReduction::Mean">:$reduction);
  let results = (outs Weft_FloatTensor:$loss, Weft_FloatTensor:$lse, Weft_FloatTensor:$denom);
  let assemblyFormat = [{
    $logits `,` $targets (`weight` $weight^ `:` type($weight))? attr-dict `:` type($logits) `,` type($targets)
  }];
  let hasVerifier = 1;
}

def Weft_CrossEntropyGradOp : Weft_Op<"cross_entropy_grad", [
    Pure, AllTypesMatch<["logits", "result"]>, Weft_RoundsGradient,
    Weft_ElementFlops<!add(kExp, 4)>]> {
  let summary = "Adjoint of cross_entropy";
  let description = [{
    Gradient of the logits from the gradient of the loss (a scalar). The result
    may reuse the logits' buffer. Created by: `weft-autodiff`.

    Example:
    ```mlir
    %d = weft.cross_entropy_grad %g, %logits, %targets, %lse, %denom {ignore_index = -100}
        : tensor<f32>, tensor<8x16x256xf32>, tensor<8x16xi32>, tensor<8x16xf32>
    ```
    (types of grad, logits, targets, lse; denom is like grad).
  }];
  let arguments = (ins Weft_FloatTensor:$grad, Weft_FloatTensor:$logits, Weft_IntTensor:$targets,
                       Weft_FloatTensor:$lse, Weft_FloatTensor:$denom,
                       Optional<Weft_FloatTensor>:$weight,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing,
                       DefaultValuedAttr<Weft_LossReductionAttr, "::weft::LossReduction::Mean">:$reduction);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = [{
    $grad `,` $logits `,` $targets `,` $lse `,` $denom (`weight` $weight^ `:` type($weight))? attr-dict
    `:` custom<SameType>(type($grad), type($denom)) `,` type($logits) `,` type($targets) `,` type($lse)
  }];
  let hasVerifier = 1;
}

def Weft_AccuracyOp : Weft_Op<"accuracy", [
    Pure, Weft_InferTypes, DeclareOpInterfaceMethods<CountedMeanOpInterface>,
    Weft_ElementFlops<8>, Weft_Casts<"Follow", "Follow", "", "Statistics">]> {
  let summary = "Share of rows whose largest logit is the target's";
  let description = [{
    logits [..., V], targets [...]. Per row 1 if `target` is the first class with
    the largest logit (`argmax` of NumPy), else 0; a row with a NaN logit gives
    0. Rows with `target == ignore_index` do not count. `mean` divides by the
    number of the counted rows (NaN if there are none), `sum` does not divide. A
    mean whose targets may be ignored becomes a `sum` in the programs of a
    training step, as the mean of `weft.cross_entropy` does. f16 and bf16 logits
    are compared as they are. The result, a scalar, is f32.

    Any other target outside of the classes makes the result NaN. If the targets
    are an input, possibly reshaped, a run refuses data files with such a target
    when it opens them.

    The op has no adjoint: it is for outputs with `weft.metric`.

    Example:
    ```mlir
    %accuracy = weft.accuracy %logits, %targets {ignore_index = -100}
        : tensor<8x16x256xf32>, tensor<8x16xi32>
    ```
  }];
  let arguments = (ins Weft_FloatTensor:$logits, Weft_IntTensor:$targets,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
                       DefaultValuedAttr<Weft_LossReductionAttr, "::weft::LossReduction::Mean">:$reduction);
  let results = (outs Weft_FloatTensor:$accuracy);
  let assemblyFormat = "$logits `,` $targets attr-dict `:` type($logits) `,` type($targets)";
  let hasVerifier = 1;
}

class Weft_PairLoss<string mnemonic, int flops, string formula, string torch, string cuda = "F32",
                    string instead = "">
    : Weft_Op<mnemonic, [Pure, AllTypesMatch<["input", "target"]>,
                         Weft_InferTypes, Weft_ElementFlops<flops>,
                         Weft_CastVariants<[Weft_CastRule<cuda, "F32", torch, "Promoted", 0, "", instead,
                                                           /*llm=*/"", /*isLoss=*/1>]>]> {
  let summary = formula;
  let description = "Mean (or with `reduction = sum` the sum) of " # formula # " over all elements.\n\n"
      # "Example: `%l = weft." # mnemonic # " %x, %y : tensor<8x4xf32>`.";
  let arguments = (ins Weft_FloatTensor:$input, Weft_FloatTensor:$target,
                       DefaultValuedAttr<Weft_LossReductionAttr, "::weft::LossReduction::Mean">:$reduction);
  let results = (outs Weft_FloatTensor:$loss);
  let assemblyFormat = "$input `,` $target attr-dict `:` type($input)";
}
def Weft_MseOp : Weft_PairLoss<"mse", 3, "(input - target)^2", "mse_loss">;
def Weft_BceWithLogitsOp : Weft_PairLoss<"bce_with_logits", !add(kExp, kLog, 4),
    "max(x, 0) - x t + ln(1 + e^-|x|)", "binary_cross_entropy_with_logits">;
def Weft_BceOp : Weft_PairLoss<"bce", !add(kExp, kLog, 4),
    "-t max(ln p, -100) - (1 - t) max(ln(1 - p), -100)", "binary_cross_entropy", "Banned",
    "weft.bce_with_logits">;

#endif // WEFT_LOSS_OPS_TD
