//===- Partition.cpp - Make collectives explicit --------------------------===//
//
// Of a gradient that all ranks hold, each reduces the slice that it owns; what
// reads it whole gathers it: every stage adds up gradients and norms in this
// one order. States that are sharded are read and written in slices
// (PartitionStates.h).
//
//===----------------------------------------------------------------------===//

#include "LossDenominators.h"
#include "MicroForms.h"
#include "OrderInit.h"
#include "PartitionStates.h"
#include "RankPresence.h"

#include "weft/Sharding/Passes.h"

#include "weft/Dist/Dist.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>

namespace weft {
#define GEN_PASS_DEF_PARTITIONPASS
#include "weft/Sharding/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// A gradient of all ranks: the slice that this rank owns of the mean.
struct Reduced {
  ReadOp read;
  Value slice;
  Operation *reduction; // what reads it whole for that; null: nothing does
};

/// Numbers of one check of gradients.
struct Check {
  NormAndCheckOp op;
  Value norm, foundInf; // of all ranks
};

class ApplyPartition {
public:
  ApplyPartition(ProgramOp program, const MeshCollectives &mesh)
      : program(program), mesh(mesh), builder(program.getContext()) {}

  /// Gradients and their norms become those of all ranks.
  LogicalResult reduce();
  /// By the read of each gradient.
  Slices getSlices();
  void gather();
  int64_t countBuckets() const { return gradients.size(); }

private:
  LogicalResult reduceGradients();
  LogicalResult checkSlices();
  FailureOr<Value> findSlice(NormAndCheckOp op, Value grad);
  FailureOr<Check> checkSlices(NormAndCheckOp op);
  void agree(MutableArrayRef<Check> checks, RankPresence &presence);
  void takeRoots(Check &check);

  ProgramOp program;
  const MeshCollectives &mesh;
  OpBuilder builder;
  /// In the order of the program, by their read.
  llvm::MapVector<Operation *, Reduced> gradients;
};

} // namespace

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// The state of gradients that a value is the contents of, or null.
static StateOp findGradient(ReadOp read) {
  auto state =
      SymbolTable::lookupNearestSymbolFrom<StateOp>(read, read.getSourceAttr());
  return state && state.getKind() == StateKind::Gradient ? state : StateOp();
}

/// What each micro-step has reduced is in slices already.
LogicalResult ApplyPartition::reduceGradients() {
  SmallVector<ReadOp> reads;
  for (auto read : program.getBody().front().getOps<ReadOp>()) {
    StateOp state = findGradient(read);
    if (!state)
      continue;
    if (dist::getLayout(state).isSharded()) {
      reads.push_back(read);
      continue;
    }
    RankedTensorType type = state.getTensorType();
    if (!state.isSegmented() || !mesh.canDivide(type))
      return state.emitOpError("expects gradients in flat states of ")
             << mesh.countRanks() << " equal slices (weft-bucket), but got "
             << type;
    builder.setInsertionPointAfter(read);
    Value slice = mesh.reduceMean(builder, read.getLoc(), read);
    for (Operation *op = read->getNextNode();; op = op->getNextNode()) {
      copyScope(read, op);
      if (op == slice.getDefiningOp())
        break;
    }
    gradients.insert({read, {read, slice, read->getNextNode()}});
  }
  for (ReadOp read : reads) {
    builder.setInsertionPointAfter(read);
    gradients.insert({read,
                      {read,
                       ReadOp::create(builder, read.getLoc(),
                                      findGradient(read).getTensorType(),
                                      read.getSourceAttr()),
                       nullptr}});
  }
  return success();
}

/// The first op that reads a gradient as a whole, or null.
static Operation *findFirstUser(Reduced &reduced) {
  Operation *first = nullptr;
  for (Operation *user : reduced.read->getUsers())
    if (user != reduced.reduction && (!first || user->isBeforeInBlock(first)))
      first = user;
  return first;
}

