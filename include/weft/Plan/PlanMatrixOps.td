//===- PlanMatrixOps.td - Products, attention, tables ------*- tablegen -*-===//

#ifndef PLAN_MATRIX_OPS_TD
#define PLAN_MATRIX_OPS_TD

include "weft/Plan/PlanCommands.td"

def Plan_GemmOp : Plan_AccumulatingCommand<"gemm",
    (ins Plan_FloatBuffer:$lhs, Plan_FloatBuffer:$rhs, Plan_FloatBuffer:$target,
         Optional<Plan_FloatBuffer>:$bias, Optional<Plan_FloatBuffer>:$aux,
         Optional<Plan_F32Buffer>:$column_sum, Optional<Plan_F32Buffer>:$lhs_sum,
         Optional<Plan_F32Buffer>:$rhs_sum, Optional<Plan_ScalarF32>:$flag),
    (ins UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs, UnitAttr:$adds,
         DefaultValuedAttr<Plan_EpilogueAttr, "::weft::Epilogue::None">:$epilogue,
         UnitAttr:$beside_collectives),
    [Plan_Single<"0, 1, 2">,
     DeclareOpInterfaceMethods<CommandOpInterface, ["getElementType"]>]> {
  let summary = "Matrix product";
  let description = [{
    `target = op(lhs) x op(rhs) (+ bias)` over the last two dimensions, which
    `transposed` swaps. Leading dimensions are batches: equal on both sides, or
    one side has rank 2 and is shared. One of the last two strides of every
    matrix is 1 and the batches have one stride (`GemmOp::getMatrix`). Sums are
    f32. Bias, old contents and epilogue come before the one rounding to the
    target's type: the type of the factors, or f32.

    - `accumulate` adds to the old contents of the target. `accumulate(%flag)`
      adds unless the flag is 0; the old contents are then not read.
    - `epilogue gelu`, `epilogue relu`: the target gets the activation of the
      sum (gelu with tanh). `aux`, if given, gets the sum.
      `epilogue gelu_grad`, `epilogue relu_grad`: the target gets the sum times
      the activation's derivative at `aux`, which is read.
    - `column_sum` gets the sums over the rows of the target, as a bias
      gradient.
    - `lhs_sum`, `rhs_sum` get the sums of `op(lhs)`, `op(rhs)`, of rank 2, over
      the inner dimension. They are overwritten, even with `accumulate`.
    - `beside_collectives`: collectives may be in flight while the command runs.
      It changes no bit (`weft-mark-beside-collectives`).

    Example:
    ```mlir
    plan.gemm %x * %w transposed -> %y accumulate(%flag : memref<f32>) : memref<8x4xf32> * memref<2x4xf32> -> memref<8x2xf32>
    plan.gemm %x * %v -> %y bias(%b : memref<2xf32>) : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
    plan.gemm %x transposed * %dy -> %dw accumulate rhs_sum(%db : memref<2xf32>) : memref<8x4xf32> * memref<8x2xf32> -> memref<4x2xf32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = [{
    $lhs (`transposed` $transpose_lhs^)? `*` $rhs (`transposed` $transpose_rhs^)?
    `->` $target `` custom<Accumulate>($adds, $flag, type($flag))
  }] # Plan_Clause<"bias">.optional # [{
    (`epilogue` `` $epilogue^)?
  }] # Plan_Clause<"aux">.optional # Plan_Clause<"column_sum">.optional
     # Plan_Clause<"lhs_sum">.optional # Plan_Clause<"rhs_sum">.optional # workspaceClause # [{
    attr-dict `:` type($lhs) `*` type($rhs) `->` type($target)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether it may read the old contents of the target.
    bool accumulates() { return getAdds() || getFlag(); }
    /// Whether the rows of all batches are treated as rows of one matrix.
    bool isFlat();
    /// A factor or the target as it is stored, or nothing if its strides do not
    /// allow a product.
    std::optional<::weft::plan::StoredMatrix> getMatrix(::mlir::Value factor);
  }];
}

class Plan_Attention<string mnemonic, dag buffers, dag last, string single>
    : Plan_WorkspaceCommand<mnemonic, !con(buffers,
          (ins Plan_Reads<Optional<Plan_Integers>>:$rng, Plan_Reads<Optional<Plan_I32Buffer>>:$segments),
          last),
        (ins F64Attr:$scale, UnitAttr:$causal, OptionalAttr<I64Attr>:$window,
             OptionalAttr<F64Attr>:$softcap, DefaultValuedAttr<F64Attr, "0.0">:$dropout,
             DefaultValuedAttr<I64Attr, "0">:$op_id), [Plan_Single<single>]> {
  string optionals = Plan_Clause<"rng">.optional # Plan_Clause<"segments">.optional
      # Plan_Clause<"bits">.optional # workspaceClause;
  let hasVerifier = 1;
}

def Plan_AttentionOp : Plan_Attention<"attention",
    (ins Plan_Reads<Plan_FloatBuffer>:$query, Plan_Reads<Plan_FloatBuffer>:$key,
         Plan_Reads<Plan_FloatBuffer>:$value, Plan_Writes<Plan_FloatBuffer>:$out,
         Plan_Writes<Plan_F32Buffer>:$lse),
    (ins Plan_Writes<Optional<Plan_I32Buffer>>:$bits), "0, 1, 2, 3, 4"> {
  let summary = "Scaled dot-product attention";
  let description = [{
    `out = dropout(softmax(scale q k^T + mask)) v` over buffers [B,T,H,D] and, for
    key and value, [B,S,G,D] where G divides H; the last stride of each is 1.
    `causal`, `window`, `segments` and `softcap` as in `weft.attention`;
    `segments` [B,T] is dense. `lse` [B,H,T], dense: the log of the sums. `rng` =
    {seed, number of the first row} where `dropout` is above 0. `bits`, if given,
    gets the bits of dropout (`weft/Abi/DropoutBits.h`), dense.

    Example:
    ```mlir
    plan.attention %q, %k, %v -> %o, %lse {causal, scale = 0.125 : f64} : memref<2x16x4x64xf32>, memref<2x16x2x64xf32>, memref<2x16x2x64xf32> -> memref<2x16x4x64xf32>, memref<2x4x16xf32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = [{
    $query `,` $key `,` $value `->` $out `,` $lse
  }] # optionals # [{
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->` type($out) `,` type($lse)
  }];
}

def Plan_AttentionGradOp : Plan_Attention<"attention_grad",
    (ins Plan_Reads<Plan_FloatBuffer>:$grad, Plan_Reads<Plan_FloatBuffer>:$query,
         Plan_Reads<Plan_FloatBuffer>:$key, Plan_Reads<Plan_FloatBuffer>:$value,
         Plan_Reads<Plan_FloatBuffer>:$out, Plan_Reads<Plan_F32Buffer>:$lse,
         Plan_Writes<Plan_FloatBuffer>:$grad_query, Plan_Writes<Plan_FloatBuffer>:$grad_key,
         Plan_Writes<Plan_FloatBuffer>:$grad_value),
    (ins Plan_Reads<Optional<Plan_I32Buffer>>:$bits), "0, 1, 2, 3, 4, 5, 6, 7, 8"> {
  let summary = "Adjoint of attention";
  let description = [{
    Gradients of query, key and value from the gradient of `out`; `out` and
    `lse` are the results of the forward command. With `bits`, its bits of
    dropout, there is no `rng`.

    Example:
    ```mlir
    plan.attention_grad %g, %q, %k, %v, %o, %lse -> %dq, %dk, %dv {causal, scale = 0.125 : f64} : memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x2x64xf32>, memref<2x16x2x64xf32>, memref<2x16x4x64xf32>, memref<2x4x16xf32> -> memref<2x16x4x64xf32>, memref<2x16x2x64xf32>, memref<2x16x2x64xf32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = [{
    $grad `,` $query `,` $key `,` $value `,` $out `,` $lse `->` $grad_query `,` $grad_key `,` $grad_value
  }] # optionals # [{
    attr-dict `:` type($grad) `,` type($query) `,` type($key) `,` type($value) `,` type($out) `,` type($lse)
    `->` type($grad_query) `,` type($grad_key) `,` type($grad_value)
  }];
}

