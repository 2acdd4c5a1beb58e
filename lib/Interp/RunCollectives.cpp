//===- RunCollectives.cpp - Collectives of the interpreter ----------------===//

#include "RunCollectives.h"

#include "weft/Dist/Dist.h"
#include "weft/Plan/PlanCollectives.h"

#include <cmath>

namespace weft {

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

double RankMean::compute(llvm::ArrayRef<double> ranks) const {
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

static double getNumber(mlir::Operation *op, llvm::StringRef name) {
  return op->getAttrOfType<mlir::FloatAttr>(name).getValueAsDouble();
}

static void reduceScatter(GroupCalls group) {
  const OpCall &first = *group.front();
  RankMean mean(getNumber(first.op, "pre"), getNumber(first.op, "post"),
                first.operand(0).kind(), first.interpreter.getMode());
  llvm::SmallVector<double> numbers(group.size());
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
  auto reductions =
      first.op->getAttrOfType<mlir::DenseI64ArrayAttr>("reductions");
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
  void interpretGroup(mlir::Operation *, GroupCalls group) const {
    function(group);
  }
};
} // namespace

template <typename OpT, void (*function)(GroupCalls)>
static void interpretAs(mlir::MLIRContext *context) {
  OpT::template attachInterface<GroupModel<OpT, function>>(*context);
}

void addCollectives(mlir::MLIRContext *context) {
  interpretAs<dist::AllGatherOp, gather>(context);
  interpretAs<dist::ReduceScatterOp, reduceScatter>(context);
  interpretAs<dist::OwnSliceOp, takeOwnSlice>(context);
  interpretAs<dist::RankOp, tellRank>(context);
  interpretAs<dist::AllReduceOp, allReduce>(context);
}

void addCollectiveCommands(mlir::MLIRContext *context) {
  interpretAs<plan::AllGatherOp, gather>(context);
  interpretAs<plan::ReduceScatterOp, reduceScatter>(context);
  interpretAs<plan::OwnSliceOp, takeOwnSlice>(context);
  interpretAs<plan::RankOp, tellRank>(context);
  interpretAs<plan::AllReduceOp, allReduce>(context);
}

bool hasCollectives(mlir::ModuleOp module) {
  auto found = module.walk([](InterpretedCollectiveOpInterface) {
    return mlir::WalkResult::interrupt();
  });
  return found.wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The axis along which the ranks of a collective differ, or null: all ranks.
static mlir::StringAttr findAxis(mlir::Operation *op) {
  if (auto axis = op->getAttrOfType<mlir::StringAttr>("axis"))
    return axis;
  auto group = op->getAttrOfType<mlir::StringAttr>("group");
  return group && !group.empty() ? group : mlir::StringAttr();
}

/// A plan says beside the mesh how many ranks take part and along what.
static llvm::LogicalResult
checkGroup(mlir::Operation *op, dist::MeshOp mesh, mlir::StringAttr axis,
           llvm::ArrayRef<llvm::SmallVector<int64_t>> groups) {
  if (axis && !(mesh && mesh.hasAxis(axis)))
    return op->emitOpError("expects an axis of the mesh, but got ") << axis;
  auto ranks = op->getAttrOfType<mlir::IntegerAttr>("ranks");
  int64_t size = static_cast<int64_t>(groups.front().size());
  if (!ranks || ranks.getInt() == size)
    return llvm::success();
  return op->emitOpError("expects the ranks of the mesh, ")
         << size << ", but got " << ranks.getInt();
}

llvm::LogicalResult runCollective(InterpretedCollectiveOpInterface collective,
                                  llvm::MutableArrayRef<OpCall> ranks) {
  mlir::Operation *op = collective;
  dist::MeshOp mesh = dist::findMesh(op->getParentOfType<mlir::ModuleOp>());
  int64_t all = mesh ? mesh.getNumRanks() : 1;
  if (all != static_cast<int64_t>(ranks.size()))
    return op->emitOpError("expects all ranks of the mesh, ")
           << all << ", to run in turn, but got " << ranks.size();
  mlir::StringAttr axis = findAxis(op);
  llvm::SmallVector<llvm::SmallVector<int64_t>> groups =
      dist::getGroups(mesh, axis);
  if (failed(checkGroup(op, mesh, axis, groups)))
    return llvm::failure();
  for (llvm::ArrayRef<int64_t> group : groups)
    collective.interpretGroup(
        llvm::map_to_vector(group, [&](int64_t rank) { return &ranks[rank]; }));
  return llvm::success();
}

} // namespace weft
