//===- Shard.cpp - Say who holds what -------------------------------------===//

#include "weft/Sharding/Passes.h"

#include "ShardRules.h"
#include "weft/Sharding/MeshText.h"

#include "mlir/IR/Builders.h"

namespace weft {
#define GEN_PASS_DEF_SHARDPASS
#include "weft/Sharding/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// What a stage shards, in the order in which stages add it.
enum Stage : int64_t { Nothing = 0, Optimizer = 1, Parameters = 3 };

struct ShardPass : weft::impl::ShardPassBase<ShardPass> {
  using ShardPassBase::ShardPassBase;

  void runOnOperation() override {
    if (failed(declareMesh()) || failed(applyRules()))
      return signalPassFailure();
    for (Operation &op : *getOperation().getBody())
      if (isa<ParamOp, StateOp>(op))
        annotate(&op);
  }

  LogicalResult declareMesh() {
    std::optional<MeshText> axes = parseMesh(mesh);
    if (!axes)
      return getOperation().emitError("expects mesh to be ")
             << kMeshRule << ", but got '" << mesh << "'";
    if (zero < Nothing || zero > Parameters)
      return getOperation().emitError("expects zero of 0 to 3, but got ")
             << zero.getValue();
    if (gradients != "sharded" && gradients != "replicated")
      return getOperation().emitError(
                 "expects gradients=sharded or gradients=replicated, but got ")
             << gradients.getValue();
    if (dist::MeshOp other = dist::findMesh(getOperation()))
      return other.emitOpError("expects a module without a mesh for "
                               "weft-shard, but got @")
             << other.getSymName();
    auto builder = OpBuilder::atBlockBegin(getOperation().getBody());
    SmallVector<StringRef> names;
    SmallVector<int64_t> sizes;
    for (const MeshAxis &axis : *axes) {
      names.push_back(axis.name);
      sizes.push_back(axis.size);
    }
    dist::MeshOp::create(builder, getOperation().getLoc(), chooseName(),
                         builder.getStrArrayAttr(names),
                         builder.getDenseI64ArrayAttr(sizes));
    shardAxis = builder.getStringAttr(names.back());
    return success();
  }

  /// A parameter may be called as the mesh is.
  std::string chooseName() {
    SymbolTable symbols(getOperation());
    std::string name = "mesh";
    for (unsigned number = 1; symbols.lookup(name); ++number)
      name = "mesh." + std::to_string(number);
    return name;
  }

  /// At every stage alike: what no stage shards lies in flat states of its own.
  LogicalResult applyRules() {
    if (min < 0)
      return getOperation().emitError("expects min of at least 0, but got ")
             << min.getValue();
    if (!rules.empty()) {
      FailureOr<std::vector<ShardRule>> list =
          readShardRules(&getContext(), rules);
      if (failed(list) || failed(applyShardRules(getOperation(), *list)))
        return failure();
    }
    keepSmallParams(getOperation(), min);
    for (auto param : getOperation().getOps<ParamOp>())
      if (dist::isKeptWhole(param)) {
        ++numKept;
        kept.insert(param.getSymNameAttr());
      }
    return success();
  }

  /// The parameter that it is or belongs to is whole at every stage.
  bool isKept(Operation *op) const {
    if (auto param = dyn_cast<ParamOp>(op))
      return kept.contains(param.getSymNameAttr());
    FlatSymbolRefAttr param = cast<StateOp>(op).getParamAttr();
    return param && kept.contains(param.getAttr());
  }

  /// What the stage shards: master weights and moments of trainable parameters
  /// from 1 on, all parameters and their copies in 3; gradients that are
  /// reduced in a micro-step.
  bool isSharded(Operation *op) const {
    if (auto param = dyn_cast<ParamOp>(op))
      return zero >= (param.getTrainable() ? Optimizer : Parameters);
    auto state = cast<StateOp>(op);
    if (!state.getParamAttr())
      return false;
    switch (state.getKind()) {
    case StateKind::Gradient:
      return gradients == "sharded";
    case StateKind::Optimizer:
      return zero >= Optimizer;
    case StateKind::Working:
      return zero >= Parameters;
    case StateKind::Scaler:
    case StateKind::Presence:
    case StateKind::Denominator:
    case StateKind::Accumulator: // of ranks, made by weft-partition
      return false;
    }
    llvm_unreachable("a state kind without a case");
  }

  void annotate(Operation *op) {
    bool sharded = !isKept(op) && isSharded(op);
    numSharded += sharded;
    numReplicated += !sharded;
    op->setAttr(dist::DistDialect::kLayoutAttr,
                dist::LayoutAttr::get(&getContext(),
                                      sharded ? dist::Placement::Sharded
                                              : dist::Placement::Replicated,
                                      sharded ? shardAxis : StringAttr()));
  }

  StringAttr shardAxis;
  /// Names of the parameters that rules keep whole.
  llvm::DenseSet<StringAttr> kept;
};
} // namespace
