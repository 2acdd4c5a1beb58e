//===- Ext.td - The dialect ext ----------------------------*- tablegen -*-===//

#ifndef EXT_TD
#define EXT_TD

include "weft/Weft/WeftBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ext_Dialect : Dialect {
  let name = "ext";
  let cppNamespace = "::ext";
}

def Ext_SoftsignOp : Op<Ext_Dialect, "softsign", [
    Pure, SameOperandsAndResultType,
    // Operands and results have static shapes.
    Weft_StaticTensors,
    // Mixed precision: the op runs in the type of its operand, in PyTorch's
    // CUDA lists and in its CPU lists.
    Weft_Casts<"Follow", "Follow">,
    // Its gradient, its formula, its reference function, and how its result
    // depends on the rows of a batch.
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<CompositeOpInterface>,
    DeclareOpInterfaceMethods<InterpretedOpInterface>,
    DeclareOpInterfaceMethods<RowFlowOpInterface>]> {
  let summary = "Elementwise x / (1 + |x|)";
  let arguments = (ins Weft_FloatTensor:$operand);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

#endif // EXT_TD
