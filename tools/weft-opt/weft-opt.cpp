//===- weft-opt.cpp - Runs weft passes on a file --------------------------===//

#include "weft/Formats/OutputPaths.h"
#include "weft/Pipeline/InitAll.h"
#include "weft/Support/ToolMain.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace weft;

static int run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "weft pass driver\n", registry);
  if (output != "-")
    if (Status status =
            checkOutputPaths({{"-o", output}}, {{"the input", input}});
        !status)
      return status.error().report();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}

int main(int argc, char **argv) {
  return runTool([&] { return run(argc, argv); });
}
