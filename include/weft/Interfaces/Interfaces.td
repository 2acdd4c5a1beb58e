//===- Interfaces.td - Interfaces of ops -------------------*- tablegen -*-===//
//
// Passes ask ops through these interfaces instead of listing ops. An op that
// lacks an interface a pass needs is an error on that op, never a skip.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERFACES_TD
#define WEFT_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    The adjoint (vector-Jacobian product) of an op. Implemented in lib/Autodiff.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the gradients of the operands at the builder's insertion point.
      `resultGrads[i]` is the gradient of result i, or null where none flows.
      On entry `operandGrads` has one null value per operand; the rule sets the
      entries whose `needed` flag is true (or leaves null for a zero gradient).
      Emits an error on the op and fails where the derivative is not supported.
    }],
    "::llvm::LogicalResult", "buildAdjoint",
    (ins "::mlir::OpBuilder &":$builder,
         "::llvm::ArrayRef<::mlir::Value>":$resultGrads,
         "::llvm::ArrayRef<bool>":$needed,
         "::llvm::MutableArrayRef<::mlir::Value>":$operandGrads)>,
  ];
}

def WideGradientOpInterface : OpInterface<"WideGradientOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    How `weft-autodiff` computes an f16 or bf16 gradient of this op that is
    added in f32. An op that moves elements (`Weft_MovesElements`) needs no
    implementation: it moves the f32 values. Ops whose result is rounded once,
    as in PyTorch, have `Weft_RoundsGradient`. Any other op at the end of an
    adjoint implements here how it omits the rounding; an op without an
    implementation is an error.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds result `result` in f32 at the builder's insertion point. `unrounded`
      gives the f32 form of an operand or of the result itself: the value that a
      rule rounded to it, else a cast.
    }],
    "::mlir::Value", "buildWideGradient",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::OpResult":$result,
         "::llvm::function_ref<::mlir::Value(::mlir::Value)>":$unrounded)>,
  ];
}

def ScalarBodyOpInterface : OpInterface<"ScalarBodyOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    The scalar computation of an elementwise op in arith and math ops: the body
    of its linalg form. Implemented in lib/Fusion.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the computation for one element; `scalars` holds one scalar (or
      vector) value per operand. Returns the result's element.
    }],
    "::mlir::Value", "buildScalarBody",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
         "::mlir::ValueRange":$scalars)>,
  ];
}

def CompositeOpInterface : OpInterface<"CompositeOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op that is a formula over other weft ops (softmax, layer_norm, gelu,
    losses, ...). It stays whole for autocast and autodiff and is written out
    before fusion. Implemented in lib/Fusion.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the formula at the builder's insertion point; returns one value per
      result, in order, or failure with an error on the op.
    }],
    "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
    (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::weft";
  let description = "Work of an op, for estimates and reports.";
  let methods = [
    InterfaceMethod<"Floating-point operations of one execution.",
                    "double", "getFlops", (ins)>,
  ];
}

def ElementCostOpInterface : OpInterface<"ElementCostOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    Work of an op in a kernel, by elements of its widest value. The op's
    definition sets it (`Weft_ElementFlops`).
  }];
  let methods = [
    InterfaceMethod<[{
      Floating-point operations for one element: an addition is one, a special
      function as many as its computation.
    }], "double", "getElementFlops", (ins)>,
  ];
}

def CastPolicyOpInterface : OpInterface<"CastPolicyOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    Mixed precision of an op in a model: PyTorch's autocast policies and the
    types that the op's operands may have together. The op's definition sets it
    (`Weft_Casts` in WeftBase.td).
  }];
  let methods = [
    StaticInterfaceMethod<"One rule for each variant of the op.",
                          "::llvm::ArrayRef<::weft::CastRule>", "getCastRules", (ins)>,
    InterfaceMethod<"The rule of this op.", "const ::weft::CastRule &", "getCastRule", (ins),
                    /*methodBody=*/"", /*defaultImplementation=*/[{
      return $_op.getCastRules().front();
    }]>,
    InterfaceMethod<[{
      The requested type (an attribute `dtype`), or null.
    }], "::mlir::Type", "getExplicitDtype", (ins), /*methodBody=*/"",
    /*defaultImplementation=*/"return {};">,
  ];
}

