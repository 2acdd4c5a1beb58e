//===- Passes.td - Passes of the driver --------------------*- tablegen -*-===//

#ifndef WEFT_PIPELINE_PASSES_TD
#define WEFT_PIPELINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyContractPass : Pass<"weft-verify-contract", "::mlir::ModuleOp"> {
  let summary = "Check what a phase promises";
  let description = [{
    Checks the contract of one phase of the phase table on the module and fails
    with an error on the op that breaks it. Changes nothing. The driver runs it
    after every phase.
  }];
  let options = [Option<"phase", "phase", "std::string", "",
                        "name of the phase, as in the phase table">];
}

def DescribeExecutablePass : Pass<"weft-describe-executable", "::mlir::ModuleOp"> {
  let summary = "Write the metadata that the executable carries";
  let description = [{
    Builds the JSON text of docs/executable.md from the module (model, options,
    optimizer, memory report, parameter table) and keeps it as the attribute
    `weft.metadata`. Precondition: memory is planned. Holds no path, time or
    location.
  }];
}

def DescribeLaunchesPass : Pass<"weft-describe-launches", "::mlir::ModuleOp"> {
  let summary = "Add the launches of a device's kernels to the metadata";
  let description = [{
    Adds `launches` of docs/executable.md to the attribute `weft.metadata`: the grid
    and block that each kernel of the `gpu.module` is written for. Preconditions:
    `weft-describe-executable`, and `weft-lower-to-cuda` behind it.

    Example: test/Pipeline/describe-launches.mlir.
  }];
}

#endif // WEFT_PIPELINE_PASSES_TD
