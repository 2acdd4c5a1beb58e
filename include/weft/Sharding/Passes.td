//===- Passes.td - Sharding over the ranks of a mesh -------*- tablegen -*-===//

#ifndef WEFT_SHARDING_PASSES_TD
#define WEFT_SHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShardPass : Pass<"weft-shard", "::mlir::ModuleOp"> {
  let summary = "Choose the layout of parameters and states";
  let description = [{
    Declares the mesh and gives each parameter and state a `dist.layout`, by the
    ZeRO stage:

    | `zero` | sharded along the last axis of the mesh |
    |---|---|
    | 0 | nothing |
    | 1 | trainable parameters and their moments |
    | 2 | the same |
    | 3 | and all other parameters and the copies of parameters |

    Gradients are sharded at every stage: micro-steps reduce them to shards
    (`weft-partition` describes which micro-steps). With `gradients=replicated`
    they are reduced in the update and stay replicated.

    `rules` is a file of
    [rules](../how-to/several-ranks.md#exempt-parameters-from-sharding). The first
    rule that matches a parameter decides whether stages may shard it.
    Parameters without a rule and with fewer than `min` elements are replicated
    at every stage. Rules and `min` set `dist.rule` on a parameter, at stage 0
    too: `weft-bucket` stores parameters that no stage shards in separate flat
    states. The states of a parameter follow it.

    Types and programs do not change.

    Precondition: `weft-working-copies`, no mesh. Guarantees: every parameter
    and state has a layout. Errors, on the module: a bad option. Errors, at a
    line of the rule file: an invalid rule, a rule that matches no parameter, or
    a rule whose parameters all match an earlier rule.

    Before:
    ```mlir
    weft.param @fc.weight : tensor<16x8xf32>
    weft.state @fc.weight.grad : tensor<16x8xf32> {kind = #weft.state_kind<gradient>, param = @fc.weight}
    ```
    After, with `mesh=dp:4 zero=1` (test/Sharding/shard.mlir):
    ```mlir
    dist.mesh @mesh("dp" = 4)
    weft.param @fc.weight : tensor<16x8xf32> {dist.layout = #dist.layout<sharded on "dp">}
    weft.state @fc.weight.grad : tensor<16x8xf32> {dist.layout = #dist.layout<replicated>,
                                                   kind = #weft.state_kind<gradient>, param = @fc.weight}
    ```
    The pass does not make shards or collectives: `weft-partition` does.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"dp:1\"", "Ranks: dp:N or replica:R,shard:S">,
    Option<"zero", "zero", "int64_t", "0", "ZeRO stage, 0 to 3">,
    Option<"gradients", "gradients", "::weft::dist::Placement", "::weft::dist::Placement::Sharded",
           "Layout of gradients: sharded (reduced in micro-steps) or replicated (reduced in the update)",
           [{::llvm::cl::values(
               clEnumValN(::weft::dist::Placement::Sharded, "sharded", "reduced in micro-steps"),
               clEnumValN(::weft::dist::Placement::Replicated, "replicated", "reduced in the update"))}]>,
    Option<"min", "min", "int64_t", "0",
           "Parameters with fewer elements are replicated at every stage">,
    Option<"rules", "rules", "std::string", "\"\"",
           "TOML file with rules for the parameters that a stage may shard">,
  ];
  let statistics = [
    Statistic<"numSharded", "sharded", "Sharded parameters and states">,
    Statistic<"numReplicated", "replicated", "Replicated parameters and states">,
    Statistic<"numKept", "kept", "Parameters that no stage may shard">,
  ];
  let dependentDialects = ["::weft::WeftDialect", "::weft::dist::DistDialect"];
}

def BucketPass : Pass<"weft-bucket", "::mlir::ModuleOp"> {
  let summary = "Store the parameters of a unit in flat parameters";
  let description = [{
    Joins parameters of a unit that have the same storage and the same update
    into one flat parameter (a bucket). Their gradients, moments and
    low-precision copies become one flat state each. `segments` records the
    range of each parameter. One update then runs for all of them.

    `rule` chooses the units:

    - `scope`: a block of the model, which is all parameters that share a scope
      up to its first number (`h.0`). Adjacent parameters outside of blocks,
      such as the embeddings before the first block, or norm and head after the
      last, also form a unit;
    - `bytes:N`: adjacent parameters of at most N bytes together, or one larger
      parameter;
    - `params:N`: a module with at least N elements, inner modules first.
      Elements of inner modules that are units do not count. A list of blocks is
      never a unit, and the module of an attention op is not divided. The
      remaining parameters are one unit.

    Same storage: one element type, all trainable or all frozen, the same states
    with the same element types. Same update: the same optimizer instance with
    the same numbers. Only weight decay and the learning rate factor may differ.
    The update then has `factors` by range of elements, and adjacent parameters
    with equal factors share a range. With one rank, a single parameter stays as
    it is.

    A segment begins at a multiple of `align` elements, and the size of the flat
    parameter is a multiple of it. Elements between segments are zero. Programs
    write them together with the segments, and updates keep them zero. (With
    `eps` 0, adamw and adam compute 0 / 0 there, but nothing reads these
    elements.)

    - A read of a segment becomes a slice of the read of the flat state.
    - Writes of segments become a `weft.concat` with zeros in the gaps.
      `weft-lower-to-plan` places its operands, so that they are written in
      place: a gradient is accumulated at its offset.
    - If all segments have the same update, or the same cast to working copies,
      one op on the flat state replaces them. Its elements are bitwise equal.
    - The norm reads the segments in their original order and shapes, so its
      bits are the same (`weft-decompose` joins adjacent segments).

    In a module with a `dist.mesh`, every parameter is in a bucket, even a
    single one. All parameters of a bucket have the same layout and the same
    factors, because a range of elements has a different position in each shard.
    Parameters that a `dist.rule` replicates at every stage have separate
    buckets at every stage, so that buckets do not depend on the stage. A bucket
    has the same multiple of `align` elements for each rank, so that shards are
    equal.

    Precondition: `weft-working-copies`. Guarantees: names in checkpoints,
    weight files and messages do not change. A flat state has the layout of its
    segments.

    Errors, on the op: a tied parameter, a parameter or state with segments, a
    state of a parameter with another shape or with a name that is not
    `PARAM.SLOT`; on the module: a bad option.

    Before:
    ```mlir
    weft.param @fc.weight : tensor<16x8xf32>
    weft.param @fc.bias : tensor<5xf32>
    weft.program @apply(...) {
      %w1 = weft.sgd(%w, %wm, %wg, ...) : ...
      %b1 = weft.sgd(%b, %bm, %bg, ...) {decay_scale = 0.0} : ...
      weft.return ... writes @fc.weight = %w1 : tensor<16x8xf32>, @fc.bias = %b1 : tensor<5xf32>, ...
    }
    ```
    After (test/Sharding/bucket.mlir):
    ```mlir
    weft.param @fc.flat : tensor<256xf32> {segments = [#weft.segment<@fc.weight [16, 8] at 0 to 128>,
                                                       #weft.segment<@fc.bias [5] at 128 to 133>]}
    weft.program @apply(...) {
      %flat1 = weft.sgd(%flat, %flatm, %flatg, ...)
          {factors = [#weft.factors<from 0>, #weft.factors<from 128, decay_scale = 0.0>]} : ...
      weft.return ... writes @fc.flat = %flat1 : tensor<256xf32>, ...
    }
    ```
    The pass does not choose kernels. A state without a parameter (the step, the
    loss scale) stays as it is.
  }];
  let options = [
    Option<"rule", "rule", "std::string", "\"scope\"", "Units: scope, bytes:N or params:N">,
    Option<"align", "align", "int64_t", "128", "Alignment of segments in elements">,
  ];
  let statistics = [
    Statistic<"numBuckets", "buckets", "Number of flat parameters">,
    Statistic<"numMembers", "members", "Parameters in flat parameters">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def PartitionPass : Pass<"weft-partition", "::mlir::ModuleOp"> {
  let summary = "Make collectives explicit";
  let description = [{
    Inserts the collectives that follow from the layouts of parameters and
    states. In the program `apply`, gradients become means over all ranks:

    - each flat gradient is reduced to the shard that a rank owns, the mean over
      all ranks in rank order. In a mesh of replicas, gradients are reduced
      along `shard`, then along `replica`: the replicas divide a shard between
      them and gather the result. Sharded gradients are already reduced in
      `micro`, after their last segment;
    - norms and checks read shards. One message combines the results of all
      ranks: sums of powers in rank order, followed by one root, and two flags:
      whether any rank found a non-finite value, and whether any rank had
      gradients of layers that may be dropped;
    - updates of replicated parameters read the gathered shards of all ranks.

    The program `denominators` combines the counts of all ranks in one message
    and divides them by the number of ranks. With `accumulates` it does so for
    the last micro-batch of a step, and a program `denominators_keep` handles
    the earlier ones (test/Sharding/partition-losses.mlir). Both gather sharded
    class weights.

    A step may have several micro-steps (`accumulates`), one per micro-batch.
    With `sync=each`, every micro-step reduces sharded gradients and adds the
    shard to the sum of earlier ones. With `sync=last`, a rank accumulates its
    own gradients in a state `NAME.sum`, of the kind `accumulator`, and only the
    last micro-step reduces them. A program `micro_keep` handles the earlier
    ones (test/Sharding/partition-micro.mlir).

    A sharded parameter or state (ZeRO stages 1 to 3) gets the type of a shard:

    - updates, and casts to working copies, read and write shards;
    - a rank draws initial values only for its shard (`weft.random_slice`,
      test/Sharding/partition-init.mlir). Other values are computed in full, and
      each rank keeps its shard;
    - ops of the forward pass read the value that is gathered right before the
      first of them. The backward pass gathers it again, except for parameters
      outside of `reshard-scopes`. With `reshard=false` it gathers nothing
      again, and the first micro-step keeps the values in a state
      `NAME.gathered`. Programs for later micro-steps, `micro_later` and
      `micro_later_keep`, read that state and gather nothing;
    - a replicated working copy of a sharded parameter (stages 1 and 2) is not a
      state any more: each program gathers rounded shards instead.

    All stages add in the same order: their weights are bitwise equal.

    Precondition: `weft-bucket`, if there is a mesh. Without a mesh the pass
    does nothing. Guarantees: all ranks run the same collectives in the same
    order, and end a step with the same bits.

    Errors, on the op: a parameter or state without a layout; a gradient or
    sharded state that is not flat with equal shards; a norm of values other
    than gradients; a check below a user of another check or of presence; a use
    of presence other than a comparison with zero.

    Before:
    ```mlir
    %g = weft.read @fc.flat.grad : tensor<512xf32>
    %n, %bad = weft.norm_and_check %g {p = 2.0 : f64} : tensor<512xf32>
    %c = weft.clip_coefficient %n, %max_norm
    %w1, %b1 = weft.sgd(%w, %b, %g, %c, %bad, ...) : ...
    ```
    After (test/Sharding/partition.mlir):
    ```mlir
    %g = weft.read @fc.flat.grad : tensor<512xf32>
    %s = dist.reduce_scatter %g on @mesh {post = 2.0 : f64, pre = 2.0 : f64} : tensor<512xf32> to tensor<128xf32>
    %own, %here = weft.norm_and_check %s {p = 2.0 : f64, powers} : tensor<128xf32>
    %all, %bad = dist.all_reduce %own, %here by [sum, or] on @mesh : tensor<f64>, tensor<i1>
    %n = weft.total_norm %all skip %bad {p = 2.0 : f64, powers}
    %c = weft.clip_coefficient %n, %max_norm
    %full = dist.all_gather %s on @mesh : tensor<128xf32> to tensor<512xf32>
    %w1, %b1 = weft.sgd(%w, %b, %full, %c, %bad, ...) : ...
    ```
    The pass does not order collectives by their cost.
  }];
  let options = [
    Option<"reshard", "reshard", "bool", "true",
           "Free gathered parameters after the forward pass, and gather again for the backward pass">,
    ListOption<"reshardScopes", "reshard-scopes", "std::string",
               "With reshard: gather again the parameters of these modules alone, each of which "
               "uses a flat state that no other does">,
    Option<"accumulates", "accumulates", "bool", "true",
           "Whether a step may have several micro-steps">,
    Option<"sync", "sync", "::weft::Sync", "::weft::Sync::Last",
           "Micro-steps that reduce sharded gradients: each, or last (until then every "
           "rank accumulates its own)", [{::llvm::cl::values(
               clEnumValN(::weft::Sync::Each, "each", "each micro-step"),
               clEnumValN(::weft::Sync::Last, "last", "the last one of a step"))}]>,
    Option<"reduceDtype", "reduce-dtype", "std::string", "\"auto\"",
           "Type that gradients are rounded to before they are reduced: f32, f16, bf16 or "
           "auto (their own type)">,
    Option<"gatherDtype", "gather-dtype", "std::string", "\"auto\"",
           "Type that wider trained parameters and their copies are gathered in: f32, f16, "
           "bf16 or auto (their own type)">,
  ];
  let statistics = [
    Statistic<"numBuckets", "buckets", "Number of reduced gradients">,
    Statistic<"numLosses", "losses", "Losses with denominators of all ranks">,
    Statistic<"numSlices", "slices", "Number of sharded states">,
  ];
  let dependentDialects = ["::weft::WeftDialect", "::weft::dist::DistDialect"];
}

#endif // WEFT_SHARDING_PASSES_TD