def RandomOpInterface : OpInterface<"RandomOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op of models that draws random numbers in training and none in
    evaluation; nothing else differs between the two. An op with an operand
    `rng` must implement the interface, or weft does not compile
    (lib/Weft/RandomOps.cpp).
  }];
  let methods = [
    InterfaceMethod<"The key of its random numbers; nothing if it draws none.",
                    "::std::optional<int64_t>", "getRandomKey", (ins)>,
    InterfaceMethod<"The operand [seed, first global row].",
                    "::mlir::MutableOperandRange", "getRngMutable", (ins)>,
    InterfaceMethod<[{
      Turns the op into its form for evaluation, without random numbers. An op
      that has no effect in this form is erased, and its users use its operand.
    }], "void", "makeDeterministic", (ins)>,
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    A function that runs as one loop nest. Its arguments and results are the
    arguments and results of FunctionOpInterface.
  }];
  let methods = [
    InterfaceMethod<"Arguments whose buffer result `index` may reuse.",
                    "::llvm::ArrayRef<int64_t>", "getInPlaceInputs", (ins "unsigned":$index)>,
    InterfaceMethod<[{
      The pitch of a port: its row stride in elements, or 0 if it is dense. The
      ports are the arguments, then the results.
    }], "int64_t", "getPitch", (ins "unsigned":$port)>,
  ];
}

def OptimizerOpInterface : OpInterface<"OptimizerOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    The update of one parameter. Operands in order: the parameter, its states,
    the gradient, its coefficient, skip, step, and the hyper-parameters. Results:
    the new value of the parameter and of each state, in the order of the
    operands, and possibly the working copy: the new parameter rounded.

    The op's definition sets it (`Weft_OptimizerOp`). This interface gives the
    name, states and inputs of an optimizer. Only the interpreter and the
    lowering know its formula.
  }];
  let methods = [
    StaticInterfaceMethod<"Names and other properties that need no op.",
                          "const ::weft::OptimizerInfo &", "getOptimizer", (ins)>,
    InterfaceMethod<"The old parameter.", "::mlir::Value", "getParam", (ins)>,
    InterfaceMethod<"The old states.", "::mlir::OperandRange", "getStates", (ins),
                    /*methodBody=*/"", /*defaultImplementation=*/[{
      return $_op->getOperands().slice(1, $_op.getOptimizer().states.size());
    }]>,
    InterfaceMethod<"The gradient.", "::mlir::Value", "getGrad", (ins)>,
    InterfaceMethod<"Multiplies the gradient first.", "::mlir::Value", "getCoef", (ins)>,
    InterfaceMethod<"Whether every result is the old value.",
                    "::mlir::Value", "getSkip", (ins)>,
    InterfaceMethod<"The number of this update, from 1.", "::mlir::Value", "getStep", (ins)>,
    InterfaceMethod<"The hyper-parameters, `lr` first.", "::mlir::OperandRange",
                    "getNumbers", (ins), /*methodBody=*/"",
                    /*defaultImplementation=*/[{
      return $_op->getOperands().take_back($_op.getOptimizer().numbers.size());
    }]>,
    InterfaceMethod<"Multiplies the learning rate.", "::llvm::APFloat", "getLrScale", (ins)>,
    InterfaceMethod<"Multiplies the weight decay.", "::llvm::APFloat",
                    "getDecayScale", (ins)>,
    InterfaceMethod<"Both by range of elements, or nothing.",
                    "::llvm::SmallVector<::weft::UpdateFactors>", "getFactorList", (ins)>,
    InterfaceMethod<"The working copy, or null.", "::mlir::Value", "getWorking", (ins)>,
    InterfaceMethod<[{
      Replaces the op by one with a working copy of element type `element` and
      returns it. The op must not have one.
    }],
    "::mlir::Value", "addWorkingCopy",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Type":$element), /*methodBody=*/"",
    /*defaultImplementation=*/[{
      return ::weft::detail::addWorkingCopy($_op, builder, element);
    }]>,
  ];
  let verify = "return ::weft::detail::verifyOptimizer($_op);";
}

