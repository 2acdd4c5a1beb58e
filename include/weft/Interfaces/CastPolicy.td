//===- CastPolicy.td - Enums of mixed precision ------------*- tablegen -*-===//

#ifndef WEFT_INTERFACES_CASTPOLICY_TD
#define WEFT_INTERFACES_CASTPOLICY_TD

include "mlir/IR/EnumAttr.td"

class Weft_CastEnum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::weft";
  let genSpecializedAttr = 0;
}

def Weft_CastLists : Weft_CastEnum<"CastLists", "PyTorch's lists of autocast policies", [
    I32EnumAttrCase<"Cuda", 0, "cuda">, I32EnumAttrCase<"Cpu", 1, "cpu">]>;

def Weft_CastRecipe : Weft_CastEnum<"CastRecipe", "a named change of the lists", [
    // None.
    I32EnumAttrCase<"Amp", 0, "amp">,
    // The low-precision stream starts at the embedding. Operands that join it
    // are converted to the low type. Norms and the loss read it unconverted and
    // compute in f32 inside.
    I32EnumAttrCase<"Llm", 1, "llm">,
    // A model in half precision: no op but the losses is special.
    I32EnumAttrCase<"PureF16", 2, "pure-f16">]>;

def Weft_CastPolicy : Weft_CastEnum<"CastPolicy", "the type that an op runs in", [
    // In the low type.
    I32EnumAttrCase<"Lower", 0, "lower">,
    // In f32.
    I32EnumAttrCase<"F32", 1, "f32">,
    // In f32 unless the caller asked for another type.
    I32EnumAttrCase<"F32SetDtype", 2, "f32-set-dtype">,
    // In f32 if an operand is f32, else in the low type.
    I32EnumAttrCase<"Promote", 3, "promote">,
    // In the types of its operands.
    I32EnumAttrCase<"Follow", 4, "follow">,
    // In the low type if an operand that is no scalar has it, else as Follow.
    I32EnumAttrCase<"Narrow", 5, "narrow">,
    // Not at all: it overflows or rounds too much.
    I32EnumAttrCase<"Banned", 6, "banned">]>;

#endif // WEFT_INTERFACES_CASTPOLICY_TD
