//===- MlirFlags.cpp - --mlir-* flags of the driver -----------------------===//

#include "MlirFlags.h"

#include "DeviceTarget.h"

#include "weft/Base/Text.h"
#include "weft/Pipeline/Driver/InitAll.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;

Expected<FlagValues> weft::parseModelFlags(const FlagTable &table,
                                           const char *program,
                                           const std::vector<std::string> &args,
                                           FlagParseOptions options) {
  options.program = program;
  options.passThroughPrefix = "mlir-";
  options.maxPositionals = 1;
  Expected<FlagValues> flags = table.parse(args, options);
  const bool isHelp =
      flags && (flags->getSwitch("help") ||
                (table.find("help-all") && flags->getSwitch("help-all")));
  if (!flags || isHelp || !table.find("target"))
    return flags;
  return withDeviceTarget(*flags);
}

Status weft::applyMlirFlags(const std::vector<std::string> &args) {
  registerAllPasses();
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  std::vector<const char *> argv = {"weft"};
  for (const std::string &arg : args)
    argv.push_back(arg.c_str());
  // LLVM prints rejected arguments without escaping them.
  for (const std::string &arg : args)
    if (escaped(arg) != arg)
      return usageError(
          "expects flags of MLIR without control bytes, but got " +
          inQuotes(arg));
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::cl::ParseCommandLineOptions(static_cast<int>(argv.size()),
                                        argv.data(), "", &stream))
    return Status::success();
  return usageError("MLIR does not accept: " +
                    problem.substr(0, problem.find('\n')));
}
