//===- ProgramRun.cpp - Ranks take turns ----------------------------------===//

#include "ProgramRun.h"

#include "OpFunctions.h"

namespace weft {

using Ranks = llvm::ArrayRef<std::unique_ptr<ProgramRun>>;

static llvm::LogicalResult evaluateInTurn(mlir::Operation *op, Ranks ranks) {
  std::vector<OpCall> calls;
  calls.reserve(ranks.size());
  for (const std::unique_ptr<ProgramRun> &rank : ranks) {
    llvm::FailureOr<std::optional<OpCall>> call = rank->prepare(op);
    if (failed(call))
      return llvm::failure();
    if (*call)
      calls.push_back(std::move(**call));
  }
  if (calls.empty())
    return llvm::success();
  if (failed(evaluate(calls)))
    return llvm::failure();
  for (auto [rank, call] : llvm::zip(ranks, calls))
    rank->complete(call);
  return llvm::success();
}

llvm::FailureOr<std::vector<TensorMap>> runInTurn(Ranks ranks) {
  for (mlir::Operation *op : ranks.front()->listOps())
    if (failed(evaluateInTurn(op, ranks)))
      return llvm::failure();
  std::vector<TensorMap> outputs;
  for (const std::unique_ptr<ProgramRun> &rank : ranks) {
    // finish() fails only for wrong types in the program, so it fails on rank 0
    // before any rank writes a state.
    llvm::FailureOr<TensorMap> made = rank->finish();
    if (failed(made))
      return llvm::failure();
    outputs.push_back(std::move(*made));
  }
  return outputs;
}

llvm::FailureOr<TensorMap> ModuleRunner::run(llvm::StringRef program,
                                             const TensorMap &inputs) {
  llvm::FailureOr<std::unique_ptr<ProgramRun>> started = start(program, inputs);
  if (failed(started))
    return llvm::failure();
  llvm::FailureOr<std::vector<TensorMap>> outputs = runInTurn(*started);
  if (failed(outputs))
    return llvm::failure();
  return std::move(outputs->front());
}

} // namespace weft