def Plan_EmbeddingOp : Plan_Command<"embedding",
    (ins Plan_Reads<Plan_FloatBuffer>:$table, Plan_Reads<Plan_IndexBuffer>:$ids,
         Plan_Writes<Plan_FloatBuffer>:$target), [Plan_Dense]> {
  let summary = "Rows of a table";
  let description = [{
    `target[i..., :] = table[ids[i...], :]`. An id outside of the table makes a
    row of NaN on all targets: device code cannot end the program.

    Example:
    ```mlir
    plan.embedding %table[%ids] -> %y : memref<256x64xf32>[memref<8x16xi32>] -> memref<8x16x64xf32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = [{
    $table `[` $ids `]` `->` $target attr-dict `:` type($table) `[` type($ids) `]` `->` type($target)
  }];
  let hasVerifier = 1;
}

def Plan_EmbeddingGradOp : Plan_AccumulatingCommand<"embedding_grad",
    (ins Plan_FloatBuffer:$grad, Plan_IndexBuffer:$ids, Plan_FloatBuffer:$target,
         Optional<Plan_ScalarF32>:$flag), (ins UnitAttr:$adds),
    [Plan_Single<"0, 1, 2">, Plan_Dense]> {
  let summary = "Adjoint of embedding";
  let description = [{
    `target[ids[i...], :]` is the sum of `grad[i..., :]` in the order of i. Rows
    that no id names are 0, and rows of ids outside of the table are left out.
    `accumulate` as in `plan.gemm`. The target has the type of the gradient or
    f32.

    Example:
    ```mlir
    plan.embedding_grad %g[%ids] -> %dtable accumulate(%flag : memref<f32>) : memref<8x16x64xf32>[memref<8x16xi32>] -> memref<256x64xf32>
    ```
    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = [{
    $grad `[` $ids `]` `->` $target `` custom<Accumulate>($adds, $flag, type($flag))
  }] # workspaceClause # [{
    attr-dict `:` type($grad) `[` type($ids) `]` `->` type($target)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether it may read the old contents of the target.
    bool accumulates() { return getAdds() || getFlag(); }
  }];
}

#endif // PLAN_MATRIX_OPS_TD
