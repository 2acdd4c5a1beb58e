//===- Interfaces.td - What an op knows about itself -------*- tablegen -*-===//
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

def ScalarBodyOpInterface : OpInterface<"ScalarBodyOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    The scalar computation of an elementwise op in arith and math ops: the body
    of its linalg form. Implemented in lib/Kernels.
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
    before fusion. Implemented in lib/Kernels.
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

def CastPolicyOpInterface : OpInterface<"CastPolicyOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    What mixed precision does with an op that stands in a model: PyTorch's
    autocast policies and the types that the op's operands may have together.
    Carried by the op's definition (`Weft_Casts` in WeftBase.td).
  }];
  let methods = [
    StaticInterfaceMethod<"One rule for each variant of the op.",
                          "::llvm::ArrayRef<::weft::CastRule>", "getCastRules", (ins)>,
    InterfaceMethod<"The rule of this op.", "const ::weft::CastRule &", "getCastRule", (ins),
                    /*methodBody=*/"", /*defaultImplementation=*/[{
      return $_op.getCastRules().front();
    }]>,
    InterfaceMethod<[{
      The type that the caller asked for (an attribute `dtype`), or null.
    }], "::mlir::Type", "getExplicitDtype", (ins), /*methodBody=*/"",
    /*defaultImplementation=*/"return {};">,
  ];
}

def UpdateOpInterface : OpInterface<"UpdateOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    The update of one parameter: operand 0 is the parameter, result 0 its new
    value, and the last result may be a rounded copy of that value.
  }];
  let methods = [
    InterfaceMethod<[{
      Replaces the op by one with a rounded copy of the new parameter as its last
      result, of element type `element`, and returns that result. The op must not
      have such a result.
    }],
    "::mlir::Value", "addWorkingCopy",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Type":$element)>,
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    A function that runs as one loop nest over a range of its own. Arguments and
    results are those of FunctionOpInterface.
  }];
  let methods = [
    InterfaceMethod<"Elements of the range, or nothing before it is known.",
                    "std::optional<int64_t>", "getExtent", (ins)>,
    InterfaceMethod<"What cuts of the range are multiples of.",
                    "std::optional<int64_t>", "getGrain", (ins)>,
    InterfaceMethod<"Arguments whose buffer result `index` may take.",
                    "::llvm::ArrayRef<int64_t>", "getInPlaceInputs", (ins "unsigned":$index)>,
  ];
}

#endif // WEFT_INTERFACES_TD
