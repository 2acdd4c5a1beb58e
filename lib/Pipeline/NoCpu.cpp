//===- NoCpu.cpp - Code generation is not there yet -----------------------===//

#include "weft/Pipeline/Compiler.h"
#include "weft/Pipeline/Passes.h"

using namespace weft;

Expected<std::string> Compiler::llvmIr() {
  return usageError("does not support code generation yet");
}
Expected<std::vector<char>> Compiler::objectCode() {
  return usageError("does not support code generation yet");
}
std::unique_ptr<mlir::Pass> weft::createDescribeExecutablePass() {
  return nullptr;
}
