//===- WeftEnums.td - Enums of the weft dialect ------------*- tablegen -*-===//

#ifndef WEFT_ENUMS_TD
#define WEFT_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class Weft_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::weft";
  let genSpecializedAttr = 0;
}

def Weft_KernelKind : Weft_Enum<"KernelKind", "kind of a kernel's iteration space", [
    I32EnumAttrCase<"Elementwise", 0, "elementwise">,
    I32EnumAttrCase<"Rows", 1, "rows">, I32EnumAttrCase<"Columns", 2, "columns">]>;

def Weft_InitKind : Weft_Enum<"InitKind", "distribution of initial values", [
    I32EnumAttrCase<"Zeros", 0, "zeros">, I32EnumAttrCase<"Ones", 1, "ones">,
    I32EnumAttrCase<"Constant", 2, "constant">,
    I32EnumAttrCase<"Normal", 3, "normal">,
    I32EnumAttrCase<"Uniform", 4, "uniform">]>;

def Weft_ReduceKind : Weft_Enum<"ReduceKind", "combining function", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">]>;

def Weft_Predicate : Weft_Enum<"Predicate", "comparison", [
    I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">,
    I32EnumAttrCase<"LT", 2, "lt">, I32EnumAttrCase<"LE", 3, "le">,
    I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]>;

def Weft_GeluKind : Weft_Enum<"GeluKind", "form of gelu", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Tanh", 1, "tanh">]>;

def Weft_LossReduction : Weft_Enum<"LossReduction", "reduction of a loss", [
    I32EnumAttrCase<"Mean", 0, "mean">, I32EnumAttrCase<"Sum", 1, "sum">]>;

def Weft_PhiloxKind : Weft_Enum<"PhiloxKind", "distribution of random numbers", [
    I32EnumAttrCase<"Uniform", 0, "uniform">, I32EnumAttrCase<"Normal", 1, "normal">]>;

def Weft_ScalerPolicy : Weft_Enum<"ScalerPolicy", "rule of a dynamic loss scale", [
    I32EnumAttrCase<"Torch", 0, "torch">,
    I32EnumAttrCase<"DeepSpeed", 1, "deepspeed">,
    I32EnumAttrCase<"Mmcv", 2, "mmcv">,
    I32EnumAttrCase<"DeepSpeedFused", 3, "deepspeed_fused">,
    I32EnumAttrCase<"ColossalAI", 4, "colossalai">]>;

#endif // WEFT_ENUMS_TD