def CountedMeanOpInterface : OpInterface<"CountedMeanOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    A loss or metric of rows with one target each, which are classes or ignored.
    It may be a mean over the targets that count. Its denominator is known when
    the targets are. `weft-derive-programs` computes it for a whole step, so that
    the mean does not depend on how the step is split.
  }];
  let methods = [
    InterfaceMethod<"Whether the sum is divided by the count of its targets.",
                    "bool", "isCountedMean", (ins)>,
    InterfaceMethod<"The operand with the targets.", "::mlir::Value", "getCountedTargets", (ins)>,
    InterfaceMethod<"The number of classes.", "int64_t", "getClassCount", (ins)>,
    InterfaceMethod<"The target of a row that does not count.",
                    "int64_t", "getIgnoredTarget", (ins)>,
    InterfaceMethod<[{
      Whether every target that is a class counts 1, so that a batch of class
      indices counts its number of targets.
    }], "bool", "countsAllClasses", (ins)>,
    InterfaceMethod<[{
      Builds the denominator, a scalar of the first result's type, from the operands of
      the op at the builder's insertion point.
    }], "::mlir::Value", "buildDenominator", (ins "::mlir::OpBuilder &":$builder)>,
    InterfaceMethod<[{
      Divides the sum by `denominator` (a scalar of the result's type) in place of
      the op's own. Other results keep their values.
    }], "void", "divideBy",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$denominator)>,
  ];
}

def RowFlowOpInterface : OpInterface<"RowFlowOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    How the first result of an op depends on the rows of a batch (RowFlow.h). A
    loss that uses the result of an op without this interface counts as one that
    depends on how rows are split into batches. Implemented in lib/Autodiff.
  }];
  let methods = [
    InterfaceMethod<[{
      The dependence of the first result. `operands` has one entry for each operand,
      `batch` is the number of rows.
    }], "::weft::RowFlow", "getRowFlow",
    (ins "::llvm::ArrayRef<::weft::RowFlow>":$operands, "int64_t":$batch)>,
  ];
}

def ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op whose result is its first operand under other sizes and strides: it
    computes nothing and shares the operand's bytes.
  }];
  let methods = [
    InterfaceMethod<[{
      Layout of the result for an operand with layout `source`, or nothing if
      the operand has to be copied first.
    }], "std::optional<::weft::Layout>", "apply", (ins "const ::weft::Layout &":$source)>,
  ];
}

def DestinationOpInterface : OpInterface<"DestinationOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    Where an op that runs as a command can write its results. An op without this
    interface has no command.
  }];
  let methods = [
    InterfaceMethod<[{
      Operands whose buffer result `index` may reuse if they die here; `symbols`
      is the symbol table of the module.
    }], "::llvm::SmallVector<unsigned>", "getReusableOperands",
    (ins "unsigned":$index, "const ::mlir::SymbolTable &":$symbols), /*methodBody=*/"",
    /*defaultImplementation=*/"return {};">,
    InterfaceMethod<"Whether it can write result `index` with this layout.",
                    "bool", "canWrite", (ins "unsigned":$index, "const ::weft::Layout &":$layout),
                    /*methodBody=*/"", /*defaultImplementation=*/"return layout.isDense();">,
    InterfaceMethod<"Whether it can add result `index` to the destination.",
                    "bool", "canAccumulate", (ins "unsigned":$index), /*methodBody=*/"",
                    /*defaultImplementation=*/"return false;">,
  ];
}

def CommandKindOpInterface : OpInterface<"CommandKindOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op that one command of a plan can run as a whole, if it builds that
    command (CommandSourceOpInterface) or the library of a target has it.
    Carried by the op's definition (`Weft_RunsAs`).
  }];
  let methods = [
    StaticInterfaceMethod<"The kind of the command, for `weft.impl`: \"gemm\".",
                          "::llvm::StringRef", "getCommandKind", (ins)>,
  ];
}

