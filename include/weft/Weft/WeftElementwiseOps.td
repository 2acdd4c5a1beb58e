//===- WeftElementwiseOps.td - Elementwise ops -------------*- tablegen -*-===//

#ifndef WEFT_ELEMENTWISE_OPS_TD
#define WEFT_ELEMENTWISE_OPS_TD

include "weft/Weft/WeftBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// One operand, one result of the same type.
class Weft_UnaryOp<string mnemonic, int flops, string formula, string cuda = "Follow",
                   string cpu = "Follow", string torch = mnemonic>
    : Weft_Op<mnemonic, [Pure, AllTypesMatch<["operand", "result"]>, Weft_RoundsGradient,
                         Weft_ElementFlops<flops>, Weft_Casts<cuda, cpu, torch>]> {
  let summary = "Elementwise " # formula;
  let description = "`result = " # formula # "`, element by element, in the operand's type.\n\n"
      # "Example: `%y = weft." # mnemonic # " %x : tensor<8x4xf32>`.";
  let arguments = (ins Weft_FloatTensor:$operand);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

/// A function of which targets may have a shorter form, off by `bound`.
class Weft_ApproximableOp<string mnemonic, int flops, string formula, string bound, string cuda = "Follow">
    : Weft_UnaryOp<mnemonic, flops, formula, cuda> {
  let description = "`result = " # formula # "`, element by element, in the operand's type.\n\n"
      # "With `afn` (LLVM's name of the flag) an f32 result y of x may be off by " # bound # ". "
      # "`weft-mark-approximate` sets it where x is computed from f16 or bf16 values. "
      # "It has no effect on f64.\n\n"
      # "Example: `%y = weft." # mnemonic # " %x {afn} : tensor<8x4xf32>`.";
  let arguments = (ins Weft_FloatTensor:$operand, UnitAttr:$afn);
}

def Weft_NegOp : Weft_UnaryOp<"neg", 1, "-x"> { let hasFolder = 1; }
def Weft_AbsOp : Weft_UnaryOp<"abs", 1, "|x|">;
def Weft_SignOp : Weft_UnaryOp<"sign", 1, "-1, 0 or 1 (NaN for NaN)">;
def Weft_ExpOp : Weft_ApproximableOp<"exp", kExp, "e^x", "(2^-22 + |x| 2^-23) y + 2^-126", "F32">;
def Weft_LogOp : Weft_UnaryOp<"log", kLog, "ln(x)", "F32">;
def Weft_Log1pOp : Weft_UnaryOp<"log1p", kLog, "ln(1 + x)", "F32">;
def Weft_SqrtOp : Weft_UnaryOp<"sqrt", kDivision, "sqrt(x)">;
def Weft_RsqrtOp : Weft_UnaryOp<"rsqrt", !mul(2, kDivision), "1 / sqrt(x)", "F32">;
def Weft_ReciprocalOp : Weft_UnaryOp<"reciprocal", kDivision, "1 / x", "F32">;
def Weft_TanhOp : Weft_ApproximableOp<"tanh", kTanh, "tanh(x)", "2^-18 y">;
def Weft_ErfOp : Weft_UnaryOp<"erf", kErf, "erf(x)">;
def Weft_SinOp : Weft_UnaryOp<"sin", kErf, "sin(x)">;
def Weft_CosOp : Weft_UnaryOp<"cos", kErf, "cos(x)">;
def Weft_SigmoidOp : Weft_UnaryOp<"sigmoid", kSigmoid, "1 / (1 + e^-x)">;
def Weft_ReluOp : Weft_UnaryOp<"relu", 1, "max(x, 0), NaN for NaN">;
def Weft_SiluOp : Weft_UnaryOp<"silu", !add(kSigmoid, 1), "x * sigmoid(x)">;
def Weft_SoftplusOp : Weft_UnaryOp<"softplus", !add(kExp, kLog), "ln(1 + e^x), computed without overflow", "F32">;

def Weft_GeluOp : Weft_UnaryOp<"gelu", !add(kTanh, 8),
    "x * Phi(x), or with `approximate = tanh` 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))"> {
  let arguments = (ins Weft_FloatTensor:$operand,
                       DefaultValuedAttr<Weft_GeluKindAttr, "::weft::GeluKind::None">:$approximate);
}

/// The gradient of an activation's operand from the gradient of its result.
class Weft_ActivationGradOp<string activation, int flops, string formula>
    : Weft_Op<activation # "_grad", [Pure, AllTypesMatch<["grad", "operand", "result"]>,
                                     Weft_RoundsGradient, Weft_ElementFlops<flops>]> {
  let summary = "Adjoint of " # activation;
  let description = formula # "\n\nCreated by: `weft-autodiff`. It has no adjoint.\n\n"
      # "Example: `%d = weft." # activation # "_grad %g, %x : tensor<8x4xf32>`.";
  let arguments = (ins Weft_FloatTensor:$grad, Weft_FloatTensor:$operand);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$grad `,` $operand attr-dict `:` type($grad)";
}
def Weft_ReluGradOp : Weft_ActivationGradOp<"relu", 1,
    "`result = operand <= 0 ? 0 : grad`: the gradient at a NaN is `grad`, as in PyTorch.">;
