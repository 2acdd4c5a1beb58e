//===- weft-opt.cpp - Runs weft passes on a file --------------------------===//

#include "weft/Base/InputFile.h"
#include "weft/Base/OutputFile.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Pipeline/Driver/InitAll.h"
#include "weft/Pipeline/Driver/Plugins.h"
#include "weft/Support/ToolMain.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "llvm/Support/CommandLine.h"

using namespace weft;

static Status checkOutput(const std::string &input, const std::string &output,
                          bool overwrites) {
  const std::vector<FileUse> outputs = {{"-o", output}};
  if (Status status =
          checkOutputPaths(outputs, {{"the input", input}}, manifestName);
      !status)
    return status;
  return checkReplaced(outputs, overwrites);
}

/// Text gets the seal by which it may be replaced; bytecode has no comments.
static Status writeResult(const std::string &from, const std::string &output) {
  auto text = readFile(from, std::numeric_limits<int64_t>::max());
  if (!text)
    return text.takeError();
  const bool isBytecode = text->compare(0, 4, "ML\xefR") == 0;
  return writeFile(output,
                   isBytecode ? *text : sealText(std::move(*text), "//"));
}

/// MLIR ignores a plug-in that it cannot load, and exits with 0.
static Status checkPlugins(llvm::ArrayRef<char *> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    llvm::StringRef arg = args[i];
    if (!arg.consume_front("-"))
      continue;
    arg.consume_front("-");
    auto [flag, path] = arg.split('=');
    if (flag != "load-dialect-plugin" && flag != "load-pass-plugin")
      continue;
    if (!arg.contains('=') && i + 1 < args.size())
      path = args[++i];
    if (Status status = checkPlugin(path.str()); !status)
      return status;
  }
  return Status::success();
}

static int run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  if (Status status = checkPlugins({argv + 1, argv + argc}); !status)
    return status.error().report();
  llvm::cl::opt<bool> overwrites(
      "overwrite",
      llvm::cl::desc("Let the output replace a file that weft did not write"));
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "weft pass driver\n", registry);
  if (output == "-" || isWrittenInPlace(output))
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, output, registry));
  if (Status status = checkOutput(input, output, overwrites); !status)
    return status.error().report();
  auto temporary = Temporary::file(output + ".tmp");
  if (!temporary)
    return temporary.takeError().at(output).report();
  if (failed(mlir::MlirOptMain(argc, argv, input, temporary->path(), registry)))
    return mlir::asMainReturnCode(llvm::failure());
  Status status = writeResult(temporary->path(), output);
  return status ? 0 : status.error().report();
}

int main(int argc, char **argv) {
  return runTool([&] { return run(argc, argv); });
}
