//===- WeftStructureOps.td - Parameters, state, programs ---*- tablegen -*-===//

#ifndef WEFT_STRUCTURE_OPS_TD
#define WEFT_STRUCTURE_OPS_TD

include "weft/Interfaces/Interfaces.td"
include "weft/Weft/WeftBase.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Weft_ParamOp : Weft_Op<"param", [
    Symbol, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<SegmentedOpInterface>]> {
  let summary = "A model parameter";
  let description = [{
    Declares a persistent tensor that training may change. `init` gives its
    initial values, `trainable = false` freezes it, `decay` says whether weight
    decay applies (default: two or more dimensions), `tie = @other` makes it the
    same tensor as another parameter (resolved by `weft-tie-params`), `scope` is
    its module path and `source` its name in the file of initial weights if that
    differs from the symbol.

    A flat parameter has one dimension and `segments`: several parameters of the
    model, one after the other, which are not declared elsewhere. Elements
    between segments are zero and stay zero. With `slices` it is one of that
    many equal shards, one per rank; segments count the elements of all shards.
    Checkpoints, weight files and messages contain only the segments.

    Example:
    ```mlir
    weft.param @fc1.weight : tensor<128x64xf32> {init = #weft.init<normal, 0.0, 0.02>}
    weft.param @fc2 : tensor<56xf32> {segments = [#weft.segment<@fc2.weight [8, 5] at 0 to 40>,
                                                  #weft.segment<@fc2.bias [8] at 48 to 56>]}
    ```
    Created by: frontends, model text; flat parameters by `weft-bucket`.
    Consumed by: `weft-lower-to-plan`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<Weft_Tensor>:$type,
                       OptionalAttr<Weft_InitAttr>:$init,
                       DefaultValuedAttr<BoolAttr, "true">:$trainable,
                       OptionalAttr<BoolAttr>:$decay,
                       OptionalAttr<FlatSymbolRefAttr>:$tie,
                       OptionalAttr<StrAttr>:$scope,
                       OptionalAttr<StrAttr>:$source,
                       OptionalAttr<Weft_Segments>:$segments,
                       DefaultValuedAttr<I64Attr, "1">:$slices);
  let builders = [OpBuilder<(ins
      "::mlir::StringAttr":$name, "::mlir::TypeAttr":$type, "::weft::InitAttr":$init,
      "::mlir::BoolAttr":$trainable, "::mlir::BoolAttr":$decay,
      "::mlir::FlatSymbolRefAttr":$tie, "::mlir::StringAttr":$scope,
      "::mlir::StringAttr":$source), [{
    build($_builder, $_state, name, type, init, trainable, decay, tie, scope, source,
          /*segments=*/nullptr, $_builder.getI64IntegerAttr(1));
  }]>];
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
    /// Whether weight decay applies.
    bool decays() { return getDecay().value_or(getTensorType().getRank() >= 2); }
  }];
}

def Weft_StateOp : Weft_Op<"state", [
    Symbol, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<SegmentedOpInterface>]> {
  let summary = "Persistent state other than a parameter";
  let description = [{
    A tensor that persists from step to step: an accumulated gradient, an
    optimizer moment, a step counter, the loss scale, a low-precision copy of a
    parameter (`working`), or the number of micro-steps in which parameters of
    dropped layers had a gradient (`presence`, a scalar that their gradient
    states name with `weft.presence`). The `init` program writes all states
    except gradients and presence, which the first micro-step of a step writes
    without reading them; nothing requires memory that starts as zeros. `param`
    names the parameter that the state belongs to. Checkpoints contain
    `optimizer` and `scaler` states.

    A flat state has `segments` and optionally `slices`, like a `weft.param`.
    Its `slot` names its value for each parameter: a segment `@w` of the slot
    `exp_avg` is the tensor `w.exp_avg` of checkpoints. If it belongs to a flat
    parameter, it has the same segments.

    Example:
    ```mlir
    weft.state @fc1.weight.exp_avg : tensor<128x64xf32> {kind = #weft.state_kind<optimizer>, param = @fc1.weight}
    weft.state @flat.exp_avg_sq : tensor<2048xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg_sq", slices = 4,
        segments = [#weft.segment<@fc1.weight [128, 64] at 0 to 8192>]}
    ```
    Created by: `weft-autodiff`, `weft-loss-scale`, `weft-expand-optimizer`,
    `weft-working-copies`. Consumed by: `weft-lower-to-plan`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<Weft_Tensor>:$type,
                       Weft_StateKindAttr:$kind,
                       OptionalAttr<FlatSymbolRefAttr>:$param,
                       OptionalAttr<StrAttr>:$slot,
                       OptionalAttr<Weft_Segments>:$segments,
                       DefaultValuedAttr<I64Attr, "1">:$slices);
  let builders = [OpBuilder<(ins
      "::mlir::StringAttr":$name, "::mlir::TypeAttr":$type,
      "::weft::StateKindAttr":$kind, "::mlir::FlatSymbolRefAttr":$param), [{
    build($_builder, $_state, name, type, kind, param, /*slot=*/nullptr,
          /*segments=*/nullptr, $_builder.getI64IntegerAttr(1));
  }]>];
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
  }];
}

