//===- Passes.td - Time and order of commands --------------*- tablegen -*-===//

#ifndef WEFT_SCHEDULE_PASSES_TD
#define WEFT_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def EstimatePass : Pass<"weft-estimate", "::mlir::ModuleOp"> {
  let summary = "Estimate the time of every command";
  let description = [{
    Sets `est_us` on every command of every plan program: a fixed overhead plus
    the longer of arithmetic (`flops`) and memory traffic (bytes read and
    written). The rates `gflops`, `gigabytes_per_second` and `overhead_us` come
    from a TOML file, never from measuring, so that every rank gets the same
    program. The tables of the file give rates of an element type (`[bf16]`), of a
    kind of command (`[gemm]`) and of both (`[gemm.bf16]`); a kind's win over a
    type's, and what no table gives is that of the top level.

    Before:
    ```mlir
    plan.copy %x to %y : memref<1024xf32> to memref<1024xf32>
    ```
    After: the copy has `est_us = 1.18...`.

    A collective among several ranks takes `latency_us` and the time in which a rank
    sends to the others at `gigabytes_per_second`, both of `[link]`, of `[link.AXIS]`
    for ranks along an axis, or (`overhead_us`) of its kind, which wins over all links but not
    over an axis; `link_us` is the second part.

    With `cluster` a collective takes what the links inside of nodes and between them
    give, and the way it goes: ranks are numbered node by node, and `link` is the one that
    it shares with others, "node" or "network". `ranks_per_core` makes
    all that is computed as many times longer.

    Without a table, and without `costs` in the cluster, speeds are those of two x86
    cores, or with `rates=h100` those of one H100.

    It does not move anything. The estimate of a command without `flops` is its
    traffic.
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"costTable", "cost-table", "std::string", "\"\"", "TOML file with the machine's speeds">,
    Option<"cluster", "cluster", "std::string", "\"\"", "TOML file with the nodes and links of a cluster">,
    Option<"rates", "rates", "std::string", "\"cpu\"", "speeds without a table: cpu or h100">,
  ];
}

