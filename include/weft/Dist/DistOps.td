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
  let summary = "The ranks of a run and their collectives";
  let description = [{
    All ranks run one program. A `dist.mesh` gives the number of ranks.
    `dist.layout` on parameters and states says which rank holds which elements.
    Collectives on values move elements between ranks. A collective has an
    effect on the ranks that take part: no pass may merge two of them, drop one
    or change their order.
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

def Dist_Placement : Dist_Enum<"Placement", "placement of a tensor on ranks", [
    I32EnumAttrCase<"Replicated", 0, "replicated">,
    I32EnumAttrCase<"Sharded", 1, "sharded">]>;

def Dist_LayoutAttr : AttrDef<Dist_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Placement of a parameter or state on the ranks";
  let description = [{
    `#dist.layout<replicated>`: every rank holds all of it.
    `#dist.layout<sharded on "dp">`: along that axis of the mesh each rank holds
    an equal shard of the flat tensor that contains it. Ranks that differ only
    in other axes hold the same shard.

    The attribute `dist.layout` of `weft.param` and `weft.state` makes the
    layout readable before values are partitioned. Created by: `weft-shard`.
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
  let summary = "A rule for the sharding of a parameter, and its source";
  let description = [{
    `#dist.rule<replicated by "--shard-min=1000">`: at every stage, every rank
    holds all of the parameter and of its gradient and optimizer states.
    `#dist.rule<sharded by "rules.toml:3">`: a ZeRO stage that shards parameters
    of its kind shards it. A parameter without a rule is treated the same.

    The attribute `dist.rule` of a `weft.param` is the same at every stage.
    Parameters that no stage shards are in flat states of their own, so these
    states do not depend on the stage. Created by: `weft-shard`. Consumed by:
    `weft-bucket`.
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

/// `on @mesh` means all ranks, `on @mesh["shard"]` the ranks that differ only
/// along that axis. The command of the same name runs it.
class Dist_Collective<string mnemonic, dag operandsAndNumbers, list<Trait> traits = []>
    : Dist_Op<mnemonic, !listconcat(traits, [
        MemoryEffects<[MemRead<Dist_Ranks>, MemWrite<Dist_Ranks>]>,
        Weft_RunsAs<mnemonic>, CostOpInterface, DeclareOpInterfaceMethods<DestinationOpInterface>,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  // Estimates count the bytes that are sent.
  let extraClassDeclaration = "double getFlops() { return 0; }";
  let arguments = !con(operandsAndNumbers, (ins FlatSymbolRefAttr:$mesh,
                                                OptionalAttr<StrAttr>:$axis));
}

def Dist_AllGatherOp : Dist_Collective<"all_gather", (ins Dist_Tensor:$slice)> {
  let summary = "Joins the shards of all ranks";
  let description = [{
    Each rank gives its shard and gets all shards, concatenated in rank order.

    Example: `%full = dist.all_gather %slice on @mesh : tensor<4xf32> to tensor<16xf32>`.
    Created by: `weft-partition`. Consumed by: `weft-lower-to-plan`.
  }];
  let results = (outs Dist_Tensor:$full);
  let assemblyFormat = "$slice `on` $mesh (`[` $axis^ `]`)? attr-dict `:` type($slice) `to` type($full)";
}

def Dist_ReduceScatterOp : Dist_Collective<"reduce_scatter",
    (ins Dist_Tensor:$full, F64Attr:$pre, F64Attr:$post)> {
  let summary = "The mean over all ranks, of which each rank gets a shard";
  let description = [{
    Rank r gets elements r n to (r + 1) n (not included), where n is the size of
    a shard. Each element is divided by `pre` and rounded to its type. The
    elements of ranks 0, 1, ... are added in this order in f32 (f64 for f64).
    The sum is divided by `post` and rounded once. `pre` times `post` is the
    number of ranks: with both near its square root, neither large nor small
    gradients leave the range of a half type.

    Example: `%slice = dist.reduce_scatter %full on @mesh {post = 2.0 : f64, pre = 2.0 : f64} : tensor<16xf32> to tensor<4xf32>`.
    Created by: `weft-partition`. Consumed by: `weft-lower-to-plan`.
  }];
  let results = (outs Dist_Tensor:$slice);
  let assemblyFormat = "$full `on` $mesh (`[` $axis^ `]`)? attr-dict `:` type($full) `to` type($slice)";
}

def Dist_OwnSliceOp : Dist_Collective<"own_slice", (ins Dist_Tensor:$full)> {
  let summary = "The shard of a value that this rank owns";
  let description = [{
    Rank r gets elements r n to (r + 1) n (not included) of its own `full`,
    where n is the size of a shard. Nothing is sent: the op is for values that
    every rank has in full, such as random numbers.

    Example: `%slice = dist.own_slice %full on @mesh : tensor<16xf32> to tensor<4xf32>`.
    Created by: `weft-partition`. Consumed by: `weft-lower-to-plan`.
  }];
  let results = (outs Dist_Tensor:$slice);
  let assemblyFormat = "$full `on` $mesh (`[` $axis^ `]`)? attr-dict `:` type($full) `to` type($slice)";
}

def Dist_RankOp : Dist_Collective<"rank", (ins)> {
  let summary = "The index of this rank";
  let description = [{
    The index among all ranks, or along an axis of the mesh: the shard that the
    rank owns. Nothing is sent.

    Example: `%r = dist.rank on @mesh["shard"] : tensor<i64>`.
    Created by: `weft-partition`. Consumed by: `weft-lower-to-plan`.
  }];
  let results = (outs 0DTensorOf<[I64]>:$number);
  let assemblyFormat = "`on` $mesh (`[` $axis^ `]`)? attr-dict `:` type($number)";
}

def Dist_AllReduceOp : Dist_Collective<"all_reduce",
    (ins Variadic<Dist_Number>:$numbers, DenseI64ArrayAttr:$reductions)> {
  let summary = "Reduces numbers over all ranks";
  let description = [{
    Each result is the reduction of the corresponding operand over ranks 0, 1,
    ..., in that order: `sum` and `max` of f64 (NaN stays NaN), `or` of i1. All
    numbers are sent in one message.

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
