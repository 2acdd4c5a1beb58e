//===- Passes.td - What ranks share, and in which pieces ---*- tablegen -*-===//

#ifndef WEFT_SHARDING_PASSES_TD
#define WEFT_SHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShardPass : Pass<"weft-shard", "::mlir::ModuleOp"> {
  let summary = "Say which rank holds what";
  let description = [{
    Declares the mesh and gives each parameter and state a `dist.layout`, by the
    ZeRO stage:

    | `zero` | sharded along the last axis of the mesh |
    |---|---|
    | 0 | nothing |
    | 1 | trainable parameters and their moments |
    | 2 | the same |
    | 3 | and all other parameters and the copies of parameters |

    Gradients are sharded at every stage: micro-steps reduce them (`weft-partition` says
    which), and what is reduced is a slice. With `gradients=replicated` they are reduced in
    the update, and stay whole.

    `rules` is a file of rules ([sharding.md](sharding.md#rules)), the first of
    which that finds a parameter says whether stages may shard it. Of the others
    those of fewer than `min` elements are whole at every stage. Both give the
    parameter a `dist.rule`, at stage 0 too: `weft-bucket` lays what no stage
    shards in flat states of its own. What a step keeps of a parameter follows it.

    Nothing moves yet: types and programs stay as they are.

    Precondition: `weft-working-copies`, no mesh. Guarantees: every parameter and
    state has a layout. Errors, on the module: a bad option; at a line of the
    file: what is no rule, a rule that finds no parameter, or none of its own.

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
    It does not make slices or collectives: that is `weft-partition`.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"dp:1\"", "Ranks: dp:N or replica:R,shard:S">,
    Option<"zero", "zero", "int64_t", "0", "ZeRO stage, 0 to 3">,
    Option<"gradients", "gradients", "std::string", "\"sharded\"",
           "Layout of gradients: sharded, reduced in micro-steps, or replicated, in the update">,
    Option<"min", "min", "int64_t", "0",
           "Parameters of fewer elements are whole at every stage">,
    Option<"rules", "rules", "std::string", "\"\"",
           "TOML file that says which parameters a stage may shard">,
  ];
  let statistics = [
    Statistic<"numSharded", "sharded", "Parameters and states of which ranks hold slices">,
    Statistic<"numReplicated", "replicated", "Those that every rank holds">,
    Statistic<"numKept", "kept", "Parameters that no stage would shard">,
  ];
  let dependentDialects = ["::weft::WeftDialect", "::weft::dist::DistDialect"];
}

def BucketPass : Pass<"weft-bucket", "::mlir::ModuleOp"> {
  let summary = "Lay the parameters of a unit one after the other";
  let description = [{
    Parameters of a unit that are stored and updated alike become one flat
    parameter, and what a step keeps of them - gradients, moments, low-precision
    copies - one flat state each, with `segments` that say what lies where. An
    update then runs once for all of them.

    `rule` says what a unit is:

    - `scope`: a block of the model, which is what shares a scope up to its first
      number (`h.0`); neighbours in no block, such as the embeddings before the
      first one or norm and head behind the last one, are a unit each;
    - `bytes:N`: neighbours of at most N bytes together, or one larger parameter;
    - `params:N`: a module that has at least N elements of its own or in modules
      that are no units, the inner ones first; lists of blocks never are, a module
      that attention stands in is not divided, and the rest is one unit.

    Stored alike means: one element type, all trainable or all frozen, the same
    states with the same element types. Updated alike means: by the same
    optimizer instance, with the same numbers. Weight decay and factor of the
    learning rate may differ: the update then takes `factors` by range of elements,
    neighbours with the same ones in one range. A parameter that is alone stays as
    it is where there is one rank.

    A segment begins at a multiple of `align` elements, and the whole has a
    multiple of it. Elements between segments are zero: programs write them with
    the parts, and updates keep them (with `eps` 0 those of adamw and adam are
    0 / 0, which nothing reads).

    - A read of a part becomes a slice of the read of the whole.
    - Writes of parts become a `weft.concat` with zeros in the gaps, whose pieces
      `weft-lower-to-plan` has written in place: a gradient is added at its
      offset.
    - Updates, and casts to working copies, of all parts become one op of the
      whole. Its elements have the same bits as before.
    - The norm reads the parts in the order and shapes they had, so its bits are
      the same (`weft-decompose` makes one piece of neighbours).

    In a module with a `dist.mesh` every parameter lies in a bucket, also one that
    is alone, with those of the same layout and the same factors: a range of
    elements lies elsewhere in each slice. Those that a `dist.rule` keeps whole at
    every stage are apart at every stage, so that buckets do not depend on it. The
    whole has as many multiples of `align` elements for each rank, so that slices are
    equal.

    Precondition: `weft-working-copies`. Guarantees: names of checkpoints, weight
    files and messages are those of before; layouts are those of the parts.

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
    It does not choose kernels, and a state without a parameter (the step, the
    loss scale) stays as it is.
  }];
  let options = [
    Option<"rule", "rule", "std::string", "\"scope\"", "Units: scope, bytes:N or params:N">,
    Option<"align", "align", "int64_t", "128", "Elements that a segment is aligned to">,
    Option<"explain", "explain", "bool", "false",
           "Remark on each parameter in a bucket who holds what of it, why, and where it lies">,
  ];
  let statistics = [
    Statistic<"numBuckets", "buckets", "Flat parameters made">,
    Statistic<"numMembers", "members", "Parameters that lie in them">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

def PartitionPass : Pass<"weft-partition", "::mlir::ModuleOp"> {
  let summary = "Make collectives explicit";
  let description = [{
    What ranks tell each other becomes ops, by the layouts of parameters and
    states. Gradients become those of all ranks in the program `apply`:

    - each flat gradient is reduced to the slice that a rank owns, the mean over
      all ranks in their order. Of a mesh of replicas, the slices of one replica
      are reduced along `shard`, then over `replica`, where replicas divide a slice
      between them and gather it. One that is sharded is reduced before: in
      `micro`, behind its last part;
    - norms and checks are of slices. What ranks found is joined by one message:
      sums of powers in the order of ranks, then one root, and whether any rank
      found a value that is not finite, or had gradients of layers that may be
      dropped;
    - updates of whole parameters read slices of all ranks, gathered.

    The program `denominators` joins the counts of all ranks in one message and
    divides them by the number of ranks. With `accumulates` it does so
    for the last micro-batch of a step; those before it are a program
    `denominators_keep` (test/Sharding/partition-losses.mlir). Both gather class
    weights that are sharded.

    A step may have several micro-steps (`accumulates`). With `sync=each` all of
    them reduce sharded gradients, and add the slice to that of those before. With
    `sync=last` a rank adds up its own in a state `NAME.sum`, of the kind
    `accumulator`, and only the last one reduces what is there: those before it are a
    program `micro_keep` (test/Sharding/partition-micro.mlir).

    A parameter or state that is sharded (ZeRO stages 1 to 3) becomes one of a slice:

    - updates, and casts to working copies, are of slices;
    - initial values are drawn for the own slice alone (`weft.random_slice`,
      test/Sharding/partition-init.mlir); what else a program makes of it is made whole,
      and each rank keeps its slice;
    - ops of a forward pass read what ranks gather just before the first of them,
      those of a backward pass what ranks gather again, or what is in none of
      `reshard-scopes` the same. So with `reshard=false` all is; then the first micro-step keeps it in a state `NAME.gathered`, and
      programs for later ones, `micro_later` and `micro_later_keep`, read that and
      gather nothing;
    - a whole working copy of a sharded parameter (stages 1 and 2) is no state any
      more: what reads it gathers slices that are rounded first.

    All stages add up in the same order: their weights have the same bits.

    Precondition: `weft-bucket`, if there is a mesh. Without one the pass does
    nothing. Guarantees: all ranks make the same collectives in the same order, and
    end a step with the same bits.

    Errors, on the op: a parameter or state without layout, a gradient or sharded
    state that is not a flat one of equal slices, a norm of something else than
    gradients, a check below what reads another one or presence, another use of
    presence than a comparison with zero.

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
    It does not order collectives by their cost.
  }];
  let options = [
    Option<"reshard", "reshard", "bool", "true",
           "Gather again for the backward pass, and keep nothing between">,
    ListOption<"reshardScopes", "reshard-scopes", "std::string",
               "With reshard: gather again the parameters of these modules alone, each of which "
               "uses a flat state that no other does">,
    Option<"accumulates", "accumulates", "bool", "true",
           "Whether a step may have several micro-steps">,
    Option<"sync", "sync", "std::string", "\"last\"",
           "Micro-steps that reduce sharded gradients: each, or the last one: until then every "
           "rank adds up its own">,
    Option<"reduceDtype", "reduce-dtype", "std::string", "\"auto\"",
           "Type that gradients are reduced in, rounded before the sum: f32, f16, bf16 or "
           "auto, theirs">,
    Option<"gatherDtype", "gather-dtype", "std::string", "\"auto\"",
           "Type that wider trained parameters and their copies are gathered in: f32, f16, "
           "bf16 or auto, theirs">,
  ];
  let statistics = [
    Statistic<"numBuckets", "buckets", "Gradients that are reduced">,
    Statistic<"numLosses", "losses", "Losses whose denominators are those of all ranks">,
    Statistic<"numSlices", "slices", "States of which each rank holds a slice">,
  ];
  let dependentDialects = ["::weft::WeftDialect", "::weft::dist::DistDialect"];
}

#endif // WEFT_SHARDING_PASSES_TD
