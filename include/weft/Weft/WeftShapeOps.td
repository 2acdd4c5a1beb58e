//===- WeftShapeOps.td - Reductions and shape ops ----------*- tablegen -*-===//

#ifndef WEFT_SHAPE_OPS_TD
#define WEFT_SHAPE_OPS_TD

include "weft/Weft/WeftBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Weft_ReduceOp : Weft_Op<"reduce", [
    Pure, Weft_ElementFlops<1>, DeclareOpInterfaceMethods<WideGradientOpInterface>, Weft_InferTypes,
    // In the order of the enum.
    Weft_CastVariants<[
      Weft_CastRule<"F32SetDtype", "Follow", "sum", "Equal", 0, "sum">,
      Weft_CastRule<"Follow", "Follow", "mean", "Equal", 0, "mean">,
      Weft_CastRule<"Follow", "Follow", "amax", "Equal", 0, "max">,
      Weft_CastRule<"Follow", "Follow", "amin", "Equal", 0, "min">]>]> {
  let summary = "Reduction over dimensions";
  let description = [{
    Combines the elements along `dims` (increasing) with `sum`, `mean`, `max` or
    `min`; f16 and bf16 accumulate in f32. `keep_dims` keeps them with size 1.
    `dtype` is the requested type: the operand is cast to it first
    (`weft-autocast` writes that cast and removes the attribute).

    Example: `%y = weft.reduce sum %x dims [0, 1] {keep_dims} : tensor<8x4x2xf32>`.
  }];
  let arguments = (ins Weft_ReduceKindAttr:$kind, Weft_FloatTensor:$operand,
                       DenseI64ArrayAttr:$dims, UnitAttr:$keep_dims,
                       OptionalAttr<TypeAttr>:$dtype);
  let builders = [OpBuilder<(ins "::weft::ReduceKind":$kind, "::mlir::Value":$operand,
                                 "::llvm::ArrayRef<int64_t>":$dims, CArg<"bool", "false">:$keepDims), [{
    build($_builder, $_state, kind, operand, dims, keepDims,
          /*dtype=*/::mlir::TypeAttr());
  }]>];
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "`` $kind $operand `dims` $dims attr-dict `:` type($operand)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    const ::weft::CastRule &getCastRule() {
      return getCastRules()[static_cast<size_t>(getKind())];
    }
    ::mlir::Type getExplicitDtype() { return getDtype().value_or(::mlir::Type()); }
  }];
}

def Weft_BroadcastOp : Weft_Op<"broadcast", [Pure, Weft_View, SameOperandsAndResultElementType,
    Weft_Casts<"Follow", "Follow", "expand">]> {
  let summary = "Repeats along new or size-1 dimensions";
  let description = [{
    NumPy broadcast of the operand to the result's shape.

    Example: `%y = weft.broadcast %x : tensor<4xf32> to tensor<8x4xf32>`.
  }];
  let arguments = (ins Weft_Tensor:$operand);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Weft_MaterializeOp : Weft_Op<"materialize", [
    Pure, Weft_MovesElements, AllTypesMatch<["operand", "result"]>,
    Weft_Casts<"Follow", "Follow">]> {
  let summary = "Writes the elements of a view to a buffer";
  let description = [{
    `result = operand`, element by element. A view such as `weft.broadcast` only
    refers to elements of another buffer; a kernel writes the elements of this
    op's result densely. Never folded.

    Example: `%y = weft.materialize %x : tensor<8x4xf32>`.

    Created by: `weft-fuse`, for ops that cannot read through a broadcast.
    Consumed by: `weft-convert-kernels-to-linalg`.
  }];
  let arguments = (ins Weft_Tensor:$operand);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Weft_ReshapeOp : Weft_Op<"reshape", [
    Pure, Weft_SameElements, SameOperandsAndResultElementType,
    Weft_Casts<"Follow", "Follow", "reshape view">]> {
  let summary = "Same elements in row-major order under another shape";
  let description = [{
    Example: `%y = weft.reshape %x : tensor<8x4xf32> to tensor<32xf32>`.
  }];
  let arguments = (ins Weft_Tensor:$operand);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Weft_TransposeOp : Weft_Op<"transpose", [
    Pure, Weft_View, Weft_InferTypes,
    Weft_Casts<"Follow", "Follow", "permute transpose">]> {
  let summary = "Permutes dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.

    Example: `%y = weft.transpose %x [0, 2, 1] : tensor<8x4x2xf32>`.
  }];
  let arguments = (ins Weft_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$operand $permutation attr-dict `:` type($operand)";
  let hasFolder = 1;
}

def Weft_SliceOp : Weft_Op<"slice", [
    Pure, Weft_View, Weft_InferTypes,
    Weft_Casts<"Follow", "Follow", "slice">]> {
  let summary = "A rectangular part";
  let description = [{
    Result index i along a dimension is operand index `offset + i * stride`.

    Example: `%y = weft.slice %x offsets [0, 2] sizes [8, 2] strides [1, 1] : tensor<8x4xf32>`.
  }];
  let arguments = (ins Weft_Tensor:$operand, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$operand `offsets` $offsets `sizes` $sizes `strides` $strides attr-dict `:` type($operand)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Weft_PadOp : Weft_Op<"pad", [
    Pure, Weft_Writes<>, Weft_MovesElements, Weft_InferTypes,
    Weft_Casts<"Follow", "Follow", "constant_pad_nd">]> {
  let summary = "Surrounds with zeros";
  let description = [{
    `low` and `high` zeros before and after each dimension, `interior` zeros
    between neighbours: the adjoint of `weft.slice`.

    Example: `%y = weft.pad %x low [0, 1] high [0, 1] interior [0, 0] : tensor<8x2xf32>`.
  }];
  let arguments = (ins Weft_FloatTensor:$operand, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$operand `low` $low `high` $high `interior` $interior attr-dict `:` type($operand)";
}

def Weft_ConcatOp : Weft_Op<"concat", [
    Pure, Weft_Writes<>, SameOperandsElementType, Weft_InferTypes,
    Weft_Casts<"Follow", "Promote", "cat stack", "Promoted", /*firstFactor=*/0, /*llm=*/"Narrow">]> {
  let summary = "Joins tensors along a dimension";
  let description = [{
    Example: `%z = weft.concat %x, %y {dim = 1} : tensor<8x2xf32>, tensor<8x3xf32>`.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
  let hasFolder = 1;
}

#endif // WEFT_SHAPE_OPS_TD
