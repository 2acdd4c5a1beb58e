//===- DistOps.td - Ranks, layouts, collectives on values --*- tablegen -*-===//

#ifndef DIST_OPS_TD
#define DIST_OPS_TD

include "weft/Interfaces/Interfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::weft::dist";
  let summary = "What the ranks of a run share, and what they send each other";
  let description = [{
    All ranks run one program. A `dist.mesh` says how many there are,
    `dist.layout` on parameters and states who holds what of them, and
    collectives on values move it. A collective has an effect on the ranks that
    take part: no pass may merge two of them, drop one or change their order.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Attribute of a weft.param or weft.state: its #dist.layout.
    static constexpr ::llvm::StringLiteral kLayoutAttr = "dist.layout";
    /// Attribute of a weft.param: its #dist.rule.
    static constexpr ::llvm::StringLiteral kRuleAttr = "dist.rule";
    void registerAttributes();
  }];
}

class Dist_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dist_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Enums and attributes
//===----------------------------------------------------------------------===//

class Dist_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::weft::dist";
  let genSpecializedAttr = 0;
}

def Dist_Placement : Dist_Enum<"Placement", "who holds what of a tensor", [
    I32EnumAttrCase<"Replicated", 0, "replicated">,
    I32EnumAttrCase<"Sharded", 1, "sharded">]>;

def Dist_Reduction : Dist_Enum<"Reduction", "what becomes of one number of each rank", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Or", 2, "or">]>;
def Dist_ReductionAttr : EnumAttr<Dist_Dialect, Dist_Reduction, "reduction"> {
  let assemblyFormat = "$value";
}

def Dist_Reductions : TypedArrayAttrBase<Dist_ReductionAttr, "a list of reductions">;

def Dist_LayoutAttr : AttrDef<Dist_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Who holds what of a parameter or state";
  let description = [{
    `#dist.layout<replicated>`: every rank holds all of it.
    `#dist.layout<sharded on "dp">`: along that axis of the mesh each rank holds
    an equal slice of the flat tensor that it lies in; ranks that differ in other
    axes hold the same slice.

    Stands as `dist.layout` on `weft.param` and `weft.state`, so that it can be
    read before anything is partitioned. Created by: `weft-shard`.
  }];
  let parameters = (ins EnumParameter<Dist_Placement>:$placement,
                        OptionalParameter<"::mlir::StringAttr">:$axis);
  let assemblyFormat = "`<` $placement (`on` $axis^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isSharded() const { return getPlacement() == Placement::Sharded; }
  }];
}

def Dist_RuleAttr : AttrDef<Dist_Dialect, "Rule"> {
  let mnemonic = "rule";
  let summary = "What every ZeRO stage does with a parameter, and who says so";
  let description = [{
    `#dist.rule<replicated by "--shard-min=1000">`: every rank holds all of the
    parameter and of what a step keeps of it, at every stage.
    `#dist.rule<sharded by "rules.toml:3">`: a stage that shards parameters of its
    kind shards it. So does one without a rule.

    Stands as `dist.rule` on a `weft.param`, at every stage alike: parameters that
    no stage shards lie in flat states of their own, which so do not depend on the
    stage. Created by: `weft-shard`. Consumed by: `weft-bucket`.
  }];
  let parameters = (ins EnumParameter<Dist_Placement>:$placement,
                        "::mlir::StringAttr":$source);
  let assemblyFormat = "`<` $placement `by` $source `>`";
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

def Dist_MeshOp : Dist_Op<"mesh", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "The ranks of a run";
  let description = [{
    Axes with their sizes, the last one fastest: rank r of `@m(replica = 2,
    shard = 2)` is number r / 2 along `replica` and r mod 2 along `shard`.

    Example: `dist.mesh @mesh("dp" = 4)`.
    Created by: `weft-shard`. At most one in a module.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axes,
                       DenseI64ArrayAttr:$sizes);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Ranks along an axis, or of all axes if it is null.
    int64_t getNumRanks(::mlir::StringAttr axis = {});
    bool hasAxis(::mlir::StringAttr axis);
  }];
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

def Dist_Ranks : Resource<"::weft::dist::Ranks">;

def Dist_Tensor : RankedTensorOf<[F32, F16, BF16, F64]>;
def Dist_Number : RankedTensorOf<[F64, I1]>;

