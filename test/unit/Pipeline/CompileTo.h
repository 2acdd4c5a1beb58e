//===- CompileTo.h - Helpers of driver tests --------------------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_PIPELINE_COMPILETO_H
#define WEFT_TEST_UNIT_PIPELINE_COMPILETO_H

#include "weft/Pipeline/Driver/MemoryFit.h"
#include "weft/Pipeline/Options/CompileFlags.h"

#include "TestPaths.h"

#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

namespace weft {

const std::string kModel = WEFT_SOURCE "/examples/mlp.mlir";

inline FlagValues parseFlags(const std::vector<std::string> &args) {
  Expected<FlagValues> flags = compilerFlagTable().parse(args);
  EXPECT_TRUE(flags) << flags.error().message();
  return std::move(*flags);
}

/// The error of a step; nothing if there was none.
inline std::string errorOf(const Status &status) {
  return status ? "" : status.error().message();
}

/// Loads a model and runs the phases up to one.
inline std::string compileTo(Compiler &compiler, const std::string &model,
                             const FlagValues &flags, const char *phase) {
  // A pass manager asks for these before it runs.
  mlir::registerPassManagerCLOptions();
  if (Status status = compiler.load(model, flags); !status)
    return errorOf(status);
  return errorOf(runWithinMemory(compiler, compiler.phases().find(phase)));
}

} // namespace weft

#endif // WEFT_TEST_UNIT_PIPELINE_COMPILETO_H
