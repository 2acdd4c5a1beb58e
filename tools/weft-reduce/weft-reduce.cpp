//===- weft-reduce.cpp - Makes a failing weft file smaller ----------------===//
//
// Keeps the part of a file that a test script calls interesting; see
// docs/how-to/contributing.md.
//
//===----------------------------------------------------------------------===//

#include "weft/Pipeline/Driver/InitAll.h"
#include "weft/Support/ToolMain.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

static int run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  weft::registerAllDialects(registry);
  weft::registerAllPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context)) ? 1 : 0;
}

int main(int argc, char **argv) {
  return weft::runTool([&] { return run(argc, argv); });
}
