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

    It does not move anything. The estimate of a command without `flops` is its
    traffic.
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [
    Option<"costTable", "cost-table", "std::string", "\"\"", "TOML file with the machine's speeds">,
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
