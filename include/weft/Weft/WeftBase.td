//===- WeftBase.td - Dialect, types and attributes of weft -*- tablegen -*-===//

#ifndef WEFT_BASE_TD
#define WEFT_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "weft/Interfaces/Enums.td"
include "weft/Interfaces/Interfaces.td"
include "weft/Interfaces/Segments.td"
include "weft/Weft/WeftEnums.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Weft_Dialect : Dialect {
  let name = "weft";
  let cppNamespace = "::weft";
  let summary = "Training programs over tensor values";
  let description = [{
    Models, their parameters and state, and the programs of a training step
    (`init`, `micro`, `apply`, `eval`, `logits`) as named ops over tensor
    values. All shapes are static. State is read with `weft.read` and written
    once, in the terminator of a program.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Discardable attribute with the module path of an op ("h.3.attn").
    static constexpr ::llvm::StringLiteral kScopeAttr = "weft.scope";
    /// Discardable attribute of a forward op: the name of the segment that the
    /// backward part computes again (weft-inline-recompute, weft-mark-recompute).
    static constexpr ::llvm::StringLiteral kRecomputeAttr = "weft.recompute";
    /// Discardable attribute of a gelu that must not be fused into a product,
    /// since its recomputation is not fused (weft-mark-recompute).
    static constexpr ::llvm::StringLiteral kApartAttr = "weft.apart";
    /// Argument and result attributes naming a program's ports.
    static constexpr ::llvm::StringLiteral kInputAttr = "weft.input";
    static constexpr ::llvm::StringLiteral kOutputAttr = "weft.output";
    /// Result attribute of a model, and of its programs micro and eval: the
    /// output is reported and not trained.
    static constexpr ::llvm::StringLiteral kMetricAttr = "weft.metric";
    /// The computation of a kernel as a list of names, where formulas of ops
    /// are in it.
    static constexpr ::llvm::StringLiteral kComputesAttr = "weft.computes";
    /// On an op of a formula: the name of the op that the formula replaced
    /// ("layer_norm"), and the number of the update that it belongs to. On an
    /// update that has no formula: the update whose kernels it calls, a
    /// #weft.repeats. From weft-decompose to weft-fuse.
    static constexpr ::llvm::StringLiteral kFormulaAttr = "weft.formula";
    static constexpr ::llvm::StringLiteral kUpdateAttr = "weft.update";
    static constexpr ::llvm::StringLiteral kRepeatsAttr = "weft.repeats";
    /// The kind of the command that runs an op which select-kernels claimed.
    static constexpr ::llvm::StringLiteral kImplAttr = "weft.impl";
    /// The loop space of a kernel, on its form in another dialect: the
    /// attributes `kind`, `sizes`, `over` and `sums` of `weft.kernel`.
    static constexpr ::llvm::StringLiteral kKernelKindAttr = "weft.kernel_kind";
    static constexpr ::llvm::StringLiteral kSizesAttr = "weft.sizes";
    static constexpr ::llvm::StringLiteral kOverAttr = "weft.over";
    static constexpr ::llvm::StringLiteral kSumsAttr = "weft.sums";
    /// The range of a function that runs in parts, and the divisor of the sizes
    /// of parts. A target chooses both.
    static constexpr ::llvm::StringLiteral kExtentAttr = "weft.extent";
    static constexpr ::llvm::StringLiteral kGrainAttr = "weft.grain";
    /// Attribute of a module: the #weft.training of its update
    /// (weft-expand-optimizer).
    static constexpr ::llvm::StringLiteral kTrainingAttr = "weft.training";
    /// Attribute of @loss_scale: the #weft.scaler of its weft.scaler_update.
    static constexpr ::llvm::StringLiteral kScalerAttr = "weft.scaler";
    /// On the gradient state of a parameter of dropped layers: the state of kind
    /// presence that says whether there is a gradient.
    static constexpr ::llvm::StringLiteral kPresenceAttr = "weft.presence";
    /// On a module whose loss is a mean over rows that do not depend on each
    /// other: it is the same however rows are split into batches.
    static constexpr ::llvm::StringLiteral kRowMeanAttr = "weft.row_mean";
    void registerAttributes();
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Weft_Float : AnyTypeOf<[F32, F16, BF16, F64]>;
def Weft_Int : AnyTypeOf<[I32, I64]>;
def Weft_Element : AnyTypeOf<[F32, F16, BF16, F64, I1, I32, I64]>;
// Not StaticShapeTensorOf: a dynamic dimension gets an error of its own.
def Weft_Tensor : RankedTensorOf<[Weft_Element]>;
def Weft_FloatTensor : RankedTensorOf<[Weft_Float]>;
def Weft_IntTensor : RankedTensorOf<[Weft_Int]>;
def Weft_BoolTensor : RankedTensorOf<[I1]>;

class Weft_Scalar<Type element, string build>
    : Type<0DTensorOf<[element]>.predicate, "scalar tensor of " # element.summary,
           "::mlir::RankedTensorType">,
      BuildableType<"::mlir::RankedTensorType::get({}, $_builder." # build # ")">;
def Weft_ScalarF64 : Weft_Scalar<F64, "getF64Type()">;
def Weft_ScalarF32 : Weft_Scalar<F32, "getF32Type()">;
def Weft_ScalarI64 : Weft_Scalar<I64, "getI64Type()">;
def Weft_ScalarI1 : Weft_Scalar<I1, "getI1Type()">;

//===----------------------------------------------------------------------===//
// Attributes of enums
//===----------------------------------------------------------------------===//

class Weft_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Weft_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}
/// For enums in an op's own syntax: printed without brackets.
class Weft_InlineEnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Weft_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Weft_ProgramKindAttr : Weft_EnumAttr<Weft_ProgramKind, "kind">;
def Weft_StateKindAttr : Weft_EnumAttr<Weft_StateKind, "state_kind">;
def Weft_KernelKindAttr : Weft_EnumAttr<Weft_KernelKind, "kernel_kind">;
def Weft_ReduceKindAttr : Weft_InlineEnumAttr<Weft_ReduceKind, "reduce_kind">;
def Weft_PredicateAttr : Weft_InlineEnumAttr<Weft_Predicate, "predicate">;
def Weft_GeluKindAttr : Weft_EnumAttr<Weft_GeluKind, "gelu_kind">;
def Weft_EpilogueAttr : Weft_InlineEnumAttr<Weft_Epilogue, "epilogue">;
def Weft_LossReductionAttr : Weft_EnumAttr<Weft_LossReduction, "loss_reduction">;
def Weft_PhiloxKindAttr : Weft_InlineEnumAttr<Weft_PhiloxKind, "philox_kind">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Weft_InitAttr : AttrDef<Weft_Dialect, "Init"> {
  let mnemonic = "init";
  let summary = "Initial values of a parameter";
  let description = [{
    `#weft.init<zeros>`, `#weft.init<ones>`, `#weft.init<constant, 0.5>`,
    `#weft.init<normal, MEAN, STD>` or `#weft.init<uniform, LOW, HIGH>`. Random
    values are Philox draws keyed by seed and parameter name.
  }];
  let parameters = (ins EnumParameter<Weft_InitKind>:$kind,
                        APFloatParameter<"">:$firstNumber,
                        APFloatParameter<"">:$secondNumber);
  let builders = [AttrBuilder<(ins "::weft::InitKind":$kind,
                                   CArg<"double", "0.0">:$first,
                                   CArg<"double", "0.0">:$second), [{
    return $_get($_ctxt, kind, ::llvm::APFloat(first), ::llvm::APFloat(second));
  }]>];
  let extraClassDeclaration = [{
    /// Value, mean or low; deviation or high. 0 where the kind has none.
    double getFirst() const { return getFirstNumber().convertToDouble(); }
    double getSecond() const { return getSecondNumber().convertToDouble(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Weft_DrawAttr : AttrDef<Weft_Dialect, "Draw"> {
  let mnemonic = "draw";
  let summary = "Initial values of a parameter inside a flat tensor";
  let description = [{
    Elements `begin` to `end` (not included) of a flat tensor are initial values
    by `init`, drawn for the parameter `key` in row-major order. Positions count
    elements of all shards together.

    `#weft.draw<"fc1.weight", <normal, 0.0, 0.02>, at 0 to 8192>`.
  }];
  let parameters = (ins "::mlir::StringAttr":$key, "::weft::InitAttr":$init,
                        "int64_t":$begin, "int64_t":$end);
  let assemblyFormat = "`<` $key `,` $init `,` `at` $begin `to` $end `>`";
  let genVerifyDecl = 1;
}
def Weft_Draws : TypedArrayAttrBase<Weft_DrawAttr, "a list of draws">;

def Weft_ScalerAttr : AttrDef<Weft_Dialect, "Scaler"> {
  let mnemonic = "scaler";
  let summary = "A dynamic loss scale";
  let description = [{
    The policy and the numbers that differ from its defaults: `#weft.scaler<torch>`,
    `#weft.scaler<deepspeed, init = 1024.0, interval = 500, consecutive = true>`.

    | policy | init | growth | backoff | interval | hysteresis | minimum |
    |---|---|---|---|---|---|---|
    | torch | 65536 | 2 | 0.5 | 2000 | 1 | 0 |
    | deepspeed | 65536 | 2 | 0.5 | 1000 | 2 | 1 |
    | mmcv | 2^32 | 2 | 0.5 | 1000 | 1 | 1 |
    | deepspeed_fused | 65536 | 2 | 0.5 | 1000 | 1 | 1 |
    | colossalai | 65536 | 2 | 0.5 | 1000 | 2 | 0 |

    `consecutive` is DeepSpeed's consecutive_hysteresis (policy deepspeed). The
    `init` program writes the first scale, `init`. Verified: growth above 1,
    backoff in (0, 1), interval and hysteresis of at least 1, init not below the
    minimum (each as an f32), and no number that the policy lacks.
  }];
  let parameters = (ins "::weft::ScalerNumbers":$numbers);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

include "weft/Weft/WeftUpdateAttrs.td"

def Weft_SegmentAttr : Weft_SegmentAttrOf<Weft_Dialect>;
def Weft_Segments : TypedArrayAttrBase<Weft_SegmentAttr, "a list of segments">;

def Weft_FactorsAttr : AttrDef<Weft_Dialect, "Factors"> {
  let mnemonic = "factors";
  let summary = "Factors of an update from an element of a flat parameter on";
  let description = [{
    From element `begin` to the `begin` of the next factors, the learning rate
    is multiplied by `lr_scale` and the weight decay by `decay_scale`.
    `weight_decay` replaces the operand. Positions count elements of all shards
    together, as in segments.

    `#weft.factors<from 0>`, `#weft.factors<from 8192, decay_scale = 0.0>`,
    `#weft.factors<from 0, lr_scale = 2.0, decay_scale = 0.5, weight_decay = 0.1>`.
  }];
  let parameters = (ins "int64_t":$begin, APFloatParameter<"">:$lrScale,
                        APFloatParameter<"">:$decayScale,
                        OptionalParameter<"::mlir::FloatAttr">:$weightDecay);
  let extraClassDeclaration = [{
    static FactorsAttr get(::mlir::MLIRContext *context,
                           const ::weft::UpdateFactors &factors);
    ::weft::UpdateFactors getFactors() const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Weft_FactorList : TypedArrayAttrBase<Weft_FactorsAttr, "a list of factors">;

//===----------------------------------------------------------------------===//
// Op base classes
//===----------------------------------------------------------------------===//

/// Operands and results can be laid out in memory: static shape, no encoding.
def Weft_StaticTensors : NativeOpTrait<"StaticTensors"> {
  let cppNamespace = "::weft";
}

//===----------------------------------------------------------------------===//
// Mixed precision
//===----------------------------------------------------------------------===//

/// Autocast of one variant of an op under PyTorch's CUDA and CPU lists, and
/// where the recipes differ (`llm`; only losses are f32 in pure-f16). See
/// include/weft/Interfaces/CastPolicy.h for the terms.
class Weft_CastRule<string cuda, string cpu, string torch = "", string operands = "Equal",
                    int firstFactor = 0, string variant = "", string instead = "",
                    string llm = "", bit isLoss = 0> {
  string text = "{\"" # variant # "\", ::weft::CastPolicy::" # cuda # ", ::weft::CastPolicy::" # cpu
      # ", ::weft::CastOperands::" # operands # ", " # firstFactor # ", \"" # torch # "\", \"" # instead
      # "\", " # !if(!empty(llm), "std::nullopt", "::weft::CastPolicy::" # llm)
      # ", ::weft::CastPolicy::" # !if(isLoss, "F32", "Follow") # "}";
}

class Weft_HasCastRules<string rules> : NativeOpTrait<"HasCastRules", /*traits=*/[],
    /*extraOpDeclaration=*/"static ::llvm::ArrayRef<::weft::CastRule> getCastRules() {\n"
    # "  static constexpr ::weft::CastRule rules[] = {" # rules # "};\n  return rules;\n}\n"> {
  let cppNamespace = "::weft";
}

/// Gives an op its cast rules: one, or one for each variant.
class Weft_CastVariants<list<Weft_CastRule> rules> : TraitList<[
    Weft_HasCastRules<!interleave(!foreach(rule, rules, rule.text), ", ")>,
    CastPolicyOpInterface]>;
class Weft_Casts<string cuda, string cpu, string torch = "", string operands = "Equal",
                 int firstFactor = 0, string llm = "", bit isLoss = 0>
    : Weft_CastVariants<[Weft_CastRule<cuda, cpu, torch, operands, firstFactor,
                                       /*variant=*/"", /*instead=*/"", llm, isLoss>]>;

class Weft_NativeTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::weft";
}

/// Each element of the result is an element of the first operand, or zero.
def Weft_MovesElements : Weft_NativeTrait<"MovesElements">;

/// The result aliases elements of the first operand: no element is computed.
def Weft_View : TraitList<[Weft_MovesElements, DeclareOpInterfaceMethods<ViewOpInterface>]>;

/// The op runs as a command; `answers` are the methods of
/// DestinationOpInterface that it implements itself.
class Weft_Writes<list<string> answers = []>
    : DeclareOpInterfaceMethods<DestinationOpInterface, answers>;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

// In units of one vector addition. Special functions count their polynomial and
// range reduction. The values are chosen so that one rate reproduces times
// measured on a Zen 5 for gelu, its gradient, sigmoid, silu, the gradient of
// cross-entropy and dropout. The others are counted, not measured.
defvar kDivision = 4;
defvar kExp = 12;
defvar kLog = 14;
defvar kErf = 20;
defvar kSigmoid = 13;
defvar kTanh = 26;
defvar kPhilox = 40; // ten rounds for four numbers
defvar kPhiloxNormal = !add(kPhilox, kLog, kErf);

class Weft_HasElementFlops<string count> : NativeOpTrait<"HasElementFlops", /*traits=*/[],
    /*extraOpDeclaration=*/"double getElementFlops() { return " # count # "; }\n"> {
  let cppNamespace = "::weft";
}

/// Operations for one element of the op in a kernel, for estimates.
class Weft_ElementFlops<int count>
    : TraitList<[Weft_HasElementFlops<!cast<string>(count)>, ElementCostOpInterface]>;

/// The result is the operand's elements in the same order: an alias, maybe with
/// another shape.
def Weft_SameElements : TraitList<[Weft_View, Weft_NativeTrait<"SameElements">]>;

/// A low-precision gradient that the op computes is rounded once, and then cast
/// where it is added in f32.
def Weft_RoundsGradient
    : TraitList<[Weft_NativeTrait<"RoundsGradient">, WideGradientOpInterface]>;

/// Result types follow from operands and attributes: the op defines inferTypes,
/// which is called once the operands are known to be static tensors.
def Weft_InferTypes : TraitList<[
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    NativeOpTrait<"InferTypeOpAdaptor", [], [{
      static ::llvm::LogicalResult
      inferTypes(std::optional<::mlir::Location> loc, Adaptor adaptor,
                 ::llvm::SmallVectorImpl<::mlir::Type> &results);
    }], [{
      ::llvm::LogicalResult $cppClass::inferReturnTypes(
          ::mlir::MLIRContext *, std::optional<::mlir::Location> loc,
          ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
          ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
          ::llvm::SmallVectorImpl<::mlir::Type> &results) {
        if (failed(::weft::checkOperands(loc, operands)))
          return ::llvm::failure();
        return inferTypes(loc, Adaptor(operands, attributes, properties, regions),
                          results);
      }
    }]>]>;

/// Draws random numbers in training; the operand `rng` gives the seed.
def Weft_Random : DeclareOpInterfaceMethods<
    RandomOpInterface, ["getRandomKey", "makeDeterministic"]>;

class Weft_Op<string mnemonic, list<Trait> traits = []>
    : Op<Weft_Dialect, mnemonic, !listconcat([Weft_StaticTensors], traits)>;

#endif // WEFT_BASE_TD