class Weft_HasCommandKind<string kind> : NativeOpTrait<"HasCommandKind", /*traits=*/[],
    /*extraOpDeclaration=*/"static ::llvm::StringRef getCommandKind() { return \"" # kind # "\"; }\n"> {
  let cppNamespace = "::weft";
}

/// One command of that kind can run the op.
class Weft_RunsAs<string kind> : TraitList<[Weft_HasCommandKind<kind>, CommandKindOpInterface]>;

def CommandSourceOpInterface : OpInterface<"CommandSourceOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op outside of the weft dialect that builds the plan command that runs it.
    (The commands of weft's ops are in lib/Lowering/Plan.) The op must also
    implement CommandKindOpInterface, DestinationOpInterface and
    CostOpInterface.
  }];
  let methods = [
    InterfaceMethod<"Whether its operands and results may be of that floating-point type.",
                    "bool", "takesElement", (ins "::mlir::Type":$element), /*methodBody=*/"",
                    /*defaultImplementation=*/"return element.isF32();">,
    InterfaceMethod<"Whether the command reads operand `index` with this layout.",
                    "bool", "canRead", (ins "unsigned":$index, "const ::weft::Layout &":$layout),
                    /*methodBody=*/"", /*defaultImplementation=*/"return layout.isDense();">,
    InterfaceMethod<[{
      Builds the command at the builder's insertion point: `operands` and
      `results` are the buffers of the op's operands and results. The caller
      adds scope and arithmetic.
    }], "::mlir::Operation *", "buildCommand",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
         "::mlir::ValueRange":$results)>,
  ];
}

def InterpretedOpInterface : OpInterface<"InterpretedOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An op or a command that the reference interpreter can evaluate. The
    functions of weft and plan are in lib/Interp.
  }];
  let methods = [
    InterfaceMethod<[{
      Fills the results of the call (weft/Interp/OpCall.h), or fails with an
      error on the op.
    }], "::llvm::LogicalResult", "interpret", (ins "::weft::OpCall &":$call)>,
  ];
}

def InterpretedCollectiveOpInterface : OpInterface<"InterpretedCollectiveOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    The same for an op or a command that ranks evaluate together.
  }];
  let methods = [
    InterfaceMethod<"Fills the results of the calls of a group, in the order of ranks.",
                    "void", "interpretGroup", (ins "::llvm::ArrayRef<::weft::OpCall *>":$group)>,
  ];
}

def SegmentedOpInterface : OpInterface<"SegmentedOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    Declares a persistent tensor, which may be flat: a list of segments, each a
    parameter or a state kept for one (Segments.h). A tensor without segments is
    the one that its symbol names.
  }];
  let methods = [
    InterfaceMethod<"Whether segments are parameters themselves.", "bool", "holdsParameters">,
    InterfaceMethod<"The value kept for each segment's parameter (\"exp_avg\"), or null.",
                    "::mlir::StringAttr", "getSlotName">,
    InterfaceMethod<"The parameter that the whole state belongs to, or null.",
                    "::mlir::FlatSymbolRefAttr", "getOwner">,
    InterfaceMethod<"The segments in order.", "::llvm::SmallVector<::weft::Segment>",
                    "getSegmentList">,
    InterfaceMethod<"Whether there are segments.", "bool", "isSegmented", (ins), "",
                    "return static_cast<bool>($_op.getSegmentsAttr());">,
    InterfaceMethod<"Number of equal shards of which the state is one.", "int64_t",
                    "getSliceCount", (ins), "", "return $_op.getSlices();">,
    InterfaceMethod<"Type of the state.", "::mlir::ShapedType", "getShapedType", (ins), "",
                    "return ::llvm::cast<::mlir::ShapedType>($_op.getType());">,
  ];
  let verify = [{
    return ::weft::verifySegments(::llvm::cast<::weft::SegmentedOpInterface>($_op));
  }];
}

#endif // WEFT_INTERFACES_TD
