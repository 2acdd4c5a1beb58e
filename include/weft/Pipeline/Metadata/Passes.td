//===- Passes.td - Metadata of an executable ---------------*- tablegen -*-===//

#ifndef WEFT_PIPELINE_METADATA_PASSES_TD
#define WEFT_PIPELINE_METADATA_PASSES_TD

include "mlir/Pass/PassBase.td"

def DescribeExecutablePass : Pass<"weft-describe-executable", "::mlir::ModuleOp"> {
  let summary = "Write the metadata of the executable";
  let description = [{
    Builds the JSON text of docs/reference/executable.md from the module (model,
    options, optimizer, memory report, parameter table) and stores it in the
    attribute `weft.metadata`. Precondition: memory is planned. The text
    contains no path, time or location.
  }];
}

#endif // WEFT_PIPELINE_METADATA_PASSES_TD
