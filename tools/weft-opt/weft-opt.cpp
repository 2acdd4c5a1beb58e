//===- weft-opt.cpp - Runs weft passes on a file --------------------------===//

#include "weft/Formats/OutputPaths.h"
#include "weft/Formats/StandardStreams.h"
#include "weft/Pipeline/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/ErrorHandling.h"

#include <unistd.h>

using namespace weft;

/// LLVM ends the program when a stream that could not be written goes away. A
/// reader that has seen enough (`weft-opt ... | head`) is no word.
static void onFatalError(void *, const char *reason, bool) {
  llvm::StringRef text(reason);
  bool isOutput = text.starts_with("IO failure on output");
  Error error(isOutput ? ExitCode::Storage : ExitCode::Internal, reason);
  if (isOutput && text.ends_with("Broken pipe"))
    ::_exit(error.exitStatus());
  ::_exit(error.report());
}

int main(int argc, char **argv) {
  reserveStandardStreams();
  // For good: standard output is closed behind main.
  llvm::install_fatal_error_handler(onFatalError);
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
  return finishOutput(mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry)));
}
