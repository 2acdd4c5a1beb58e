//===- Passes.td - Time and order of commands --------------*- tablegen -*-===//

#ifndef WEFT_SCHEDULE_PASSES_TD
#define WEFT_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def EstimatePass : Pass<"weft-estimate", "::mlir::ModuleOp"> {
  let summary = "Estimate the time of every command";
  let description = [{
    Sets `est_us` on every command of every plan program: a fixed overhead plus
    the longer of arithmetic (`flops`) and memory traffic (bytes read and
    written). A command without `flops` has only the traffic term.

    The rates `gflops`, `gigabytes_per_second` and `overhead_us` come from a
    TOML file and are never measured in the pass, so that every rank gets the
    same program. Tables of the file override the rates at the top level: for an
    element type (`[bf16]`), a kind of command (`[gemm]`), and both
    (`[gemm.bf16]`). A later table of this list overrides an earlier one. A
    launch has up to three kinds: `launch`, the iteration space of its kernel,
    and the op whose formula the kernel computes (`[rope]`). A more special kind
    overrides a more general one.

    Attention with `gigascores_per_second` takes its overhead plus the sum of
    arithmetic, scores and traffic. With `threads` it takes as long as the
    thread with most units of work.

    Before:
    ```mlir
    plan.copy %x to %y : memref<1024xf32> to memref<1024xf32>
    ```
    After: the copy has `est_us = 1.18...`.

    The estimate of a collective among several ranks is `latency_us` plus the
    time in which a rank sends its bytes at `gigabytes_per_second`. The second
    term is also recorded as `link_us`. Both rates come from `[link]`. The table
    of the command's kind overrides them (`overhead_us` is then the latency),
    and `[link.AXIS]` overrides that for ranks along an axis.

    With `cluster`, the estimate of a collective follows from the links within
    and between nodes, and from the algorithm of the collective. Ranks are
    numbered node by node. `link` names the link that the collective shares with
    others, "node" or "network". `ranks_per_core` multiplies the estimates of
    all computation.

    Without a table, and without `costs` in the cluster, the rates are the known
    rates of two x86 cores, or of one H100 with `rates=h100`.

    The pass does not move commands.
  }];
  // Names of weft ops are kinds of kernels in a cost table.
  let dependentDialects = ["::weft::plan::PlanDialect", "::weft::WeftDialect"];
  let options = [
    Option<"costTable", "cost-table", "std::string", "\"\"", "TOML file with the rates of the machine">,
    Option<"cluster", "cluster", "std::string", "\"\"", "TOML file with the nodes and links of a cluster">,
    Option<"rates", "rates", "std::string", "\"cpu\"", "Rates without a table: cpu or h100">,
  ];
}

