//===- WeftNeuralOps.td - Layers ---------------------------*- tablegen -*-===//

#ifndef WEFT_NEURAL_OPS_TD
#define WEFT_NEURAL_OPS_TD

include "weft/Weft/WeftBase.td"
include "weft/Interfaces/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Weft_MatmulOp : Weft_Op<"matmul", [
    Pure, Weft_RunsAs<"gemm">, Weft_Writes<["canWrite", "canAccumulate"]>, SameOperandsElementType, DeclareOpInterfaceMethods<CostOpInterface>,
    DeclareOpInterfaceMethods<WideGradientOpInterface>, Weft_InferTypes,
    Weft_Casts<"Lower", "Lower", "matmul mm bmm linear addmm baddbmm">]> {
  let summary = "Matrix product";
  let description = [{
    `result = op(lhs) x op(rhs)` over the last two dimensions, `op` transposing
    them where `transpose_lhs` / `transpose_rhs` is set. Leading dimensions are
    batches: equal on both sides, or `rhs` has rank 2 and is shared (a linear
    layer), or `lhs` has rank 2 and is shared. `bias` [N] is added to every row
    before the one rounding to the result's type. Accumulates in f32 (f64 for
    f64). The result has the operands' element type, or `out` (f32) for f16 and
    bf16 operands: a gradient that is not rounded.

    Example: `%y = weft.matmul %x, %w bias %b : tensor<3xf32> {transpose_rhs} : tensor<8x16x4xf32>, tensor<3x4xf32>`.
  }];
  let arguments = (ins Weft_FloatTensor:$lhs, Weft_FloatTensor:$rhs,
                       Optional<Weft_FloatTensor>:$bias,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs,
                       OptionalAttr<TypeAttr>:$out);
  let results = (outs Weft_FloatTensor:$result);
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
                                 "bool":$transposeLhs, "bool":$transposeRhs), [{
    build($_builder, $_state, lhs, rhs, /*bias=*/::mlir::Value(),
          transposeLhs ? $_builder.getUnitAttr() : ::mlir::UnitAttr(),
          transposeRhs ? $_builder.getUnitAttr() : ::mlir::UnitAttr(),
          /*out=*/::mlir::TypeAttr());
  }]>];
  let assemblyFormat = [{
    $lhs `,` $rhs (`bias` $bias^ `:` type($bias))? attr-dict `:` type($lhs) `,` type($rhs)
  }];
}

def Weft_GemmOp : Weft_Op<"gemm", [
    Pure, Weft_RunsAs<"gemm">, AttrSizedOperandSegments, AttrSizedResultSegments,
    Weft_Writes<["canWrite", "canAccumulate"]>, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "Matrix product with an epilogue";
  let description = [{
    A `weft.matmul` and later ops that a library performs in the same call. It
    has the semantics of `plan.gemm`, which runs it. `result` is the epilogue of
    the sum `op(lhs) x op(rhs) (+ bias)`. Sums are f32 (f64 for f64), and
    everything is rounded once, to the type of the result.

    - `epilogue relu`, `epilogue gelu` (with tanh): `sum`, if requested, is the
      sum before the activation, in the type of the result or f32.
    - `epilogue relu_grad`, `epilogue gelu_grad`: the sum times the derivative
      of the activation at `aux`, the `sum` of the forward product.
    - `column_sum` [N] is the sum of the rows of the result over all batches,
      f32 (f64 for f64): a bias gradient.
    - `lhs_sum` [M] and `rhs_sum` [N] are the sums of `op(lhs)` and `op(rhs)`
      over the inner dimension, for factors of rank 2, f32 (f64 for f64): a bias
      gradient computed with the weight gradient. They do not depend on the
      epilogue.

    Created by: `weft-select-kernels`, where a target's library runs a product
    together with these ops.

    Example:
    ```mlir
    %y, %sum = weft.gemm %x * %w transposed bias(%b : tensor<3xf32>) epilogue gelu
        : tensor<8x16x4xf32> * tensor<3x4xf32> -> tensor<8x16x3xf32> sum(tensor<8x16x3xf32>)
    ```
    Example:
    ```mlir
    %dx, %db = weft.gemm %dy * %w epilogue relu_grad aux(%s : tensor<8x4xf32>)
        : tensor<8x3xf32> * tensor<3x4xf32> -> tensor<8x4xf32> column_sum(tensor<4xf32>)
    ```
    Example:
    ```mlir
    %dw, %db = weft.gemm %x transposed * %dy
        : tensor<8x4xf32> * tensor<8x3xf32> -> tensor<4x3xf32> rhs_sum(tensor<3xf32>)
    ```
  }];
  let arguments = (ins Weft_FloatTensor:$lhs, Weft_FloatTensor:$rhs,
                       Optional<Weft_FloatTensor>:$bias, Optional<Weft_FloatTensor>:$aux,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs,
                       OptionalAttr<TypeAttr>:$out,
                       DefaultValuedAttr<Weft_EpilogueAttr, "::weft::Epilogue::None">:$epilogue);
  let results = (outs Weft_FloatTensor:$result, Optional<Weft_FloatTensor>:$sum,
                      Optional<Weft_FloatTensor>:$column_sum,
                      Optional<Weft_FloatTensor>:$lhs_sum, Optional<Weft_FloatTensor>:$rhs_sum);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $lhs (`transposed` $transpose_lhs^)? `*` $rhs (`transposed` $transpose_rhs^)?
    (`bias` `(` $bias^ `:` type($bias) `)`)? (`epilogue` `` $epilogue^)?
    (`aux` `(` $aux^ `:` type($aux) `)`)? attr-dict `:` type($lhs) `*` type($rhs)
    `->` type($result) (`sum` `(` type($sum)^ `)`)? (`column_sum` `(` type($column_sum)^ `)`)?
    (`lhs_sum` `(` type($lhs_sum)^ `)`)? (`rhs_sum` `(` type($rhs_sum)^ `)`)?
  }];
}