def Weft_ProgramOp : Weft_Op<"program", [
    FunctionOpInterface, IsolatedFromAbove, HasParent<"::mlir::ModuleOp">,
    SingleBlock]> {
  let summary = "One program of a training executable";
  let description = [{
    A straight-line function over tensors. Arguments carry `weft.input` names,
    results `weft.output` names. State is read with `weft.read` and written by
    the terminator. Kinds: `model` (the user's program), then `init`, `micro`
    (forward and backward of one micro-step), `apply` (clip, update), `eval`,
    `logits` (next-token scores for generation), `predict` (a result for each
    row of data) and `refresh` (values derived from parameters, after they were
    loaded).

    Example:
    ```mlir
    weft.param @w : tensor<4x1xf32> {init = #weft.init<zeros>}
    weft.program @model(%x: tensor<8x4xf32> {weft.input = "x"}, %y: tensor<8x1xf32> {weft.input = "y"})
        -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
      %w = weft.read @w : tensor<4x1xf32>
      %p = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x1xf32>
      %l = weft.mse %p, %y : tensor<8x1xf32>
      weft.return %l : tensor<f32>
    }
    ```
    Created by: frontends, `weft-derive-programs`, `weft-expand-optimizer`.
    Consumed by: `weft-lower-to-plan`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       Weft_ProgramKindAttr:$kind,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Name of input `index` / output `index`.
    ::llvm::StringRef getInputName(unsigned index);
    ::llvm::StringRef getOutputName(unsigned index);
    /// The argument with that input name, or null.
    ::mlir::BlockArgument findInput(::llvm::StringRef name);
    /// Index of the output with that name, or -1.
    int findOutput(::llvm::StringRef name);
    /// Appends an argument with a `weft.input` name.
    ::mlir::BlockArgument addInput(::llvm::StringRef name, ::mlir::Type type);
    ::weft::ReturnOp getTerminator();
  }];
}

def Weft_ReturnOp : Weft_Op<"return", [
    Pure, Terminator, HasParent<"::weft::ProgramOp">, AttrSizedOperandSegments]> {
  let summary = "Ends a program: its outputs and its writes to state";
  let description = [{
    Returns outputs and writes each named parameter or state once.

    Example: `weft.return %loss : tensor<f32> writes @w.grad = %g : tensor<4xf32>`.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$outputs,
                       Variadic<Weft_Tensor>:$values,
                       DefaultValuedAttr<TypedArrayAttrBase<FlatSymbolRefAttr, "targets">, "{}">:$targets);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$outputs), [{
    build($_builder, $_state, outputs, ::mlir::ValueRange{}, $_builder.getArrayAttr({}));
  }]>];
  let extraClassDeclaration = [{
    /// Adds a write of `value` to the state `target`.
    void addWrite(::llvm::StringRef target, ::mlir::Value value);
    /// Adds many writes at once: separate calls would each copy all targets.
    void addWrites(::llvm::ArrayRef<::std::pair<::llvm::StringRef, ::mlir::Value>> writes);
    /// The value written to `target`, or null.
    ::mlir::Value findWrite(::llvm::StringRef target);
    /// Replaces the value written to `target` by `value`.
    void replaceWrite(::llvm::StringRef target, ::mlir::Value value);
  }];
}

