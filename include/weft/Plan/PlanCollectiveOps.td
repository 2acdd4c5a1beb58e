//===- PlanCollectiveOps.td - Collective commands ----------*- tablegen -*-===//
//
// Commands in which all ranks of a group take part. Few passes know them, so
// they have a header of their own (PlanCollectives.h).
//
//===----------------------------------------------------------------------===//

#ifndef PLAN_COLLECTIVEOPS_TD
#define PLAN_COLLECTIVEOPS_TD

include "weft/Plan/PlanCommands.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Plan_Moved : MemRefOf<[F32, F16, BF16, F64]>;
def Plan_Number : MemRefRankOf<[F64, I1], [0]>;

/// `ranks` is the number of ranks that take part. `group` is the mesh axis
/// along which they differ; "": all ranks of the run.
class Plan_Collective<string mnemonic, dag operandsAndNumbers, list<Trait> traits = []>
    : Plan_Command<mnemonic, !con(operandsAndNumbers,
        (ins I64Attr:$ranks, DefaultValuedAttr<StrAttr, "\"\"">:$group)),
        !listconcat([Plan_Dense], traits)> {
  let hasVerifier = 1;
  string among = "`among` $ranks (`along` $group^)? attr-dict ";
}

/// The same for a collective that needs a workspace on some targets.
class Plan_WorkingCollective<string mnemonic, dag operands, dag numbers, list<Trait> traits = []>
    : Plan_OptionalWorkspaceCommand<mnemonic, operands, !con(numbers,
        (ins I64Attr:$ranks, DefaultValuedAttr<StrAttr, "\"\"">:$group)),
        !listconcat([Plan_Dense], traits)> {
  let hasVerifier = 1;
  string among = workspaceClause # "`among` $ranks (`along` $group^)? attr-dict ";
}

def Plan_AllGatherOp : Plan_Collective<"all_gather",
    (ins Plan_Reads<Plan_Moved>:$slice, Plan_Writes<Plan_Moved>:$full), [Plan_Observed]> {
  let summary = "Joins the shards of all ranks";
  let description = [{
    Writes the shards of ranks 0, 1, ... to `full`, one after the other.

    Example: `plan.all_gather %s to %f among 4 along "dp" : memref<4xf32> to memref<16xf32>`.

    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = "$slice `to` $full " # among # "`:` type($slice) `to` type($full)";
}

def Plan_ReduceScatterOp : Plan_WorkingCollective<"reduce_scatter",
    (ins Plan_Reads<Plan_Moved>:$full, Plan_Writes<Plan_Moved>:$slice),
    (ins F64Attr:$pre, F64Attr:$post, UnitAttr:$native), [Plan_Observed]> {
  let summary = "The mean over all ranks, of which each rank gets a shard";
  let description = [{
    Rank r writes elements r n to (r + 1) n of the mean to `slice`, which has n.
    Each element is divided by `pre` and rounded to its type. The elements of
    ranks 0, 1, ... are added in this order in f32 (f64 for f64). The sum is
    divided by `post` and rounded once. On a CUDA device the shards of all ranks
    are staged in the workspace.

    With `native` the devices' collective library adds instead
    (ncclReduceScatter): in the order of its ring, rounded to the type of the
    elements after each rank. The workspace then holds the elements divided by
    `pre`. Without such a library (for ranks on one device and in the
    interpreter) `native` has no effect.

    Example: `plan.reduce_scatter %f to %s by 2.0, 2.0 among 4 : memref<16xf32> to memref<4xf32>`.

    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = "$full `to` $slice `by` $pre `,` $post (`native` $native^)? " # among # "`:` type($full) `to` type($slice)";
}

def Plan_OwnSliceOp : Plan_Collective<"own_slice",
    (ins Plan_Reads<Plan_Moved>:$full, Plan_Writes<Plan_Moved>:$slice)> {
  let summary = "The shard of a buffer that this rank owns";
  let description = [{
    Rank r writes elements r n to (r + 1) n of its own `full` to `slice`, which has
    n. Nothing is sent.

    Example: `plan.own_slice %f to %s among 4 : memref<16xf32> to memref<4xf32>`.

    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = "$full `to` $slice " # among # "`:` type($full) `to` type($slice)";
}

def Plan_RankOp : Plan_Collective<"rank",
    (ins Plan_Writes<MemRefRankOf<[I64], [0]>>:$number)> {
  let summary = "The index of this rank";
  let description = [{
    Writes the index of this rank in the group to `number`. Nothing is sent.

    Example: `plan.rank to %r among 4 : memref<i64>`.

    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = "`to` $number " # among # "`:` type($number)";
}

def Plan_AllReduceOp : Plan_WorkingCollective<"all_reduce",
    (ins Plan_Reads<Variadic<Plan_Number>>:$numbers,
         Plan_Writes<Variadic<Plan_Number>>:$reduced),
    (ins DenseI64ArrayAttr:$reductions), [Plan_Observed, AttrSizedOperandSegments]> {
  let summary = "Reduces numbers over all ranks";
  let description = [{
    Each buffer of `reduced` gets the reduction of the corresponding number over
    ranks 0, 1, ...: the `sum`, the largest (`max`), or whether one of them is
    true (`or`). All numbers are sent in one message.

    Example: `plan.all_reduce %n, %b by ["sum", "or"] to %s, %a among 4 : memref<f64>, memref<i1> to memref<f64>, memref<i1>`.

    Created by: `weft-lower-to-plan`.
  }];
  let assemblyFormat = "$numbers `by` custom<Reductions>($reductions) `to` $reduced " # among # "`:` type($numbers) `to` type($reduced)";
}

#endif // PLAN_COLLECTIVEOPS_TD
