//===- Enums.td - Enums of several dialects ----------------*- tablegen -*-===//

#ifndef WEFT_INTERFACES_ENUMS_TD
#define WEFT_INTERFACES_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Weft_ProgramKind : I32EnumAttr<"ProgramKind", "kind of a program", [
    I32EnumAttrCase<"Model", 0, "model">, I32EnumAttrCase<"Init", 1, "init">,
    I32EnumAttrCase<"Micro", 2, "micro">, I32EnumAttrCase<"Apply", 3, "apply">,
    I32EnumAttrCase<"Eval", 4, "eval">, I32EnumAttrCase<"Logits", 5, "logits">,
    I32EnumAttrCase<"Refresh", 6, "refresh">,
    I32EnumAttrCase<"Denominators", 7, "denominators">,
    I32EnumAttrCase<"Prefill", 8, "prefill">,
    I32EnumAttrCase<"Decode", 9, "decode">,
    I32EnumAttrCase<"Predict", 10, "predict">]> {
  let cppNamespace = "::weft";
  let genSpecializedAttr = 0;
}

def Weft_StateKind : I32EnumAttr<"StateKind", "kind of a persistent tensor", [
    I32EnumAttrCase<"Param", 0, "param">,
    I32EnumAttrCase<"Gradient", 1, "gradient">,
    I32EnumAttrCase<"Optimizer", 2, "optimizer">,
    I32EnumAttrCase<"Scaler", 3, "scaler">,
    I32EnumAttrCase<"Working", 4, "working">,
    I32EnumAttrCase<"Accumulator", 5, "accumulator">,
    I32EnumAttrCase<"Presence", 6, "presence">,
    I32EnumAttrCase<"Denominator", 7, "denominator">,
    I32EnumAttrCase<"Cache", 8, "cache">]> {
  let cppNamespace = "::weft";
  let genSpecializedAttr = 0;
}

def Weft_RankReduction : I32EnumAttr<"RankReduction", "reduction of numbers over ranks", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Or", 2, "or">]> {
  let cppNamespace = "::weft";
  let genSpecializedAttr = 0;
}

def Weft_Epilogue : I32EnumAttr<"Epilogue", "epilogue of a product", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Relu", 1, "relu">,
    I32EnumAttrCase<"ReluGrad", 2, "relu_grad">,
    I32EnumAttrCase<"Gelu", 3, "gelu">,
    I32EnumAttrCase<"GeluGrad", 4, "gelu_grad">]> {
  let cppNamespace = "::weft";
  let genSpecializedAttr = 0;
}

#endif // WEFT_INTERFACES_ENUMS_TD