def Weft_EmbeddingOp : Weft_Op<"embedding", [
    Pure, Weft_RunsAs<"embedding">, Weft_Writes<>, Weft_InferTypes,
    Weft_Casts<"Follow", "Follow", "embedding", "Equal", /*firstFactor=*/0, /*llm=*/"Lower">]> {
  let summary = "Rows of a table";
  let description = [{
    `result[i..., :] = table[ids[i...], :]`. An id outside [0, rows) makes a row
    of NaN, whose gradient belongs to no row of the table. If the ids are an
    input, a run refuses data files with such an id when it opens them.

    Example: `%y = weft.embedding %table, %ids : tensor<256x64xf32>, tensor<8x16xi32>`.
  }];
  let arguments = (ins Weft_FloatTensor:$table, Weft_IntTensor:$ids);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$table `,` $ids attr-dict `:` type($table) `,` type($ids)";
}

def Weft_EmbeddingGradOp : Weft_Op<"embedding_grad", [
    Pure, Weft_RunsAs<"embedding_grad">, Weft_Writes<["canAccumulate"]>, DeclareOpInterfaceMethods<WideGradientOpInterface>]> {
  let summary = "Adjoint of embedding: scatter-add of rows";
  let description = [{
    `result[v, :] = sum of grad[i..., :] with ids[i...] == v`, added in row order
    in the type of the result: the gradient's, or f32 for f16 and bf16. The
    rows of ids outside of the table are left out.
    Created by: `weft-autodiff`.

    Example: `%dt = weft.embedding_grad %g, %ids : tensor<8x16x64xf32>, tensor<8x16xi32> to tensor<256x64xf32>`.
  }];
  let arguments = (ins Weft_FloatTensor:$grad, Weft_IntTensor:$ids);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$grad `,` $ids attr-dict `:` type($grad) `,` type($ids) `to` type($result)";
  let hasVerifier = 1;
}

/// Operands and numbers of attention and its adjoint, behind their tensors.
/// `last`: arguments of only one of them.
class Weft_Attention<string mnemonic, dag tensors, dag last, list<Trait> traits>
    : Weft_Op<mnemonic, !listconcat([
        Pure, Weft_RunsAs<mnemonic>, AttrSizedOperandSegments, Weft_Writes<["canWrite"]>,
        DeclareOpInterfaceMethods<CostOpInterface>, Weft_InferTypes], traits)> {
  let arguments = !con(tensors, (ins
      Optional<Weft_IntTensor>:$rng, Optional<Weft_IntTensor>:$segments,
      F64Attr:$scale, UnitAttr:$causal, OptionalAttr<I64Attr>:$window,
      OptionalAttr<F64Attr>:$softcap, DefaultValuedAttr<F64Attr, "0.0">:$dropout,
      DefaultValuedAttr<I64Attr, "0">:$op_id), last);
  string optionals = " (`rng` $rng^ `:` type($rng))? (`segments` $segments^ `:` type($segments))? ";
  let hasVerifier = 1;
}