def ChooseReductionsPass : Pass<"weft-choose-reductions", "::mlir::ModuleOp"> {
  let summary = "Choose which reductions the library between devices adds";
  let description = [{
    An ordered reduction moves each rank's pieces to their owner, which adds them in
    the order of ranks: all layouts have equal bits, but every piece crosses the links
    between nodes. A `native` one sums along a ring, which enters each node once.

    With `reduction=auto` a reduction among ranks on several nodes of the `cluster` is
    native. Without a cluster, one along the first of two axes (replicas) is.

    Before:
    ```mlir
    plan.reduce_scatter %f to %s by 2.0, 1.0 among 2 along "replica" : memref<8xf32> to memref<4xf32>
    ```
    After:
    ```mlir
    plan.reduce_scatter %f to %s by 2.0, 1.0 native among 2 along "replica" : memref<8xf32> to memref<4xf32>
    ```
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"reduction", "reduction", "std::string", "\"auto\"", "auto, ordered or native">,
    Option<"cluster", "cluster", "std::string", "\"\"", "TOML file with the nodes of a cluster">,
  ];
  let statistics = [
    Statistic<"numNative", "native", "Reductions that the library adds">,
  ];
}

def SplitAsyncPass : Pass<"weft-split-async", "::mlir::ModuleOp"> {
  let summary = "Start and wait of collectives";
  let description = [{
    Gives gathers among several ranks stream 3 and reductions stream 4, each with
    communicators of its own, so that they run beside what computes (stream 0).
    A gather of what was just reduced is a part of the reduction.

    A collective begins when all commands above it are done (`@ready`), and an
    event with the name of its parameters or gradients says that it is done, for
    which stream 0 waits right behind it: nothing overlaps yet. Collectives of one
    stream in a row are waited for as one.

    Before:
    ```mlir
    plan.state param @fc : memref<4xf32>
    plan.program "eval" @eval {
      %s = plan.use @fc : memref<4xf32>
      %w = plan.alloc temporary : memref<8xf32>
      %y = plan.alloc temporary : memref<8xf32>
      plan.all_gather %s to %w among 2 : memref<4xf32> to memref<8xf32>
      plan.copy %w to %y : memref<8xf32> to memref<8xf32>
      plan.output "y" %y : memref<8xf32>
    }
    ```
    After:
    ```mlir
    plan.state param @fc : memref<4xf32>
    plan.event @ready on 0
    plan.event @fc.gather on 3
    plan.program "eval" @eval {
      %s = plan.use @fc : memref<4xf32>
      %w = plan.alloc temporary : memref<8xf32>
      %y = plan.alloc temporary : memref<8xf32>
      plan.record @ready
      plan.wait @ready {stream = 3 : i64}
      plan.all_gather %s to %w among 2 {stream = 3 : i64} : memref<4xf32> to memref<8xf32>
      plan.record @fc.gather {stream = 3 : i64}
      plan.wait @fc.gather
      plan.copy %w to %y : memref<8xf32> to memref<8xf32>
      plan.output "y" %y : memref<8xf32>
    }
    ```

    Collectives of numbers (`plan.all_reduce`) stay in stream 0: what computes
    needs them at once. It does not move anything.
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"shareStream", "share-stream", "bool", "false", "Gathers and reductions are in one stream">,
  ];
}

def SchedulePass : Pass<"weft-schedule", "::mlir::ModuleOp"> {
  let summary = "Order of collectives, so that they run beside what computes";
  let description = [{
    Moves collectives of the streams of `weft-split-async`, and what only they
    need or only follows from them; the order of all other commands stays.

    - A **unit** is what is gathered in a row for one block ("h.0"). The gathers
      of the `prefetch` units behind a unit begin before that unit is waited for,
      in the order in which they are needed, in the forward and in the backward
      pass alike: `prefetch` + 1 units are there at once. Casts of slices for a
      gather go with it.
    - The backward pass, which gathers again, may have a number of its own
      (`prefetch-backward`; reductions follow it). With `prefetch-max` a gather that
      the program waits for, by the estimates, begins a unit earlier, and again up to
      so many, as long as the program gets shorter.
    - A reduction begins at its last gradient, where it stands, and is waited for
      as late as possible: where `prefetch` further units are about to be
      reduced, so that as many are under way (gradients that are states of the
      program need no such bound), else at the end. What follows from its result
      comes then.
    - The same holds for gathers of what the program has just computed, such as
      updated parameters.
    - With `in-turn` no two collectives overlap: one in another stream than the
      collective before it waits for that.

    Before (`weft-split-async`, two layers):
    ```mlir
    plan.state param @a : memref<4xf32>
    plan.state param @b : memref<4xf32>
    plan.event @ready on 0
    plan.event @a.gather on 3
    plan.event @b.gather on 3
    plan.program "eval" @eval {
      %a = plan.use @a : memref<4xf32>
      %b = plan.use @b : memref<4xf32>
      %wa = plan.alloc temporary : memref<8xf32>
      %wb = plan.alloc temporary : memref<8xf32>
      %x = plan.alloc temporary : memref<8xf32>
      %y = plan.alloc temporary : memref<8xf32>
      plan.record @ready
      plan.wait @ready {stream = 3 : i64}
      plan.all_gather %a to %wa among 2 {scope = "h.0", stream = 3 : i64} : memref<4xf32> to memref<8xf32>
      plan.record @a.gather {stream = 3 : i64}
      plan.wait @a.gather
      plan.copy %wa to %x : memref<8xf32> to memref<8xf32>
      plan.record @ready
      plan.wait @ready {stream = 3 : i64}
      plan.all_gather %b to %wb among 2 {scope = "h.1", stream = 3 : i64} : memref<4xf32> to memref<8xf32>
      plan.record @b.gather {stream = 3 : i64}
      plan.wait @b.gather
      plan.copy %wb to %y : memref<8xf32> to memref<8xf32>
      plan.output "x" %x : memref<8xf32>
      plan.output "y" %y : memref<8xf32>
    }
    ```
    After:
    ```mlir
    plan.state param @a : memref<4xf32>
    plan.state param @b : memref<4xf32>
    plan.event @ready on 0
    plan.event @a.gather on 3
    plan.event @b.gather on 3
    plan.program "eval" @eval {
      %a = plan.use @a : memref<4xf32>
      %b = plan.use @b : memref<4xf32>
      %wa = plan.alloc temporary : memref<8xf32>
      %wb = plan.alloc temporary : memref<8xf32>
      %x = plan.alloc temporary : memref<8xf32>
      %y = plan.alloc temporary : memref<8xf32>
      plan.record @ready
      plan.wait @ready {stream = 3 : i64}
      plan.all_gather %a to %wa among 2 {scope = "h.0", stream = 3 : i64} : memref<4xf32> to memref<8xf32>
      plan.record @a.gather {stream = 3 : i64}
      plan.all_gather %b to %wb among 2 {scope = "h.1", stream = 3 : i64} : memref<4xf32> to memref<8xf32>
      plan.record @b.gather {stream = 3 : i64}
      plan.wait @a.gather
      plan.copy %wa to %x : memref<8xf32> to memref<8xf32>
      plan.wait @b.gather
      plan.copy %wb to %y : memref<8xf32> to memref<8xf32>
      plan.output "x" %x : memref<8xf32>
      plan.output "y" %y : memref<8xf32>
    }
    ```

    Precondition: buffers have no offsets yet. With `prefetch=0` a unit is gathered when
    it is needed, and all other collectives are waited for where they begin.
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"prefetch", "prefetch", "int64_t", "1", "Units that are gathered ahead, and units under reduction">,
    Option<"prefetchBackward", "prefetch-backward", "int64_t", "-1", "The same of the backward pass; below 0: as many">,
    Option<"prefetchMax", "prefetch-max", "int64_t", "0", "Units that are gathered ahead at most, where a gather is exposed by the estimates">,
    Option<"inTurn", "in-turn", "bool", "false", "Collectives do not overlap each other">,
    Option<"explain", "explain", "bool", "false", "Remark at each collective beside what it runs">,
  ];
}

def MarkBesideCollectivesPass : Pass<"weft-mark-beside-collectives", "::mlir::ModuleOp"> {
  let summary = "Mark products that run beside collectives";
  let description = [{
    For a device whose collectives are kernels: they take processors from the
    products beside them. `beside_collectives` on a `plan.gemm` says that a
    collective of another stream may be in flight while the product runs: stream
    0 has begun it and has not waited for it yet. The runtime limits such a
    product to the processors that collectives leave, if the limit changes no
    bit (docs/several-gpus.md).

    `plan.collective_ctas` on the module is the number of CTAs that collectives
    may use. The runtime gives it to the communicators, and plans all products
    for the other processors. A mesh with several ranks always has it, so that
    the algorithms of products do not depend on the schedule.

    Before (`weft-schedule`, a mesh of two ranks):
    ```mlir
    dist.mesh @mesh("dp" = 2)
    plan.event @w.gather on 3
    plan.program "eval" @eval {
      %s = plan.alloc temporary : memref<2xf32>
      %w = plan.alloc temporary : memref<4xf32>
      %x = plan.alloc temporary : memref<2x2xf32>
      %y = plan.alloc temporary : memref<2x2xf32>
      plan.all_gather %s to %w among 2 {stream = 3 : i64} : memref<2xf32> to memref<4xf32>
      plan.record @w.gather {stream = 3 : i64}
      plan.gemm %x * %x -> %y : memref<2x2xf32> * memref<2x2xf32> -> memref<2x2xf32>
      plan.wait @w.gather
    }
    ```
    After: the module has `plan.collective_ctas = 16 : i64`, and the product has
    `beside_collectives`.

    Precondition: the order of commands is final. It does not move anything.
    Without a mesh of several ranks it changes nothing.
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"ctas", "ctas", "int64_t", "16", "CTAs that collectives may use, from 1 to 64">,
  ];
  let statistics = [
    Statistic<"numMarked", "num-marked", "Products beside a collective">,
    Statistic<"numAlone", "num-alone", "Products beside none">,
  ];
}

def AssignStreamsPass : Pass<"weft-assign-streams", "::mlir::ModuleOp"> {
  let summary = "Make copies to and from the host commands of streams";
  let description = [{
    For a target that works beside the host: its programs get three streams,
    compute (0), upload (1) and readback (2), and their copies and events are
    commands.

    Inputs come to the staging part of the arena in stream 1 and go from there to
    buffers of the program, which its commands read: the next run's inputs come
    while this one computes. Outputs of at most `staged-bytes` go to the staging
    part, from which stream 2 brings them to the host while the next run computes.
    Larger ones are brought from where they are, and the next run waits for that.

    Before:
    ```mlir
    plan.program "eval" @eval {
      %x = plan.input "x" : memref<4xf32>
      %y = plan.alloc temporary : memref<4xf32>
      plan.copy %x to %y : memref<4xf32> to memref<4xf32>
      plan.output "y" %y : memref<4xf32>
    }
    ```
    After:
    ```mlir
    plan.event @uploaded on 1
    plan.event @placed on 0
    plan.event @gathered on 0
    plan.event @arrived on 2
    plan.program "eval" @eval {
      %x = plan.input "x" : memref<4xf32>
      %0 = plan.alloc temporary : memref<4xf32>
      %y = plan.alloc temporary : memref<4xf32>
      %1 = plan.staging : memref<4xf32>
      plan.wait @placed {stream = 1 : i64}
      plan.upload %x {stream = 1 : i64} : memref<4xf32>
      plan.record @uploaded {stream = 1 : i64}
      plan.wait @uploaded
      plan.copy %x to %0 : memref<4xf32> to memref<4xf32>
      plan.record @placed
      plan.copy %0 to %y : memref<4xf32> to memref<4xf32>
      plan.wait @arrived
      plan.copy %y to %1 : memref<4xf32> to memref<4xf32>
      plan.record @gathered
      plan.wait @gathered {stream = 2 : i64}
      plan.readback %1 {stream = 2 : i64} : memref<4xf32>
      plan.record @arrived {stream = 2 : i64}
      plan.output "y" %1 : memref<4xf32>
    }
    ```

    Precondition: no command has a stream. It does not move commands, and gives
    those that compute no other stream than 0.
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"stagedBytes", "staged-bytes", "int64_t", "65536",
           "Outputs of at most so many bytes are copied before they are read back">,
  ];
}

#endif // WEFT_SCHEDULE_PASSES_TD
