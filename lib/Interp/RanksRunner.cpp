//===- RanksRunner.cpp - The ranks of a module in lockstep ----------------===//

#include "weft/Interp/RanksRunner.h"

#include "ProgramRun.h"
#include "RunCollectives.h"
#include "weft/Abi/Names.h"
#include "weft/Abi/RankDivisors.h"
#include "weft/Base/CountText.h"
#include "weft/Dist/Dist.h"
#include "weft/Interp/Inputs.h"
#include "weft/Plan/Plan.h"

using namespace mlir;
using namespace weft;

RanksRunner::RanksRunner(ModuleOp module, ComputeMode mode, int64_t count,
                         uint64_t streamOrder) {
  for (int64_t rank = 0; rank < count; ++rank)
    ranks.push_back(makeRunner(module, mode, streamOrder));
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

/// The init program writes parameters of a plan; what has a value keeps it.
LogicalResult RanksRunner::runInit(int64_t seed) {
  std::optional<ProgramInfo> init = findProgram(getRank(0), ProgramKind::Init);
  if (!init)
    return success();
  std::vector<TensorMap> before, inputs;
  for (int64_t rank = 0; rank < getNumRanks(); ++rank) {
    before.push_back(getRank(rank).getStates());
    inputs.push_back(makeInputs(*init, seed, rank));
  }
  if (failed(run(init->name, inputs)))
    return failure();
  for (auto [rank, states] : llvm::zip(ranks, before))
    for (auto &[name, value] : states)
      if (failed(rank->setState(name, std::move(value))))
        return failure();
  return success();
}

LogicalResult RanksRunner::initialize(int64_t seed) {
  if (!getModule().getOps<plan::ProgramOp>().empty())
    return runInit(seed);
  for (std::unique_ptr<ModuleRunner> &rank : ranks)
    if (failed(rank->initialize(seed)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients without collectives
//===----------------------------------------------------------------------===//

int64_t weft::countSlices(const RanksRunner &ranks, StringRef name) {
  auto state = dyn_cast_or_null<SegmentedOpInterface>(
      SymbolTable::lookupSymbolIn(ranks.getModule(), name));
  return state ? state.getSliceCount() : 1;
}

SmallVector<int64_t> weft::findHolders(const RanksRunner &ranks, int64_t slices,
                                       int64_t slice) {
  SmallVector<int64_t> holders;
  for (int64_t rank = slice; rank < ranks.getNumRanks(); rank += slices)
    holders.push_back(rank);
  return holders;
}

Tensor weft::meanOverRanks(const RanksRunner &ranks, StringRef gradient,
                           ArrayRef<int64_t> holders) {
  SmallVector<const Tensor *> values;
  for (int64_t rank : holders)
    values.push_back(ranks.getRank(rank).findState(gradient));
  double count = static_cast<double>(holders.size());
  double pre = choosePreDivide(static_cast<int64_t>(holders.size()));
  Tensor result = *values.front();
  RankMean mean(pre, count / pre, result.kind(), ranks.getRank(0).getMode());
  SmallVector<double> numbers(values.size());
  for (int64_t i = 0; i < result.size(); ++i) {
    for (auto [number, value] : llvm::zip(numbers, values))
      number = value->at(i);
    result.at(i) = mean.compute(numbers);
  }
  return result;
}

bool RanksRunner::joinsInstead(StringRef program, ProgramKind kind) const {
  if (getNumRanks() == 1 || hasCollectives(getModule()))
    return false;
  return llvm::any_of(getRank(0).getPrograms(), [&](const ProgramInfo &info) {
    return info.name == program && info.kind == kind;
  });
}

LogicalResult RanksRunner::takeMeans() {
  for (const std::string &name : getRank(0).getGradients()) {
    int64_t slices = countSlices(*this, name);
    for (int64_t slice = 0; slice < std::min(slices, getNumRanks()); ++slice) {
      SmallVector<int64_t> holders = findHolders(*this, slices, slice);
      Tensor mean = meanOverRanks(*this, name, holders);
      for (int64_t rank : holders)
        if (failed(getRank(rank).setState(name, mean)))
          return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Denominators without collectives
//===----------------------------------------------------------------------===//

/// Whether the state has the denominator of one loss.
static bool isTotal(StringRef name) {
  return name.starts_with(names::kDenominator) &&
         name != names::kNoTargetsState;
}

LogicalResult RanksRunner::meanDenominators() {
  for (const auto &[name, value] : getRank(0).getStates()) {
    if (!isTotal(name))
      continue;
    Tensor mean = value;
    mean.at(0) = 0;
    for (std::unique_ptr<ModuleRunner> &rank : ranks)
      mean.at(0) += rank->findState(name)->at(0);
    mean.at(0) /= static_cast<double>(getNumRanks());
    for (std::unique_ptr<ModuleRunner> &rank : ranks)
      if (failed(rank->setState(name, mean)))
        return failure();
  }
  return success();
}

/// A second run with a share of 0 leaves the totals and asks again whether
/// there are targets.
FailureOr<std::vector<TensorMap>>
RanksRunner::runDenominators(StringRef program, ArrayRef<TensorMap> inputs) {
  if (failed(runPrograms(program, inputs)) || failed(meanDenominators()))
    return failure();
  std::vector<TensorMap> again = inputs;
  for (TensorMap &given : again) {
    fillTensor(given.at(names::kAccumulate), 1);
    fillTensor(given.at(names::kBatchShare), 0);
  }
  return runPrograms(program, again);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

FailureOr<std::vector<TensorMap>>
RanksRunner::runPrograms(StringRef program, ArrayRef<TensorMap> inputs) {
  std::vector<std::unique_ptr<ProgramRun>> runs;
  for (auto [rank, given] : llvm::zip(ranks, inputs)) {
    auto started = rank->start(program, given);
    if (failed(started))
      return failure();
    runs.push_back(std::move(*started));
  }
  return runInTurn(runs);
}

FailureOr<std::vector<TensorMap>> RanksRunner::run(StringRef program,
                                                   ArrayRef<TensorMap> inputs) {
  if (inputs.size() != ranks.size())
    return mlir::emitError(getModule().getLoc())
           << "expects inputs of " << countText(ranks.size(), "rank")
           << ", but got " << inputs.size();
  if (joinsInstead(program, ProgramKind::Denominators))
    return runDenominators(program, inputs);
  if (!joinsInstead(program, ProgramKind::Apply))
    return runPrograms(program, inputs);
  std::vector<TensorMap> before;
  for (std::unique_ptr<ModuleRunner> &rank : ranks)
    before.push_back(rank->getStates());
  if (failed(takeMeans()))
    return failure();
  FailureOr<std::vector<TensorMap>> outputs = runPrograms(program, inputs);
  if (failed(outputs))
    for (auto [rank, states] : llvm::zip(ranks, before))
      rank->states = std::move(states);
  return outputs;
}
