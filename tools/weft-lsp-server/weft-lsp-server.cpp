//===- weft-lsp-server.cpp - Language server for weft files ---------------===//
//
// Editors start it for .mlir files: errors while typing, go to definition,
// hover. The protocol runs on standard input and output.
//
//===----------------------------------------------------------------------===//

#include "weft/Pipeline/Driver/InitAll.h"
#include "weft/Support/ToolMain.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

static int run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  weft::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}

int main(int argc, char **argv) {
  return weft::runTool([&] { return run(argc, argv); });
}
