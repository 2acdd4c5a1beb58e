//===- WeftRandomOps.td - Ops that draw random numbers -----*- tablegen -*-===//

#ifndef WEFT_RANDOM_OPS_TD
#define WEFT_RANDOM_OPS_TD

include "weft/Weft/WeftBase.td"
include "weft/Interfaces/Interfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Weft_DropoutOp : Weft_Op<"dropout", [
    Pure, AllTypesMatch<["operand", "result"]>, Weft_RoundsGradient, Weft_Random,
    Weft_ElementFlops<kPhilox>,
    Weft_Casts<"Follow", "Follow", "dropout">]> {
  let summary = "Dropout";
  let description = [{
    Keeps an element with probability 1 - p and multiplies it by 1 / (1 - p).
    The decision is a Philox draw: counter (global row, element in the row), key
    (seed, op_id), where a row is an index of dimension 0. `rng` = [seed, first
    global row] is attached by `weft-derive-programs`; evaluation drops the op.
    The adjoint is the same op on the gradient.

    Example: `%y = weft.dropout %x {p = 0.1 : f64, op_id = 3} : tensor<8x4xf32>`.
  }];
  let arguments = (ins Weft_FloatTensor:$operand, Optional<Weft_IntTensor>:$rng,
                       F64Attr:$p, I64Attr:$op_id);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$operand (`rng` $rng^ `:` type($rng))? attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def Weft_LayerDropOp : Weft_Op<"layer_drop", [
    Pure, AllTypesMatch<["operand", "layer", "result"]>, Weft_Random,
    Weft_Casts<"Follow", "Follow", "", "Promoted", /*firstFactor=*/0, /*llm=*/"Narrow">]> {
  let summary = "A layer that is skipped at random";
  let description = [{
    `result = dropped ? operand : layer`, where `layer` is the layer's result
    for `operand`. The layer is dropped with probability p; it is not scaled
    otherwise (LayerDrop). `dropped` is one Philox draw: counter (first global
    row, 0), key (seed, op_id). It is the same for all rows of a rank in one
    micro-step; each rank and each micro-step has its own draw. `rng` = [seed,
    first global row] is attached by `weft-derive-programs`; evaluation uses
    `layer`.

    Ops that the loss needs for only one of the two operands belong to that
    branch. No value of a dropped branch reaches other values: `weft-autodiff`
    selects zeros there, whatever the branch contains. Parameters used only in
    branches are updated in the steps in which some rank has taken one of these
    branches.

    Example: `%y, %dropped = weft.layer_drop %x, %fx {p = 0.2 : f64, op_id = 3} : tensor<8x4xf32>`.
  }];
  let arguments = (ins Weft_FloatTensor:$operand, Weft_FloatTensor:$layer,
                       Optional<Weft_IntTensor>:$rng, F64Attr:$p, I64Attr:$op_id);
  let results = (outs Weft_FloatTensor:$result, Weft_ScalarI1:$dropped);
  let assemblyFormat = [{
    $operand `,` $layer (`rng` $rng^ `:` type($rng))? attr-dict `:` type($operand)
  }];
  let hasVerifier = 1;
}

class Weft_RandomOp<string mnemonic, int flops, string formula, dag params, string example>
    : Weft_Op<mnemonic, [Pure, Weft_ElementFlops<flops>]> {
  let summary = formula;
  let description = "Philox draws with key (seed, hash of `key`) and the element's index as counter.\n\n"
      # "Used by the `init` program; `key` is the parameter's name.\n\n"
      # "Example: `%w = weft." # mnemonic # " %seed " # example # " : tensor<128x64xf32>`.";
  let arguments = !con((ins Weft_ScalarI64:$seed, StrAttr:$key), params);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$seed attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Weft_RandomNormalOp : Weft_RandomOp<"random_normal", kPhiloxNormal,
    "Normal random numbers", (ins F64Attr:$mean, F64Attr:$std),
    "{key = \"fc1.weight\", mean = 0.0 : f64, std = 0.02 : f64}">;
def Weft_RandomUniformOp : Weft_RandomOp<"random_uniform", kPhilox,
    "Uniform random numbers in [low, high)", (ins F64Attr:$low, F64Attr:$high),
    "{key = \"fc1.weight\", low = -0.125 : f64, high = 0.125 : f64}">;

def Weft_RandomSliceOp : Weft_Op<"random_slice", [Pure, Weft_ElementFlops<kPhiloxNormal>]> {
  let summary = "A shard of the initial values of a flat tensor";
  let description = [{
    Shard `slice` of a flat tensor, elements `slice` n to (`slice` + 1) n (not
    included), where n is the size of the result. It holds the values of
    `random_normal`, `random_uniform` or a constant for each parameter in it, in
    order, and zeros between them. Elements of other shards are not drawn.

    Example: `%s = weft.random_slice %seed, %slice [#weft.draw<"fc1.weight", <normal, 0.0, 0.02>, at 0 to 12>] : tensor<8xf32>`.
    Created by: `weft-partition`.
  }];
  let arguments = (ins Weft_ScalarI64:$seed, Weft_ScalarI64:$slice, Weft_Draws:$draws);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$seed `,` $slice $draws attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Weft_PhiloxOp : Weft_Op<"philox", [
    Pure, ElementCostOpInterface, Weft_HasElementFlops<
        "getKind() == ::weft::PhiloxKind::Normal ? " # !cast<string>(kPhiloxNormal)
        # " : " # !cast<string>(kPhilox)>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Random numbers, element by element";
  let description = [{
    The Philox4x32-10 number of (row, element) under the key (seed, stream), an
    f32. `uniform` is a multiple of 2^-24 in [0, 1), `normal` a standard normal
    number (Box and Muller). Shapes broadcast as in NumPy.
    `Runtime/Execute/Philox.h` defines the bits, which are the same on every
    target.

    Example: `%u = weft.philox uniform %seed, %stream, %row, %element : tensor<i64>, tensor<i64>, tensor<8x1xi64>, tensor<4xi64>`.
    Created by: `weft-decompose`.
  }];
  let arguments = (ins Weft_PhiloxKindAttr:$kind, RankedTensorOf<[I64]>:$seed,
                       RankedTensorOf<[I64]>:$stream, RankedTensorOf<[I64]>:$row,
                       RankedTensorOf<[I64]>:$element);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = [{
    `` $kind $seed `,` $stream `,` $row `,` $element attr-dict
    `:` type($seed) `,` type($stream) `,` type($row) `,` type($element)
  }];
}

#endif // WEFT_RANDOM_OPS_TD
