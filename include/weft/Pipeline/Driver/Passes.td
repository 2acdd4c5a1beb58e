//===- Passes.td - Contracts of phases ---------------------*- tablegen -*-===//

#ifndef WEFT_PIPELINE_DRIVER_PASSES_TD
#define WEFT_PIPELINE_DRIVER_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyContractPass : Pass<"weft-verify-contract", "::mlir::ModuleOp"> {
  let summary = "Check the contract of a phase";
  let description = [{
    Checks the contract of one phase of the phase table on the module and fails
    with an error on the op that breaks it. Changes nothing. The driver runs it
    after every phase.
  }];
  let options = [Option<"phase", "phase", "std::string", "",
                        "name of the phase, as in the phase table">];
}

#endif // WEFT_PIPELINE_DRIVER_PASSES_TD
