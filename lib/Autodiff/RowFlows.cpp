//===- RowFlows.cpp - Is a loss a mean over rows --------------------------===//

#include "RowFlows.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace weft;

uint64_t weft::getVaryingDims(Value value) {
  uint64_t dims = 0;
  for (auto [d, size] : llvm::enumerate(getShape(value)))
    if (size > 1 && d < 64)
      dims |= uint64_t(1) << d;
  return dims;
}

namespace {
class RowAnalysis {
public:
  explicit RowAnalysis(ProgramOp model);

  Operation *findSplitDependence(unsigned result);
  RowDependence find(Value value) const {
    return {flows.lookup(value), origins.lookup(value)};
  }

private:
  RowFlow flowOf(Operation *op, unsigned result);
  void add(Operation *op);

  ProgramOp model;
  int64_t batch;
  DenseMap<Value, RowFlow> flows;
  /// Where a value that is mixed became so.
  DenseMap<Value, Operation *> origins;
};
} // namespace

int64_t weft::findBatchRows(ProgramOp program) {
  auto module = program->getParentOfType<ModuleOp>();
  if (auto rows = module->getAttrOfType<IntegerAttr>("weft.batch"))
    return rows.getInt();
  for (BlockArgument input : program.getArguments())
    if (!getShape(input).empty())
      return getShape(input).front();
  return 1;
}

RowAnalysis::RowAnalysis(ProgramOp model)
    : model(model), batch(findBatchRows(model)) {
  for (BlockArgument input : model.getArguments()) {
    const bool hasRows =
        !getShape(input).empty() && getShape(input).front() == batch;
    flows[input] = hasRows ? RowFlow::rows(0) : RowFlow::unknown();
    if (!hasRows)
      origins[input] = model;
  }
  for (Operation &op : model.getBody().front().without_terminator())
    add(&op);
}

/// An op without operands is the same for all batches, a splat for all rows
/// too.
RowFlow RowAnalysis::flowOf(Operation *op, unsigned result) {
  Value value = op->getResult(result);
  if (auto constant = dyn_cast<ConstantOp>(op);
      constant && isa<SplatElementsAttr>(constant.getValue()))
    return RowFlow::fixed(0);
  if (isa<ReadOp, ConstantOp, IotaOp>(op))
    return RowFlow::fixed(getVaryingDims(value));
  SmallVector<RowFlow> operands;
  for (Value operand : op->getOperands())
    operands.push_back(flows.lookup(operand));
  auto flow = dyn_cast<RowFlowOpInterface>(op);
  return flow ? flow.getRowFlow(operands, batch) : RowFlow::unknown();
}

/// Further results (statistics of norms, of attention and of losses) have rows
/// where the first one has, and are not used in models.
void RowAnalysis::add(Operation *op) {
  for (unsigned i = 0; i != op->getNumResults(); ++i) {
    Value value = op->getResult(i);
    RowFlow flow = i == 0 ? flowOf(op, 0) : RowFlow::unknown();
    flows[value] = flow;
    if (!flow.isUnknown())
      continue;
    Operation *origin = op;
    for (Value operand : op->getOperands())
      if (Operation *earlier = origins.lookup(operand))
        origin = earlier;
    origins[value] = origin;
  }
}

Operation *RowAnalysis::findSplitDependence(unsigned result) {
  Value value = model.getTerminator().getOutputs()[result];
  const RowFlow flow = flows.lookup(value);
  if (flow.isMean() || flow.isFixed())
    return nullptr;
  if (Operation *origin = origins.lookup(value))
    return origin;
  Operation *maker = value.getDefiningOp();
  return maker ? maker : model.getOperation();
}

SmallVector<RowDependence> weft::findRowDependences(ProgramOp program,
                                                    ArrayRef<Value> values) {
  const RowAnalysis analysis(program);
  return llvm::map_to_vector(values,
                             [&](Value value) { return analysis.find(value); });
}

Operation *weft::findSplitDependence(ProgramOp model) {
  RowAnalysis analysis(model);
  const ModelOutputs outputs = *findModelOutputs(model, /*allowF64=*/true);
  for (const LossTerm &term : outputs.losses)
    if (Operation *origin = analysis.findSplitDependence(term.result))
      return origin;
  return nullptr;
}

Operation *weft::findSplitDependence(ProgramOp model, unsigned metric) {
  return RowAnalysis(model).findSplitDependence(metric);
}