def Weft_AttentionOp : Weft_Attention<"attention",
    (ins Weft_FloatTensor:$query, Weft_FloatTensor:$key, Weft_FloatTensor:$value),
    (ins UnitAttr:$stores_bits), [
    Weft_Random, Weft_Casts<"Lower", "Lower", "scaled_dot_product_attention">]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    Layout [batch, time, heads, width]: query [B,T,H,D], key and value [B,S,G,D]
    where G divides H (grouped-query attention: head h uses group h / (H/G)).
    `out = dropout(softmax(scale * q k^T + mask)) v`. `lse` [B,H,T] (f32) is the
    log of the softmax sum, kept for the backward pass; no T x S tensor is
    stored. `dropout` drops probabilities, keyed by `rng` = [seed, first global
    row] and `op_id`.

    With p = i + S - T, query i sees key j if all rules of the op allow it:

    - `causal`: j <= p.
    - `window` W: p - W < j < p + W. With `causal` that is a sliding window of
      the last W keys (Mistral, Gemma 2). Without `causal` it has W - 1 keys on
      each side, and S = T.
    - `segments` [B,T] (i32), the document of each position: the documents of i
      and j are equal, and S = T. Documents need not be contiguous. Contiguous
      ones are faster: the kernels skip blocks without a visible pair.

    `softcap` c replaces a score s by c tanh(s / c), after `scale` and before
    the mask (Gemma 2). Gradients of hidden pairs are exactly 0. `segments` has
    no gradient.

    With `stores_bits` there is a result `bits`, i32 [B, H, query tiles, key
    tiles, 32], with a bit for each score: 1 if `dropout` keeps it
    (`weft/Abi/DropoutBits.h`). The adjoint reads it and draws no random
    numbers. `weft-store-dropout-bits` sets the attribute.

    Example:
    ```mlir
    %out, %lse = weft.attention %q, %k, %v {causal, scale = 0.125 : f64}
        : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x16x2x64xf32>
    ```
    Example:
    ```mlir
    %out, %lse = weft.attention %q, %k, %v segments %documents : tensor<2x16xi32>
        {causal, scale = 0.125 : f64, softcap = 50.0 : f64, window = 8 : i64}
        : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x16x2x64xf32>
    ```
    Example:
    ```mlir
    %out, %lse, %bits = weft.attention %q, %k, %v rng %rng : tensor<2xi64>
        {causal, dropout = 0.1 : f64, op_id = 3 : i64, scale = 0.125 : f64, stores_bits}
        : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x16x2x64xf32>
    ```
  }];
  let results = (outs Weft_FloatTensor:$out, Weft_FloatTensor:$lse,
                      Optional<Weft_IntTensor>:$bits);
  let assemblyFormat = "$query `,` $key `,` $value" # optionals # [{ attr-dict `:`
    type($query) `,` type($key) `,` type($value)
  }];
  let extraClassDeclaration = [{
    /// Replaces the op by one that stores its bits, or does not, and returns the
    /// new one. Without the result, reads of it read that everything is kept.
    ::weft::AttentionOp replaceStoresBits(bool stores);
  }];
}

def Weft_AttentionGradOp : Weft_Attention<"attention_grad",
    (ins Weft_FloatTensor:$grad, Weft_FloatTensor:$query, Weft_FloatTensor:$key,
         Weft_FloatTensor:$value, Weft_FloatTensor:$out, Weft_FloatTensor:$lse),
    (ins Optional<Weft_IntTensor>:$bits), [Weft_RoundsGradient]> {
  let summary = "Adjoint of attention";
  let description = [{
    Gradients of query, key and value from the gradient of `out`; probabilities
    are recomputed from `lse`. The op has the mask, `softcap` and dropout of
    the forward op, and either its `rng` or its `bits`. Created by:
    `weft-autodiff`.

    Example:
    ```mlir
    %dq, %dk, %dv = weft.attention_grad %dout, %q, %k, %v, %out, %lse {causal, scale = 0.125 : f64}
        : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x4x16xf32>
    ```
    (types of query, key, lse; the others follow).
  }];
  let results = (outs Weft_FloatTensor:$grad_query, Weft_FloatTensor:$grad_key,
                      Weft_FloatTensor:$grad_value);
  let assemblyFormat = "$grad `,` $query `,` $key `,` $value `,` $out `,` $lse" # optionals # [{
    (`bits` $bits^ `:` type($bits))? attr-dict `:`
    custom<AttentionGradTypes>(type($grad), type($query), type($key), type($value), type($out), type($lse))
  }];
}

