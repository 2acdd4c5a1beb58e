//===- Partition.cpp - Make collectives explicit --------------------------===//

#include "PartitionApply.h"
#include "PassUses.h"
#include "SlicedStates.h"

#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"
#include "weft/Dist/Dist.h"
#include "weft/Sharding/Passes.h"
#include "weft/Weft/Programs.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/SetVector.h"

namespace weft {
#define GEN_PASS_DEF_PARTITIONPASS
#include "weft/Sharding/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// The modules of reshard-scopes
//===----------------------------------------------------------------------===//

static bool isModule(ModuleOp module, StringRef path) {
  return module
      .walk([&](Operation *op) {
        return Reshard::isInside(getScope(op), path) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// Forward uses of a state: by ops inside of a module, and by other ops.
struct ForwardUses {
  ForwardUses(ReadOp read, Operation *loss, StringRef path) {
    for (OpOperand *use : splitUses(read, loss).forward) {
      StringRef scope = getScope(use->getOwner());
      if (!scope.empty())
        (Reshard::isInside(scope, path) ? isInside : isOutside) = true;
    }
  }

  bool isInside = false, isOutside = false;
};
} // namespace

static InFlightDiagnostic emitRefusal(ModuleOp module, StringRef path) {
  return module.emitError("expects modules that are gathered apart in "
                          "`reshard`, but got '")
         << path << "', which ";
}

static LogicalResult verifyApart(ModuleOp module, ProgramOp micro,
                                 StringRef path) {
  Operation *loss = findLoss(micro);
  ReadOp shared;
  for (auto read : micro.getBody().getOps<ReadOp>()) {
    const ForwardUses uses(read, loss, path);
    if (uses.isInside && !uses.isOutside)
      return success();
    if (uses.isInside)
      shared = read;
  }
  if (!shared)
    return emitRefusal(module, path) << "has no parameters";
  return emitRefusal(module, path)
         << "shares " << shared.getSourceAttr() << " with others";
}

/// Checks each path of `reshard`. It names a module with ops, and all forward
/// uses of at least one state are in that module: parameters that are gathered
/// together can only be freed together.
static LogicalResult verifyReshard(ModuleOp module, const Reshard &reshard) {
  ProgramOp micro = findProgram(module, ProgramKind::Micro);
  for (const std::string &path : reshard.scopes) {
    if (!isModule(module, path))
      return module.emitError(
                 "expects module paths of the model in `reshard`, but got '")
             << path << "'";
    if (micro && failed(verifyApart(module, micro, path)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Means over the targets of all ranks
//===----------------------------------------------------------------------===//

/// Declares `@denominators_keep`, a copy of `denominators` for micro-batches
/// but the last one of a step, which joins no counts.
static void keepDenominators(ProgramOp denominators) {
  SymbolTable symbols(denominators->getParentOfType<ModuleOp>());
  auto keep = cast<ProgramOp>(denominators->clone());
  keep.setSymName(names::kDenominatorsKeep);
  symbols.insert(keep, std::next(denominators->getIterator()));
}

/// The accumulations that the program writes to states of denominators.
static SmallVector<AccumulateOp> findTotals(ProgramOp program) {
  SmallVector<AccumulateOp> totals;
  for (auto total : program.getBody().front().getOps<AccumulateOp>()) {
    auto read = total.getOld().getDefiningOp<ReadOp>();
    auto state = read ? SymbolTable::lookupNearestSymbolFrom<StateOp>(
                            program, read.getSourceAttr())
                      : StateOp();
    if (state && state.getKind() == StateKind::Denominator)
      totals.push_back(total);
  }
  return totals;
}

/// Replaces the totals that `denominators` has accumulated by their mean over
/// ranks, in one message. Returns how many there are.
static unsigned joinDenominators(ProgramOp denominators,
                                 const MeshCollectives &mesh) {
  SmallVector<AccumulateOp> totals = findTotals(denominators);
  if (totals.empty())
    return 0;
  Location loc = totals.back().getLoc();
  OpBuilder builder(denominators.getContext());
  builder.setInsertionPointAfter(totals.back());
  SmallVector<Value> own;
  for (AccumulateOp total : totals)
    own.push_back(total);
  ValueRange sums = mesh.sumOverRanks(builder, loc, own);
  for (auto [total, sum] : llvm::zip_equal(totals, sums)) {
    Value ranks = ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(DenseElementsAttr::get(
            cast<RankedTensorType>(sum.getType()), double(mesh.countRanks()))));
    Value mean = DivOp::create(builder, loc, sum, ranks);
    total.getResult().replaceAllUsesExcept(mean, sums.front().getDefiningOp());
  }
  return totals.size();
}

//===----------------------------------------------------------------------===//
// One unit after the other
//===----------------------------------------------------------------------===//

/// All ops of the program that a value is made by, in their order.
static SmallVector<Operation *> findMakers(Value value) {
  llvm::SetVector<Operation *> makers;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    // The number of the rank stays in front of all.
    if (op && !isa<dist::RankOp>(op) && makers.insert(op))
      llvm::append_range(open, op->getOperands());
  }
  SmallVector<Operation *> ordered = makers.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// Puts what each write needs next to each other, so that the wholes of which a
/// rank keeps slices are gone before the next ones are made.
static void orderByWrites(ProgramOp program) {
  ReturnOp end = program.getTerminator();
  SmallVector<SmallVector<Operation *>> writes;
  for (Value value : end.getValues())
    writes.push_back(findMakers(value));
  // A parameter and its copies, which begin with the same op, are neighbours;
  // equal ones stay in their order.
  SmallVector<unsigned> order;
  for (unsigned i = 0; i != writes.size(); ++i)
    order.push_back(i);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    Operation *first = writes[a].empty() ? nullptr : writes[a].front();
    Operation *second = writes[b].empty() ? nullptr : writes[b].front();
    if (first == second || !first || !second)
      return first == second ? a < b : !first;
    return first->isBeforeInBlock(second);
  });
  llvm::DenseSet<Operation *> placed;
  for (unsigned write : order)
    for (Operation *op : writes[write])
      if (placed.insert(op).second)
        op->moveBefore(end);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PartitionPass : weft::impl::PartitionPassBase<PartitionPass> {
  using PartitionPassBase::PartitionPassBase;

  void runOnOperation() override {
    dist::MeshOp mesh = dist::findMesh(getOperation());
    if (!mesh)
      return;
    if (failed(verifyOptions()) || failed(verifyLayouts()) ||
        failed(verifyReshard(getOperation(), getReshard())))
      return signalPassFailure();
    FailureOr<SlicedStates> states = declareSlices(getOperation(), mesh);
    if (failed(states))
      return signalPassFailure();
    numSlices += states->sliced.size();
    FailureOr<ProgramOp> micro =
        findOnlyProgram(getOperation(), ProgramKind::Micro);
    FailureOr<ProgramOp> denominators =
        findOnlyProgram(getOperation(), ProgramKind::Denominators);
    if (failed(micro) || failed(denominators))
      return signalPassFailure();
    if (*micro)
      makeForms(*micro, *states);
    if (*denominators && accumulates)
      keepDenominators(*denominators);
    FailureOr<TravelTypes> types = readTypes();
    if (failed(types))
      return signalPassFailure();
    const MeshCollectives collectives(mesh, *types);
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(partition(program, collectives, *states)))
        return signalPassFailure();
    eraseCopies(getOperation(), *states);
  }

  /// Programs for the micro-steps of a step, if it may have several.
  void makeForms(ProgramOp micro, SlicedStates &states) {
    if (!reshard)
      declareKept(getOperation(), micro, states, accumulates);
    if (!accumulates)
      return;
    if (sync == "last")
      declareAccumulators(micro, states);
    if (!states.kept.empty())
      makeLaterForms(getOperation());
  }

  LogicalResult partition(ProgramOp program, const MeshCollectives &mesh,
                          const SlicedStates &states) {
    if (program.getKind() == ProgramKind::Denominators &&
        program.getSymName() != names::kDenominatorsKeep)
      numLosses += joinDenominators(program, mesh);
    if (program.getKind() != ProgramKind::Apply) {
      partitionStates(program, mesh, states, /*known=*/Slices(), getReshard());
      if (program.getKind() == ProgramKind::Init)
        orderByWrites(program);
      return success();
    }
    ApplyPartition apply(program, mesh);
    if (failed(apply.reduce()))
      return failure();
    partitionStates(program, mesh, states, apply.getSlices(), getReshard());
    apply.gather();
    numBuckets += apply.countBuckets();
    return success();
  }

  /// A float type of at most 32 bits; null for "auto".
  FailureOr<Type> readType(StringRef option, StringRef name) {
    if (name == "auto")
      return Type();
    if (name == "f32")
      return Type(Float32Type::get(&getContext()));
    if (name == "f16")
      return Type(Float16Type::get(&getContext()));
    if (name == "bf16")
      return Type(BFloat16Type::get(&getContext()));
    return getOperation().emitError("expects ")
           << option << " auto, f32, f16 or bf16, but got " << name;
  }

  FailureOr<TravelTypes> readTypes() {
    FailureOr<Type> reduced = readType("reduce-dtype", reduceDtype);
    FailureOr<Type> gathered = readType("gather-dtype", gatherDtype);
    if (failed(reduced) || failed(gathered))
      return failure();
    return TravelTypes{*reduced, *gathered};
  }

  LogicalResult verifyOptions() {
    if (sync == "each" || sync == "last")
      return success();
    return getOperation().emitError("expects sync=each or sync=last, but got ")
           << sync.getValue();
  }

  Reshard getReshard() {
    return {reshard, ArrayRef<std::string>(reshardScopes)};
  }

  LogicalResult verifyLayouts() {
    for (Operation &op : *getOperation().getBody()) {
      if (!isa<ParamOp, StateOp>(op))
        continue;
      dist::LayoutAttr layout = dist::getLayout(&op);
      if (!layout)
        return op.emitOpError("expects a dist.layout (weft-shard), but got "
                              "none");
    }
    return success();
  }
};
} // namespace
