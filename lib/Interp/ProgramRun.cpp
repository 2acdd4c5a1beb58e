//===- ProgramRun.cpp - Ranks take turns ----------------------------------===//

#include "ProgramRun.h"

#include "OpFunctions.h"

using namespace mlir;
using namespace weft;

using Ranks = ArrayRef<std::unique_ptr<ProgramRun>>;

static LogicalResult evaluateInTurn(Operation *op, Ranks ranks) {
  std::vector<OpCall> calls;
  calls.reserve(ranks.size());
  for (const std::unique_ptr<ProgramRun> &rank : ranks) {
    FailureOr<std::optional<OpCall>> call = rank->prepare(op);
    if (failed(call))
      return failure();
    if (*call)
      calls.push_back(std::move(**call));
  }
  if (calls.empty())
    return success();
  if (failed(evaluate(calls)))
    return failure();
  for (auto [rank, call] : llvm::zip(ranks, calls))
    rank->complete(call);
  return success();
}

FailureOr<std::vector<TensorMap>> weft::runInTurn(Ranks ranks) {
  for (Operation *op : ranks.front()->listOps())
    if (failed(evaluateInTurn(op, ranks)))
      return failure();
  std::vector<TensorMap> outputs;
  for (const std::unique_ptr<ProgramRun> &rank : ranks) {
    // finish() fails only for wrong types in the program, so it fails on rank 0
    // before any rank writes a state.
    FailureOr<TensorMap> made = rank->finish();
    if (failed(made))
      return failure();
    outputs.push_back(std::move(*made));
  }
  return outputs;
}

FailureOr<TensorMap> ModuleRunner::run(StringRef program,
                                       const TensorMap &inputs) {
  FailureOr<std::unique_ptr<ProgramRun>> started = start(program, inputs);
  if (failed(started))
    return failure();
  FailureOr<std::vector<TensorMap>> outputs = runInTurn(*started);
  if (failed(outputs))
    return failure();
  return std::move(outputs->front());
}