def Weft_GeluGradOp : Weft_ActivationGradOp<"gelu", !add(kTanh, 16),
    "`result = grad (Phi(x) + x phi(x))` at the operand x, with the normal distribution and its\n"
    # "density; with `approximate = tanh` `grad / 2 (1 + t + x (1 - t^2) u')` where\n"
    # "`u = sqrt(2/pi) (x + 0.044715 x^3)` and `t = tanh(u)`."> {
  let arguments = (ins Weft_FloatTensor:$grad, Weft_FloatTensor:$operand,
                       DefaultValuedAttr<Weft_GeluKindAttr, "::weft::GeluKind::None">:$approximate);
}

/// Two operands of one element type, shapes broadcast as in NumPy.
class Weft_BinaryBase<string mnemonic, int flops, list<Trait> traits = []>
    : Weft_Op<mnemonic, !listconcat(traits, [Pure, SameOperandsElementType,
                                             Weft_ElementFlops<flops>])> {
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}
class Weft_BinaryOp<string mnemonic, int flops, string formula, list<Trait> traits = [],
                    string torch = mnemonic, string cuda = "Follow", string llm = "Narrow">
    : Weft_BinaryBase<mnemonic, flops, !listconcat(traits,
        [DeclareOpInterfaceMethods<InferTypeOpInterface>, Weft_RoundsGradient,
         Weft_Casts<cuda, "Follow", torch, "Promoted", /*firstFactor=*/0, llm>])> {
  let summary = "Elementwise " # formula;
  let description = "`result = " # formula # "`. Shapes broadcast as in NumPy: aligned at the last\n"
      # "dimension, sizes equal or 1.\n\n"
      # "Example: `%z = weft." # mnemonic # " %x, %y : tensor<8x4xf32>, tensor<4xf32>`.";
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let results = (outs Weft_Tensor:$result);
  let hasVerifier = 1;
}

def Weft_AddOp : Weft_BinaryOp<"add", 1, "lhs + rhs", [Commutative]> { let hasFolder = 1; }
def Weft_SubOp : Weft_BinaryOp<"sub", 1, "lhs - rhs"> { let hasFolder = 1; }
def Weft_MulOp : Weft_BinaryOp<"mul", 1, "lhs * rhs", [Commutative]> { let hasFolder = 1; }
def Weft_DivOp : Weft_BinaryOp<"div", kDivision, "lhs / rhs"> { let hasFolder = 1; }
def Weft_MaxOp : Weft_BinaryOp<"max", 1, "max(lhs, rhs), NaN if either is", [], "maximum">;
def Weft_MinOp : Weft_BinaryOp<"min", 1, "min(lhs, rhs), NaN if either is", [], "minimum">;
def Weft_PowOp : Weft_BinaryOp<"pow", !add(kExp, kLog), "lhs ^ rhs", [], "pow", "F32", /*llm=*/"">;