def Weft_ReadOp : Weft_Op<"read", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>, Weft_Casts<"Follow", "Follow">]> {
  let summary = "Value of a parameter or state at entry of the program";
  let description = [{
    Example: `%w = weft.read @fc1.weight : tensor<128x64xf32>`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$source);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
}

def Weft_ConstantOp : Weft_Op<"constant", [
    Pure, ConstantLike, AllTypesMatch<["value", "result"]>, Weft_Casts<"Follow", "Follow">]> {
  let summary = "A constant tensor";
  let description = [{
    Example: `%c = weft.constant dense<1.0> : tensor<4xf32>`.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Weft_IotaOp : Weft_Op<"iota", [Pure]> {
  let summary = "Numbers of elements";
  let description = [{
    The index of each element in the dimensions `dims`, the last one fastest:
    with `[1]` its index along dimension 1, with all dimensions its row-major
    index. Kernels inline it, like a constant: it has no buffer.

    Example: `%i = weft.iota [1] : tensor<8x4xi32>`.
    Created by: `weft-decompose`.
  }];
  let arguments = (ins DenseI64ArrayAttr:$dims);
  let results = (outs Weft_IntTensor:$result);
  let assemblyFormat = "$dims attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Weft_KernelOp : Weft_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove, HasParent<"::mlir::ModuleOp">, SingleBlock,
    DeclareOpInterfaceMethods<KernelOpInterface>]> {
  let summary = "An outlined fused kernel";
  let description = [{
    A group of primitive ops that runs as one generated loop nest. The symbol is
    `@k_` and a hash of the content, which ignores scope and location, so that
    equal groups share one kernel.

    The kernel's structure is given only here; a target chooses its ranges,
    tiles and blocks from it. `sizes` is the loop space, where dimensions that
    all operands walk in the same way are merged. The kind is

    - `elementwise`: each result has an element for each point of the space, and
      no element needs another one;
    - `rows`: the dimensions `over`, the last one among them, make up a row.
      Rows are reduced over them or read and written as they are; a result has
      an element for each point or for each row;
    - `columns`: the dimensions `over`, without the last one, make up a column;
      all columns are reduced. A result has an element for each point or for
      each column.

    `sums` lists dimensions of `rows` before the row: reductions over them add up
    the rows of a group. Such a sum over rows has an element for each group and
    each element of a row. It is a result of the kernel, and no op of the kernel
    reads it. Other ops may be between the row's reductions and the sums, so one
    pass over the rows computes both.

    `inplace` has one list for each result: the arguments whose buffer that
    result may reuse. A dump may list fewer. Kind, sizes and `inplace` that do
    not match the body are an error: here if the numbers of elements show it,
    and in full before code generation.

    `pitches` has a number for each argument, then for each result: the row
    stride in elements (a row is the last dimension), or 0 if it is dense. The
    body does not depend on it, and padding between rows is neither read nor
    written. Without the list all are dense.

    Listings name a kernel by the ops of its body. If formulas of ops are in it,
    `weft.computes` lists the original ops and the other ops instead. It has no
    effect on the code.

    Example: a softmax without its maximum.
    ```mlir
    weft.kernel @k_1f(%x: tensor<8x4xf32>) -> tensor<8x4xf32> rows [8, 4] over [1] inplace [[0]] {
      %e = weft.exp %x : tensor<8x4xf32>
      %s = weft.reduce sum %e dims [1] : tensor<8x4xf32>
      %c = weft.reshape %s : tensor<8xf32> to tensor<8x1xf32>
      %y = weft.div %e, %c : tensor<8x4xf32>, tensor<8x1xf32>
      weft.yield %y : tensor<8x4xf32>
    }
    ```
    Rows without their mean, and their sums over four groups of 16 rows:
    ```mlir
    weft.kernel @k_2f(%x: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<4x32xf32>) rows [4, 16, 32] over [2] sums [1] inplace [[0], []] {
      %m = weft.reduce mean %x dims [1] {keep_dims} : tensor<64x32xf32>
      %d = weft.sub %x, %m : tensor<64x32xf32>, tensor<64x1xf32>
      %g = weft.reshape %d : tensor<64x32xf32> to tensor<4x16x32xf32>
      %s = weft.reduce sum %g dims [1] : tensor<4x16x32xf32>
      weft.yield %d, %s : tensor<64x32xf32>, tensor<4x32xf32>
    }
    ```
    Created by: `weft-fuse`, `weft-pad-rows`. Consumed by: `weft-convert-kernels-to-linalg`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       Weft_KernelKindAttr:$kind,
                       DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$over,
                       OptionalAttr<DenseI64ArrayAttr>:$sums,
                       TypedArrayAttrBase<DenseI64ArrayAttr, "an array of array<i64>">:$inplace,
                       OptionalAttr<DenseI64ArrayAttr>:$pitches,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Elements of the space, and of the dimensions `over` or `sums` alone.
    int64_t getNumPoints();
    int64_t getNumOver();
    int64_t getNumSums();
  }];
}

def Weft_CallOp : Weft_Op<"call", [
    Pure, Weft_Writes<["getReusableOperands"]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs an outlined kernel";
  let description = [{
    Example: `%y = weft.call @k_1f(%x) : (tensor<4xf32>) -> tensor<4xf32>`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Weft_Tensor>:$inputs);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

def Weft_KernelGroupOp : Weft_Op<"kernel_group", [
    Symbol, HasParent<"::mlir::ModuleOp">, DeclareOpInterfaceMethods<KernelOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Kernels that run in one launch";
  let description = [{
    Its arguments are the arguments of all kernels in order, its results are
    their results in order. No kernel reads a result of another one. A kernel
    may be in the group several times. `inplace` and `pitches` are the lists of
    the kernels, with arguments numbered as the group has them.

    Example: sums of two matrices.
    ```mlir
    weft.kernel_group @g_2a of [@k_1f, @k_1f]
      : (tensor<16x8xf32>, tensor<16x8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
      inplace [[], []]
    ```
    Created by: `weft-group-launches`. Consumed by: `weft-lower-kernels-to-gpu`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypedArrayAttrBase<FlatSymbolRefAttr, "an array of symbols">:$kernels,
                       TypeAttrOf<FunctionType>:$function_type,
                       TypedArrayAttrBase<DenseI64ArrayAttr, "an array of array<i64>">:$inplace,
                       OptionalAttr<DenseI64ArrayAttr>:$pitches);
  let assemblyFormat = [{
    $sym_name `of` $kernels `:` $function_type `inplace` custom<InPlaceLists>($inplace)
    (`pitches` $pitches^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Creates the group of `kernels` in the order of the list.
    static KernelGroupOp createGroup(::mlir::OpBuilder &builder, ::mlir::Location loc,
                                     ::llvm::StringRef name, ::llvm::ArrayRef<KernelOp> kernels);
  }];
}

#endif // WEFT_STRUCTURE_OPS_TD
