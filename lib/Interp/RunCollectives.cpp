//===- RunCollectives.cpp - Collectives of the interpreter ----------------===//

#include "RunCollectives.h"

#include "weft/Dist/Dist.h"
#include "weft/Plan/PlanCollectives.h"

#include <cmath>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// The mean
//===----------------------------------------------------------------------===//

RankMean::RankMean(double pre, double post, ElementKind kind, ComputeMode mode)
    : pre(pre), post(post), kind(kind), rounds(mode == ComputeMode::F32) {}

double RankMean::roundToKind(double value) const {
  return rounds ? roundTo(kind, value) : value;
}

/// Sums of f64 are kept in f64, all others in f32.
double RankMean::roundSum(double value) const {
  return rounds && kind != ElementKind::F64 ? roundTo(ElementKind::F32, value)
                                            : value;
}

double RankMean::compute(ArrayRef<double> ranks) const {
  double sum = roundToKind(ranks.front() / pre);
  for (double number : ranks.drop_front())
    sum = roundSum(sum + roundToKind(number / pre));
  return roundToKind(sum / post);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static void gather(GroupCalls group) {
  Tensor &full = group.front()->result();
  int64_t at = 0;
  for (OpCall *call : group)
    for (double element : call->operand(0).floatValues())
      full.at(at++) = element;
  for (OpCall *call : group.drop_front())
    call->result() = full;
}

static double getNumber(Operation *op, StringRef name) {
  return op->getAttrOfType<FloatAttr>(name).getValueAsDouble();
}

static void reduceScatter(GroupCalls group) {
  const OpCall &first = *group.front();
  RankMean mean(getNumber(first.op, "pre"), getNumber(first.op, "post"),
                first.operand(0).kind(), first.interpreter.getMode());
  SmallVector<double> numbers(group.size());
  int64_t at = 0;
  for (OpCall *call : group)
    for (double &element : call->result().floatValues()) {
      for (auto [number, rank] : llvm::zip(numbers, group))
        number = rank->operand(0).at(at);
      element = mean.compute(numbers);
      ++at;
    }
}

static void takeOwnSlice(GroupCalls group) {
  int64_t at = 0;
  for (OpCall *call : group)
    for (double &element : call->result().floatValues())
      element = call->operand(0).at(at++);
}

static void tellRank(GroupCalls group) {
  for (auto [number, call] : llvm::enumerate(group))
    call->result().intAt(0) = int64_t(number);
}

/// `result`, joined with the number of one more rank.
static void reduce(RankReduction reduction, const Tensor &number,
                   Tensor &result) {
  switch (reduction) {
  case RankReduction::Sum:
    result.at(0) += number.at(0);
    return;
  case RankReduction::Max: // NaN sticks
    if (!(result.at(0) >= number.at(0)) && !std::isnan(result.at(0)))
      result.at(0) = number.at(0);
    return;
  case RankReduction::Or:
    result.intAt(0) |= number.intAt(0);
    return;
  }
  llvm_unreachable("all reductions are handled");
}

static void allReduce(GroupCalls group) {
  OpCall &first = *group.front();
  auto reductions = first.op->getAttrOfType<DenseI64ArrayAttr>("reductions");
  for (auto [index, number] : llvm::enumerate(reductions.asArrayRef())) {
    Tensor result = first.operand(index);
    for (OpCall *call : group.drop_front())
      reduce(RankReduction(number), call->operand(index), result);
    for (OpCall *call : group)
      call->result(index) = result;
  }
}

namespace {
template <typename OpT, void (*function)(GroupCalls)>
struct GroupModel
    : InterpretedCollectiveOpInterface::ExternalModel<GroupModel<OpT, function>,
                                                      OpT> {
  void interpretGroup(Operation *, GroupCalls group) const { function(group); }
};
} // namespace

template <typename OpT, void (*function)(GroupCalls)>
static void interpretGroupAs(MLIRContext *context) {
  OpT::template attachInterface<GroupModel<OpT, function>>(*context);
}

void weft::addCollectives(MLIRContext *context) {
  interpretGroupAs<dist::AllGatherOp, gather>(context);
  interpretGroupAs<dist::ReduceScatterOp, reduceScatter>(context);
  interpretGroupAs<dist::OwnSliceOp, takeOwnSlice>(context);
  interpretGroupAs<dist::RankOp, tellRank>(context);
  interpretGroupAs<dist::AllReduceOp, allReduce>(context);
}

void weft::addCollectiveCommands(MLIRContext *context) {
  interpretGroupAs<plan::AllGatherOp, gather>(context);
  interpretGroupAs<plan::ReduceScatterOp, reduceScatter>(context);
  interpretGroupAs<plan::OwnSliceOp, takeOwnSlice>(context);
  interpretGroupAs<plan::RankOp, tellRank>(context);
  interpretGroupAs<plan::AllReduceOp, allReduce>(context);
}

bool weft::hasCollectives(ModuleOp module) {
  auto found = module.walk(
      [](InterpretedCollectiveOpInterface) { return WalkResult::interrupt(); });
  return found.wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The axis along which the ranks of a collective differ, or null: all ranks.
static StringAttr findAxis(Operation *op) {
  if (auto axis = op->getAttrOfType<StringAttr>("axis"))
    return axis;
  auto group = op->getAttrOfType<StringAttr>("group");
  return group && !group.empty() ? group : StringAttr();
}

/// A plan says beside the mesh how many ranks take part and along what.
static LogicalResult checkGroup(Operation *op, dist::MeshOp mesh,
                                StringAttr axis,
                                ArrayRef<SmallVector<int64_t>> groups) {
  if (axis && !(mesh && mesh.hasAxis(axis)))
    return op->emitOpError("expects an axis of the mesh, but got ") << axis;
  auto ranks = op->getAttrOfType<IntegerAttr>("ranks");
  int64_t size = static_cast<int64_t>(groups.front().size());
  if (!ranks || ranks.getInt() == size)
    return success();
  return op->emitOpError("expects the ranks of the mesh, ")
         << size << ", but got " << ranks.getInt();
}

LogicalResult weft::runCollective(InterpretedCollectiveOpInterface collective,
                                  MutableArrayRef<OpCall> ranks) {
  Operation *op = collective;
  dist::MeshOp mesh = dist::findMesh(op->getParentOfType<ModuleOp>());
  int64_t all = mesh ? mesh.getNumRanks() : 1;
  if (all != static_cast<int64_t>(ranks.size()))
    return op->emitOpError("expects all ranks of the mesh, ")
           << all << ", to run in turn, but got " << ranks.size();
  StringAttr axis = findAxis(op);
  SmallVector<SmallVector<int64_t>> groups = dist::getGroups(mesh, axis);
  if (failed(checkGroup(op, mesh, axis, groups)))
    return failure();
  for (ArrayRef<int64_t> group : groups)
    collective.interpretGroup(
        llvm::map_to_vector(group, [&](int64_t rank) { return &ranks[rank]; }));
  return success();
}