def Weft_CompareOp : Weft_BinaryBase<"compare", 0, [
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    Weft_Casts<"Follow", "Follow", "eq ne lt le gt ge", "Promoted">]> {
  let summary = "Elementwise comparison";
  let description = [{
    `result = lhs <predicate> rhs` (false if either is NaN, except `ne`), shapes
    broadcast as in NumPy.

    Example: `%m = weft.compare gt %x, %y : tensor<8x4xf32>, tensor<4xf32>`.
  }];
  let arguments = (ins Weft_PredicateAttr:$predicate, Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let results = (outs Weft_BoolTensor:$result);
  let assemblyFormat = "`` $predicate $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

class Weft_LogicalOp<string mnemonic, string formula>
    : Weft_BinaryBase<mnemonic, 1, [Commutative, DeclareOpInterfaceMethods<InferTypeOpInterface>,
                                 Weft_Casts<"Follow", "Follow", "logical_" # mnemonic>]> {
  let summary = "Elementwise logical " # mnemonic;
  let description = "`result = " # formula # "`, shapes broadcast as in NumPy.\n\n"
      # "Example: `%z = weft." # mnemonic # " %x, %y : tensor<8xi1>, tensor<8xi1>`.";
  let arguments = (ins Weft_BoolTensor:$lhs, Weft_BoolTensor:$rhs);
  let results = (outs Weft_BoolTensor:$result);
}
def Weft_AndOp : Weft_LogicalOp<"and", "lhs and rhs">;
def Weft_OrOp : Weft_LogicalOp<"or", "lhs or rhs">;

def Weft_NotOp : Weft_Op<"not", [Pure, AllTypesMatch<["operand", "result"]>, Weft_ElementFlops<1>,
                                  Weft_Casts<"Follow", "Follow", "logical_not">]> {
  let summary = "Elementwise logical not";
  let description = "Example: `%y = weft.not %x : tensor<8xi1>`.";
  let arguments = (ins Weft_BoolTensor:$operand);
  let results = (outs Weft_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Weft_SelectOp : Weft_Op<"select", [
    Pure, Weft_ElementFlops<0>, DeclareOpInterfaceMethods<InferTypeOpInterface>, Weft_RoundsGradient,
    Weft_Casts<"Follow", "Follow", "where", "Promoted", /*firstFactor=*/0, /*llm=*/"Narrow">]> {
  let summary = "Elementwise choice";
  let description = [{
    `result = condition ? on_true : on_false`; shapes broadcast as in NumPy.

    Example: `%z = weft.select %c, %x, %y : tensor<8xi1>, tensor<8xf32>, tensor<f32>`.
  }];
  let arguments = (ins Weft_BoolTensor:$condition, Weft_Tensor:$on_true, Weft_Tensor:$on_false);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $condition `,` $on_true `,` $on_false attr-dict `:`
    type($condition) `,` type($on_true) `,` type($on_false)
  }];
  let hasVerifier = 1;
}

def Weft_CastOp : Weft_Op<"cast", [Pure, SameOperandsAndResultShape, Weft_RoundsGradient,
                                    Weft_Casts<"Follow", "Follow", "to">]> {
  let summary = "Elementwise conversion";
  let description = [{
    Converts the element type; floating point rounds to nearest even, float to
    integer truncates, `i1` converts as 0 and 1. Only a cast to the operand's own
    type folds: rounding pairs stay.

    Example: `%y = weft.cast %x : tensor<8xf32> to tensor<8xf16>`.
  }];
  let arguments = (ins Weft_Tensor:$operand);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasFolder = 1;
}

#endif // WEFT_ELEMENTWISE_OPS_TD
