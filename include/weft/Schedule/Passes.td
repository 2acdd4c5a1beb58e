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

#endif // WEFT_SCHEDULE_PASSES_TD