def ChooseReductionsPass : Pass<"weft-choose-reductions", "::mlir::ModuleOp"> {
  let summary = "Choose between ordered and native reductions";
  let description = [{
    An ordered reduction sends the shards of each rank to their owners. An owner
    adds them in rank order, so all layouts give the same bits, but every shard
    crosses the links between nodes. In a `native` reduction the communication
    library sums along a ring, which enters each node once.

    With `reduction=auto`, a reduction among ranks on several nodes of the
    `cluster` is native. Without a cluster, a reduction along the first of two
    axes (replicas) is native.

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
    Option<"reduction", "reduction", "::weft::Reduction", "::weft::Reduction::Auto",
           "auto, ordered or native", [{::llvm::cl::values(
               clEnumValN(::weft::Reduction::Auto, "auto", "native across nodes"),
               clEnumValN(::weft::Reduction::Ordered, "ordered", "in the order of ranks"),
               clEnumValN(::weft::Reduction::Native, "native", "by the collective library"))}]>,
    Option<"cluster", "cluster", "std::string", "\"\"", "TOML file with the nodes of a cluster">,
  ];
  let statistics = [
    Statistic<"numNative", "native", "Number of native reductions">,
  ];
}

def SplitAsyncPass : Pass<"weft-split-async", "::mlir::ModuleOp"> {
  let summary = "Make collectives asynchronous";
  let description = [{
    Moves gathers among several ranks to stream 3 and reductions to stream 4,
    each with separate communicators, so that they can overlap with computation
    (stream 0). A gather of a reduced gradient belongs to its reduction.

    A collective begins when all commands above it are done (`@ready`). An event
    named after its parameters or gradients records that it is done. Stream 0
    waits for the event right after the collective: nothing overlaps yet. There
    is one wait for consecutive collectives of one stream.

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

    Collectives of numbers (`plan.all_reduce`) stay in stream 0, because
    computation needs their results at once. The pass does not move commands.
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"shareStream", "share-stream", "bool", "false", "Use one stream for gathers and reductions">,
  ];
}

def SchedulePass : Pass<"weft-schedule", "::mlir::ModuleOp"> {
  let summary = "Move collectives so that they overlap with computation";
  let description = [{
    Moves the collectives that `weft-split-async` made asynchronous, and the
    commands that only they need or that only depend on them. The order of all
    other commands stays.

    - A **unit** is a sequence of gathers for one block ("h.0"). The gathers of
      the next `prefetch` units begin before the wait for a unit, in the order
      of their uses, in the forward and in the backward pass: `prefetch` + 1
      units are in memory at once. Casts of shards for a gather move with it.
    - `prefetch-backward` is a separate prefetch depth for the backward pass,
      which gathers again, and for reductions. With `prefetch-max`, a gather
      with exposed time in the estimates begins one unit earlier. This repeats,
      up to that depth, as long as the estimated program gets shorter.
    - A reduction begins in its place, after its last gradient, and the program
      waits for it as late as possible. If its source is a temporary, the
      wait comes before the `prefetch`-th next unit is reduced, so that at most
      `prefetch` units are in flight. If its source is a state, it holds no
      extra memory, and the wait is at the end of the program. Commands that
      depend on its result come after the wait.
    - Gathers of values that the program computes, such as updated parameters,
      are handled like reductions.
    - With `in-turn`, no two collectives overlap: a collective waits for the one
      before it if that is in another stream.

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

    Precondition: buffers have no offsets yet. With `prefetch=0` a unit is
    gathered when it is needed, and all other collectives are synchronous.
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"prefetch", "prefetch", "int64_t", "1", "Prefetch depth in units, for gathers and for reductions in flight">,
    Option<"prefetchBackward", "prefetch-backward", "int64_t", "-1", "Prefetch depth of the backward pass; below 0: as `prefetch`">,
    Option<"prefetchMax", "prefetch-max", "int64_t", "0", "Largest prefetch depth, for gathers that are exposed in the estimates">,
    Option<"inTurn", "in-turn", "bool", "false", "Do not let collectives overlap each other">,
  ];
}

def MarkBesideCollectivesPass : Pass<"weft-mark-beside-collectives", "::mlir::ModuleOp"> {
  let summary = "Mark products that overlap with collectives";
  let description = [{
    For a device on which collectives are kernels: they take processors from
    concurrent products. `beside_collectives` on a `plan.gemm` says that a
    collective of another stream may be in flight while the product runs: stream
    0 has started it and has not waited for it yet. The runtime limits such a
    product to the processors that collectives leave free, if the limit does not
    change its bits (docs/how-to/several-gpus.md).

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

    Precondition: the order of commands is final. The pass does not move
    commands. It changes nothing without a mesh of several ranks.
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"ctas", "ctas", "int64_t", "16", "CTAs that collectives may use, from 1 to 64">,
  ];
  let statistics = [
    Statistic<"numMarked", "num-marked", "Products that overlap with a collective">,
    Statistic<"numAlone", "num-alone", "Products that overlap with no collective">,
  ];
}

def AssignStreamsPass : Pass<"weft-assign-streams", "::mlir::ModuleOp"> {
  let summary = "Make copies to and from the host stream commands";
  let description = [{
    For a target that runs asynchronously to the host. Its programs get three
    streams, compute (0), upload (1) and readback (2); copies and events become
    commands.

    Stream 1 copies inputs to the staging part of the arena. The program copies
    them from there to its buffers, so that the inputs of the next run are
    uploaded while this run computes. Outputs of at most `staged-bytes` bytes
    are in the staging part, from which stream 2 reads them back while the next
    run computes. The first command that uses one waits until the results of the
    run before have arrived. Outputs that are states, inputs or buffers of
    another stream than 0 are copied to the staging part. Larger outputs are
    read back from their own buffers, and the next run waits until that is done.

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
      %y = plan.staging : memref<4xf32>
      plan.wait @placed {stream = 1 : i64}
      plan.upload %x {stream = 1 : i64} : memref<4xf32>
      plan.record @uploaded {stream = 1 : i64}
      plan.wait @uploaded
      plan.copy %x to %0 : memref<4xf32> to memref<4xf32>
      plan.record @placed
      plan.wait @arrived
      plan.copy %0 to %y : memref<4xf32> to memref<4xf32>
      plan.record @gathered
      plan.wait @gathered {stream = 2 : i64}
      plan.readback %y {stream = 2 : i64} : memref<4xf32>
      plan.record @arrived {stream = 2 : i64}
      plan.output "y" %y : memref<4xf32>
    }
    ```

    Precondition: no command has a stream. The pass does not move commands.
    Commands that compute stay in stream 0.
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"stagedBytes", "staged-bytes", "int64_t", "65536",
           "Largest output, in bytes, that is staged before it is read back">,
  ];
}

#endif // WEFT_SCHEDULE_PASSES_TD