def Weft_RopeOp : Weft_Op<"rope", [
    Pure, AllTypesMatch<["operand", "result"]>, Weft_RoundsGradient,
    Weft_Casts<"Follow", "Follow", "", "Promoted", /*firstFactor=*/1, /*llm=*/"Narrow">]> {
  let summary = "Rotary position embedding";
  let description = [{
    operand [B,T,H,D]; cos, sin [T, D/2]. The halves (a, b) of the last dimension
    become (a cos - b sin, b cos + a sin). The tables have the operand's element
    type or, for f16 and bf16, f32.

    Example: `%y = weft.rope %x, %cos, %sin : tensor<2x16x4x64xf32>, tensor<16x32xf32>`.
  }];
  let arguments = (ins Weft_FloatTensor:$operand, Weft_FloatTensor:$cos, Weft_FloatTensor:$sin);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cos `,` $sin attr-dict `:` type($operand) `,` custom<SameType>(type($cos), type($sin))";
  let hasVerifier = 1;
}

class Weft_SoftmaxBase<string mnemonic, string formula>
    : Weft_Op<mnemonic, [Pure, Weft_InferTypes, Weft_ElementFlops<!add(kExp, kDivision, 2)>,
                         Weft_Casts<"F32SetDtype", "Follow", mnemonic>]> {
  let summary = formula # " over one dimension";
  let description = "`" # formula # "` over `dim` (default: the last), with the maximum subtracted first.\n"
      # "`dtype` is the requested type: the operand is cast to it first (`weft-autocast`\n"
      # "writes that cast and removes the attribute).\n\n"
      # "Example: `%y = weft." # mnemonic # " %x {dim = 1} : tensor<8x4xf32>`.";
  let arguments = (ins Weft_FloatTensor:$operand, DefaultValuedAttr<I64Attr, "-1">:$dim,
                       OptionalAttr<TypeAttr>:$dtype);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// `dim` counted from the front.
    int64_t getAxis() {
      int64_t rank = ::llvm::cast<::mlir::RankedTensorType>(getOperand().getType()).getRank();
      return static_cast<int64_t>(getDim()) < 0 ? getDim() + rank : getDim();
    }
    ::mlir::Type getExplicitDtype() { return getDtype().value_or(::mlir::Type()); }
  }];
}
def Weft_SoftmaxOp : Weft_SoftmaxBase<"softmax", "e^x / sum e^x">;
def Weft_LogSoftmaxOp : Weft_SoftmaxBase<"log_softmax", "x - ln sum e^x">;

def Weft_LayerNormOp : Weft_Op<"layer_norm", [
    Pure, Weft_InferTypes, Weft_ElementFlops<8>,
    Weft_Casts<"F32", "Follow", "layer_norm native_layer_norm", "Equal", /*firstFactor=*/1,
               /*llm=*/"Follow">]> {
  let summary = "Layer normalisation";
  let description = [{
    Over the last dimension: `result = (x - mean) rstd weight + bias` with the
    biased variance and `rstd = 1 / sqrt(var + eps)`. `mean` and `rstd` (the
    operand's shape without the last dimension) are kept for the backward pass.
    For an f16 or bf16 operand all of it is computed in f32, `mean` and `rstd`
    are f32, and `weight` and `bias` have the operand's type or f32.

    Example: `%y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<8x4xf32>, tensor<4xf32>`.
  }];
  let arguments = (ins Weft_FloatTensor:$operand, Weft_FloatTensor:$weight,
                       Weft_FloatTensor:$bias, F64Attr:$eps);
  let results = (outs Weft_FloatTensor:$result, Weft_FloatTensor:$mean, Weft_FloatTensor:$rstd);
  let assemblyFormat = "$operand `,` $weight `,` $bias attr-dict `:` type($operand) `,` custom<SameType>(type($weight), type($bias))";
  let hasVerifier = 1;
}

def Weft_RmsNormOp : Weft_Op<"rms_norm", [
    Pure, Weft_InferTypes, Weft_ElementFlops<5>,
    Weft_Casts<"F32", "Follow", "rms_norm", "Equal", /*firstFactor=*/1, /*llm=*/"Follow">]> {
  let summary = "Root-mean-square normalisation";
  let description = [{
    Over the last dimension: `result = x rstd weight`, `rstd = 1 / sqrt(mean(x^2) + eps)`.
    f16 and bf16 as in `weft.layer_norm`.

    Example: `%y, %rstd = weft.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<8x4xf32>, tensor<4xf32>`.
  }];
  let arguments = (ins Weft_FloatTensor:$operand, Weft_FloatTensor:$weight, F64Attr:$eps);
  let results = (outs Weft_FloatTensor:$result, Weft_FloatTensor:$rstd);
  let assemblyFormat = "$operand `,` $weight attr-dict `:` type($operand) `,` type($weight)";
  let hasVerifier = 1;
}

#endif // WEFT_NEURAL_OPS_TD