/// What else reads a gradient reads what all ranks have made of it, gathered
/// just before: one bucket at a time.
void ApplyPartition::gather() {
  for (auto &[read, reduced] : gradients) {
    if (Operation *first = findFirstUser(reduced)) {
      builder.setInsertionPoint(first);
      auto full = mesh.gather(builder, reduced.read.getLoc(), reduced.slice);
      copyScope(read, full);
      reduced.read.getResult().replaceUsesWithIf(
          full, [reduction = reduced.reduction](OpOperand &use) {
            return use.getOwner() != reduction;
          });
    }
    // What micro-steps have reduced is a slice, which has another type.
    if (read->use_empty())
      read->erase();
  }
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The slice of the gradient that a value is a part of.
FailureOr<Value> ApplyPartition::findSlice(NormAndCheckOp op, Value grad) {
  auto known = gradients.find(skipViews(grad).getDefiningOp());
  if (known != gradients.end())
    return known->second.slice;
  return op.emitOpError("expects gradients that the program reads, but got ")
         << grad;
}

/// The check of what this rank owns.
FailureOr<Check> ApplyPartition::checkSlices(NormAndCheckOp op) {
  llvm::SmallSetVector<Value, 8> slices;
  for (Value grad : op.getGrads()) {
    FailureOr<Value> slice = findSlice(op, grad);
    if (failed(slice))
      return failure();
    slices.insert(*slice);
  }
  builder.setInsertionPoint(op);
  auto own = NormAndCheckOp::create(
      builder, op.getLoc(), op.getNorm().getType(), op.getFoundInf().getType(),
      slices.getArrayRef(), op.getPAttr(), builder.getUnitAttr());
  return Check{op, own.getNorm(), own.getFoundInf()};
}

/// One message with the numbers of all checks, and which gradients there are.
void ApplyPartition::agree(MutableArrayRef<Check> checks,
                           RankPresence &presence) {
  SmallVector<Value> numbers;
  SmallVector<Attribute> reductions;
  auto add = [&](Value number, dist::Reduction reduction) {
    numbers.push_back(number);
    reductions.push_back(
        dist::ReductionAttr::get(builder.getContext(), reduction));
  };
  for (Check &check : checks) {
    bool isMax = std::isinf(check.op.getP().convertToDouble());
    add(check.norm, isMax ? dist::Reduction::Max : dist::Reduction::Sum);
    add(check.foundInf, dist::Reduction::Or);
  }
  builder.setInsertionPoint(checks.back().op);
  for (Value answer : presence.ask(builder, mesh))
    add(answer, dist::Reduction::Or);
  auto all = mesh.join(builder, checks.back().op.getLoc(), numbers, reductions);
  for (auto [number, check] : llvm::enumerate(checks)) {
    check.norm = all.getReduced()[2 * number];
    check.foundInf = all.getReduced()[2 * number + 1];
  }
  presence.replace(all.getReduced().drop_front(2 * checks.size()));
}

/// What reads the norm gets the root of the sum; a norm of several groups adds
/// up their sums and takes one root of all.
void ApplyPartition::takeRoots(Check &check) {
  Value root;
  for (OpOperand &use :
       llvm::make_early_inc_range(check.op.getNorm().getUses())) {
    if (auto total = dyn_cast<TotalNormOp>(use.getOwner())) {
      total.setPowers(true);
      use.set(check.norm);
      continue;
    }
    if (!root) {
      builder.setInsertionPointAfterValue(check.norm);
      root =
          TotalNormOp::create(builder, check.op.getLoc(), check.norm.getType(),
                              check.norm, check.foundInf, /*scale=*/Value(),
                              check.op.getPAttr(), builder.getUnitAttr());
    }
    use.set(root);
  }
  check.op.getFoundInf().replaceAllUsesWith(check.foundInf);
}

/// The views through which an op reads gradients, those of views behind them.
static llvm::SetVector<Operation *> findViews(ValueRange grads) {
  llvm::SetVector<Operation *> views;
  for (Value grad : grads)
    for (Operation *op = grad.getDefiningOp(); isViewOp(op) && views.insert(op);
         op = op->getOperand(0).getDefiningOp())
      ;
  return views;
}

/// Erases those that nothing reads, until something reads all that are left.
static void eraseUnread(llvm::SetVector<Operation *> views) {
  auto isUnread = [](Operation *op) { return op->use_empty(); };
  for (auto dead = llvm::find_if(views, isUnread); dead != views.end();
       dead = llvm::find_if(views, isUnread)) {
    Operation *op = *dead;
    views.remove(op);
    op->erase();
  }
}

/// One message joins the numbers of all checks, behind the last of them.
static LogicalResult verifyOrder(ArrayRef<Check> checks) {
  Operation *last = checks.back().op;
  for (Check check : checks)
    for (Operation *user : check.op->getUsers())
      if (user->isBeforeInBlock(last)) {
        InFlightDiagnostic error = user->emitOpError(
            "expects all checks of gradients above what reads one of them");
        error.attachNote(last->getLoc()) << "a check below";
        return error;
      }
  return success();
}

LogicalResult ApplyPartition::checkSlices() {
  std::vector<Check> checks;
  for (auto op : llvm::make_early_inc_range(
           program.getBody().front().getOps<NormAndCheckOp>())) {
    FailureOr<Check> check = checkSlices(op);
    if (failed(check))
      return failure();
    checks.push_back(*check);
  }
  RankPresence presence(program);
  if (checks.empty() && presence.isEmpty())
    return success();
  if (checks.empty())
    return program.emitOpError("expects a check of gradients, whose message "
                               "tells presence, but got none");
  if (failed(verifyOrder(checks)) || failed(presence.verify(checks.back().op)))
    return failure();
  agree(checks, presence);
  for (Check &check : checks) {
    takeRoots(check);
    llvm::SetVector<Operation *> views = findViews(check.op.getGrads());
    check.op.erase();
    eraseUnread(views);
  }
  return success();
}

LogicalResult ApplyPartition::reduce() {
  return failed(reduceGradients()) ? failure() : checkSlices();
}

Slices ApplyPartition::getSlices() {
  Slices slices;
  for (auto &[read, reduced] : gradients)
    slices[reduced.read] = reduced.slice;
  return slices;
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
    if (failed(verifyOptions()) || failed(verifyLayouts()))
      return signalPassFailure();
    FailureOr<SlicedStates> states = declareSlices(getOperation(), mesh);
    if (failed(states))
      return signalPassFailure();
    numSlices += states->sliced.size();
    if (ProgramOp micro = findMicro(getOperation()))
      makeForms(micro, *states);
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
    if (program.getKind() == ProgramKind::Micro)
      numLosses += joinDenominators(program, mesh);
    if (program.getKind() != ProgramKind::Apply) {
      partitionStates(program, mesh, states, /*known=*/Slices(), reshard);
      if (program.getKind() == ProgramKind::Init)
        orderByWrites(program);
      return success();
    }
    ApplyPartition apply(program, mesh);
    if (failed(apply.reduce()))
      return failure();
    partitionStates(program, mesh, states, apply.getSlices(), reshard);
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
