//===- TestDialect.td - Ops that weft has never heard of ---*- tablegen -*-===//
//
// A view and an op with a command of its own, each once more with less: what is
// in a definition can be left out only there.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_EXTENSION_TEST_DIALECT_TD
#define WEFT_TEST_UNIT_EXTENSION_TEST_DIALECT_TD

include "weft/Plan/PlanCommands.td"
include "weft/Weft/WeftBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Test_Dialect : Dialect {
  let name = "test";
  let cppNamespace = "::weft::test";
}

class Test_Op<string mnemonic, list<Trait> traits>
    : Op<Test_Dialect, mnemonic, !listconcat([Weft_StaticTensors, Pure], traits)>;

/// Each `step`-th row, the first one first.
class Test_Stride<string mnemonic, list<Trait> traits> : Test_Op<mnemonic, traits> {
  let arguments = (ins Weft_Tensor:$operand, I64Attr:$step);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
}
def Test_StrideOp : Test_Stride<"stride", [Weft_View, Weft_Casts<"Follow", "Follow">]>;
def Test_BareStrideOp : Test_Stride<"bare_stride", []>;

/// `scale * a + b`
class Test_ScaleAdd<string mnemonic, list<Trait> traits>
    : Test_Op<mnemonic, !listconcat([SameOperandsAndResultType], traits)> {
  let arguments = (ins Weft_FloatTensor:$a, Weft_FloatTensor:$b, F64Attr:$scale);
  let results = (outs Weft_FloatTensor:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($result)";
}
def Test_ScaleAddOp : Test_ScaleAdd<"scale_add", [
    Weft_Writes<["getReusableOperands"]>, Weft_Casts<"F32", "F32">]>;
def Test_BareScaleAddOp : Test_ScaleAdd<"bare_scale_add", []>;
/// It runs as an op of weft does.
def Test_KindScaleAddOp : Test_ScaleAdd<"kind_scale_add", [Weft_RunsAs<"scale_add">, Weft_Writes<>]>;
def Test_AddingScaleAddOp : Test_ScaleAdd<"adding_scale_add", [Weft_Writes<["canAccumulate"]>]>;

def Test_RunScaleAddOp : Plan_CommandOf<Test_Dialect, "run_scale_add",
    (ins Plan_Reads<Plan_F32Buffer>:$a, Plan_Reads<Plan_F32Buffer>:$b,
         Plan_Writes<Plan_F32Buffer>:$target,
         Plan_Writes<Optional<Plan_Workspace>>:$workspace, F64Attr:$scale),
    [HasParent<"::weft::plan::ProgramOp">, AllShapesMatch<["a", "b", "target"]>,
     WorkspaceOpInterface,
     DeclareOpInterfaceMethods<CommandOpInterface, ["getInPlaceOperands"]>]> {
  let assemblyFormat = "$a `,` $b `->` $target (`workspace` `(` $workspace^ `:` type($workspace) `)`)? "
                       "attr-dict `:` type($a) `,` type($b) `->` type($target)";
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$buffers, "::mlir::FloatAttr":$scale), [{
    $_state.addOperands(buffers);
    $_state.getOrAddProperties<Properties>().scale = scale;
  }]>];
}

/// It needs a workspace and has no operand for one.
def Test_RunBareOp : Plan_CommandOf<Test_Dialect, "run_bare", (ins Plan_Writes<Plan_F32Buffer>:$target),
                                    [HasParent<"::weft::plan::ProgramOp">]>;

/// A workspace of any type that stands first and may be read.
def Test_RunOddOp : Plan_CommandOf<Test_Dialect, "run_odd",
    (ins Plan_Reads<Plan_Transient>:$workspace, Plan_Reads<Optional<Plan_F32Buffer>>:$target),
    [HasParent<"::weft::plan::ProgramOp">, WorkspaceOpInterface]>;

/// Nothing says whether it reads or writes its target.
def Test_RunSilentOp : Plan_CommandOf<Test_Dialect, "run_silent", (ins Plan_F32Buffer:$target),
                                      [HasParent<"::weft::plan::ProgramOp">]>;

#endif // WEFT_TEST_UNIT_EXTENSION_TEST_DIALECT_TD
