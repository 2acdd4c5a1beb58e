//===- ExtPasses.td - Passes of ext ------------------------*- tablegen -*-===//

#ifndef EXT_PASSES_TD
#define EXT_PASSES_TD

include "mlir/Pass/PassBase.td"

def UseSoftsignPass : Pass<"ext-use-softsign", "::mlir::ModuleOp"> {
  let summary = "Replace weft.relu by ext.softsign";
  let description = [{
    Runs on the model, before `autodiff`: gradients follow from the new op.
  }];
  let dependentDialects = ["::ext::ExtDialect"];
}

#endif // EXT_PASSES_TD
