//===- Passes.td - What ranks share, and in which pieces ---*- tablegen -*-===//

#ifndef WEFT_SHARDING_PASSES_TD
#define WEFT_SHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

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
      that are no units, the inner ones first; lists of blocks never are, and the
      rest is one unit.

    Stored alike means: one element type, all trainable or all frozen, the same
    states with the same element types. Updated alike means: by the same
    optimizer instance, with the same numbers. Weight decay and factor of the
    learning rate may differ: the update then takes `factors` by range of elements,
    neighbours with the same ones in one range. A parameter that is alone stays as
    it is.

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

    Precondition: `weft-working-copies`, one rank. Guarantees: names of
    checkpoints, weight files and messages are those of before.

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
  ];
  let statistics = [
    Statistic<"numBuckets", "buckets", "Flat parameters made">,
    Statistic<"numMembers", "members", "Parameters that lie in them">,
  ];
  let dependentDialects = ["::weft::WeftDialect"];
}

#endif // WEFT_SHARDING_PASSES_TD