/// `on @mesh` are all ranks, `on @mesh["shard"]` those that differ along that
/// axis alone. The command of the same name runs it.
class Dist_Collective<string mnemonic, dag operandsAndNumbers, list<Trait> traits = []>
    : Dist_Op<mnemonic, !listconcat(traits, [
        MemoryEffects<[MemRead<Dist_Ranks>, MemWrite<Dist_Ranks>]>,
        DeclareOpInterfaceMethods<DestinationOpInterface>,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  let arguments = !con(operandsAndNumbers, (ins FlatSymbolRefAttr:$mesh,
                                                OptionalAttr<StrAttr>:$axis));
}

def Dist_AllGatherOp : Dist_Collective<"all_gather", (ins Dist_Tensor:$slice)> {
  let summary = "Joins the slices of all ranks";
  let description = [{
    Each rank gives a slice and gets all of them, one after the other in the order
    of ranks.

    Example: `%full = dist.all_gather %slice on @mesh : tensor<4xf32> to tensor<16xf32>`.
    Created by: `weft-partition`. Consumed by: `weft-lower-to-plan`.
  }];
  let results = (outs Dist_Tensor:$full);
  let assemblyFormat = "$slice `on` $mesh (`[` $axis^ `]`)? attr-dict `:` type($slice) `to` type($full)";
}

def Dist_ReduceScatterOp : Dist_Collective<"reduce_scatter",
    (ins Dist_Tensor:$full, F64Attr:$pre, F64Attr:$post)> {
  let summary = "The mean over all ranks, of which each gets a slice";
  let description = [{
    Rank r gets elements r n to (r + 1) n (not included), where n is the size of a
    slice. In this order: each element is divided by `pre` and rounded to its type;
    those of ranks 0, 1, ... are added up in f32 (f64 for f64); the sum is divided
    by `post` and rounded once. `pre` times `post` is the number of ranks: with
    both near its root neither large gradients nor small ones leave the range of a
    half type on the way.

    Example: `%slice = dist.reduce_scatter %full on @mesh {post = 2.0 : f64, pre = 2.0 : f64} : tensor<16xf32> to tensor<4xf32>`.
    Created by: `weft-partition`. Consumed by: `weft-lower-to-plan`.
  }];
  let results = (outs Dist_Tensor:$slice);
  let assemblyFormat = "$full `on` $mesh (`[` $axis^ `]`)? attr-dict `:` type($full) `to` type($slice)";
}

def Dist_OwnSliceOp : Dist_Collective<"own_slice", (ins Dist_Tensor:$full)> {
  let summary = "The slice of a value that this rank owns";
  let description = [{
    Rank r gets elements r n to (r + 1) n (not included) of its own `full`, where n
    is the size of a slice. Nothing is sent: it is for values that every rank has
    whole, such as random numbers.

    Example: `%slice = dist.own_slice %full on @mesh : tensor<16xf32> to tensor<4xf32>`.
    Created by: `weft-partition`. Consumed by: `weft-lower-to-plan`.
  }];
  let results = (outs Dist_Tensor:$slice);
  let assemblyFormat = "$full `on` $mesh (`[` $axis^ `]`)? attr-dict `:` type($full) `to` type($slice)";
}

def Dist_RankOp : Dist_Collective<"rank", (ins)> {
  let summary = "The number of this rank";
  let description = [{
    Its place among all ranks, or along an axis of the mesh: the slice that it owns.
    Nothing is sent.

    Example: `%r = dist.rank on @mesh["shard"] : tensor<i64>`.
    Created by: `weft-partition`. Consumed by: `weft-lower-to-plan`.
  }];
  let results = (outs 0DTensorOf<[I64]>:$number);
  let assemblyFormat = "`on` $mesh (`[` $axis^ `]`)? attr-dict `:` type($number)";
}

def Dist_AllReduceOp : Dist_Collective<"all_reduce",
    (ins Variadic<Dist_Number>:$numbers, Dist_Reductions:$reductions)> {
  let summary = "Numbers of all ranks become one each";
  let description = [{
    Each result is made of the operand in its place of ranks 0, 1, ..., in that
    order: `sum` and `max` of f64 (NaN stays NaN), `or` of i1. All of them travel in
    one message.

    Example: `%sum, %any = dist.all_reduce %partial, %bad by [sum, or] on @mesh : tensor<f64>, tensor<i1>`.
    Created by: `weft-partition`. Consumed by: `weft-lower-to-plan`.
  }];
  let results = (outs Variadic<Dist_Number>:$reduced);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $numbers `by` custom<Reductions>($reductions) `on` $mesh (`[` $axis^ `]`)?
    attr-dict `:` custom<SameTypes>(type($numbers), type($reduced))
  }];
}

#endif // DIST_OPS_TD
