//===- PlanLossOps.td - Losses and random numbers ----------*- tablegen -*-===//

#ifndef PLAN_LOSS_OPS_TD
#define PLAN_LOSS_OPS_TD

include "weft/Plan/PlanCommands.td"

def Plan_CrossEntropyOp : Plan_WorkspaceCommand<"cross_entropy",
    (ins Plan_FloatBuffer:$logits, Plan_IndexBuffer:$targets, Plan_ScalarF32:$loss,
         Plan_F32Buffer:$lse, Plan_ScalarF32:$denominator,
         Optional<Plan_F32Buffer>:$weight),
    (ins DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
         DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing,
         DefaultValuedAttr<Plan_ReductionAttr, "::weft::plan::Reduction::Mean">:$reduction),
    [Plan_Single<"0, 1, 2, 3, 4">, Plan_Dense]> {
  let summary = "Softmax cross-entropy with class indices";
  let description = [{
    logits [..., V], targets [...]: `loss`, the `lse` of every row and the
    `denominator`, as `weft.cross_entropy` defines them.

    Example:
    ```mlir
    plan.cross_entropy %logits, %targets -> loss(%loss : memref<f32>) lse(%lse : memref<8xf32>) denominator(%d : memref<f32>) : memref<8x10xf32>, memref<8xi32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = "$logits `,` $targets " # Plan_Clause<"weight">.optional # "`->` "
      # Plan_Clause<"loss">.required # Plan_Clause<"lse">.required
      # Plan_Clause<"denominator">.required # workspaceClause
      # "(`reduction` `` $reduction^)? attr-dict `:` type($logits) `,` type($targets)";
  let hasVerifier = 1;
}

def Plan_CrossEntropyGradOp : Plan_InPlaceCommand<"cross_entropy_grad",
    (ins Plan_ScalarF32:$grad, Plan_FloatBuffer:$logits, Plan_IndexBuffer:$targets,
         Plan_F32Buffer:$lse, Plan_ScalarF32:$denominator, Plan_FloatBuffer:$target,
         Optional<Plan_F32Buffer>:$weight,
         DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
         DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing,
         DefaultValuedAttr<Plan_ReductionAttr, "::weft::plan::Reduction::Mean">:$reduction),
    [Plan_Dense]> {
  let summary = "Adjoint of cross_entropy";
  let description = [{
    `target` gets the gradient of the logits, whose buffer it may be.

    Example:
    ```mlir
    plan.cross_entropy_grad grad(%g : memref<f32>) %logits, %targets lse(%lse : memref<8xf32>) denominator(%d : memref<f32>) -> %logits : memref<8x10xf32>, memref<8xi32> -> memref<8x10xf32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = Plan_Clause<"grad">.required # "$logits `,` $targets "
      # Plan_Clause<"lse">.required # Plan_Clause<"denominator">.required
      # Plan_Clause<"weight">.optional
      # "`->` $target (`reduction` `` $reduction^)? attr-dict `:` type($logits) `,` type($targets) `->` type($target)";
  let hasVerifier = 1;
}

def Plan_AccumulateOp : Plan_InPlaceCommand<"accumulate",
    (ins Plan_FloatBuffer:$old, Plan_FloatBuffer:$value, Plan_ScalarF32:$flag,
         Plan_FloatBuffer:$target), [Plan_Dense]> {
  let summary = "Adds to an accumulator, or starts it again";
  let description = [{
    `target = flag == 0 ? value : old + value`; `old` is not read for 0. The
    target may be the buffer of either.

    Example:
    ```mlir
    plan.accumulate %old + %g if(%flag : memref<f32>) -> %old : memref<4xf32> + memref<4xf32> -> memref<4xf32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = [{
    $old `+` $value `if` `(` $flag `:` type($flag) `)` `->` $target attr-dict
    `:` type($old) `+` type($value) `->` type($target)
  }];
  let hasVerifier = 1;
}

class Plan_RandomOp<string mnemonic, string what, dag numbers, string example>
    : Plan_Command<mnemonic, !con((ins Plan_ScalarI64:$seed, Plan_F32Buffer:$target, StrAttr:$key),
        numbers, (ins DefaultValuedAttr<I64Attr, "0">:$first_element)), [Plan_Dense]> {
  let summary = what;
  let description = "Draws element by element with the key (seed, hash of `key`), where `key` is the parameter's\n"
      # "name. The first element has the number `first_element`.\n\n"
      # "Example:\n```mlir\nplan." # mnemonic # " seed(%seed : memref<i64>) -> %w " # example
      # " : memref<4x2xf32>\n```\nCreated by: `weft-lower-to-plan`.";
  let assemblyFormat = Plan_Clause<"seed">.required # "`->` $target attr-dict `:` type($target)";
  let hasVerifier = 1;
}
def Plan_RandomNormalOp : Plan_RandomOp<"random_normal", "Normal random numbers",
    (ins F64Attr:$mean, F64Attr:$std), "{key = \"fc1.weight\", mean = 0.0 : f64, std = 0.02 : f64}">;
def Plan_RandomUniformOp : Plan_RandomOp<"random_uniform", "Uniform random numbers in [low, high)",
    (ins F64Attr:$low, F64Attr:$high), "{key = \"fc1.weight\", low = -0.125 : f64, high = 0.125 : f64}">;

def Plan_DropoutOp : Plan_InPlaceCommand<"dropout",
    (ins Plan_FloatBuffer:$source, Plan_Integers:$rng, Plan_FloatBuffer:$target, F64Attr:$p,
         I64Attr:$op_id), [Plan_Dense]> {
  let summary = "Zeroes elements at random";
  let description = [{
    `target = keep ? source / (1 - p) : 0`; the first dimension counts rows, `rng`
    = {seed, number of the first row}. May be in place.

    Example:
    ```mlir
    plan.dropout %x rng(%rng : memref<2xi64>) -> %y {p = 0.1 : f64, op_id = 3} : memref<8x4xf32> -> memref<8x4xf32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = "$source " # Plan_Clause<"rng">.required
      # "`->` $target attr-dict `:` type($source) `->` type($target)";
  let hasVerifier = 1;
}

#endif // PLAN_LOSS_OPS_TD
