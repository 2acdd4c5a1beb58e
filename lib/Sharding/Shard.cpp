//===- Shard.cpp - Choose layouts of parameters and states ----------------===//

#include "weft/Sharding/Passes.h"

#include "ShardRules.h"
#include "weft/Sharding/MeshSyntax.h"

#include "mlir/IR/Builders.h"

namespace weft {
#define GEN_PASS_DEF_SHARDPASS
#include "weft/Sharding/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// The first ZeRO stage that shards each kind of state.
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
    if (dist::MeshOp other = dist::findMesh(getOperation()))
      return other.emitOpError("expects a module without a mesh for "
                               "weft-shard, but got @")
             << other.getSymName();
    auto builder = OpBuilder::atBlockBegin(getOperation().getBody());
    SmallVector<StringRef> names;
    SmallVector<int64_t> sizes;
    for (const MeshTextAxis &axis : *axes) {
      names.push_back(axis.name);
      sizes.push_back(axis.size);
    }
    dist::MeshOp::create(builder, getOperation().getLoc(), chooseName(),
                         builder.getStrArrayAttr(names),
                         builder.getDenseI64ArrayAttr(sizes));
    shardAxis = builder.getStringAttr(names.back());
    return success();
  }

  /// Chooses a name for the mesh that no parameter has.
  std::string chooseName() {
    SymbolTable symbols(getOperation());
    std::string name = "mesh";
    for (unsigned number = 1; symbols.lookup(name); ++number)
      name = "mesh." + std::to_string(number);
    return name;
  }

  /// Applies rules at every stage, because parameters that no stage shards are
  /// in separate flat states.
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

  /// Whether the parameter, or the parameter of the state, is replicated at
  /// every stage.
  bool isKept(Operation *op) const {
    if (auto param = dyn_cast<ParamOp>(op))
      return kept.contains(param.getSymNameAttr());
    FlatSymbolRefAttr param = cast<StateOp>(op).getParamAttr();
    return param && kept.contains(param.getAttr());
  }

  /// Whether the stage shards the op: master weights and moments of trainable
  /// parameters from stage 1, all parameters and their copies at stage 3, and
  /// gradients that are reduced in a micro-step.
  bool isSharded(Operation *op) const {
    if (auto param = dyn_cast<ParamOp>(op))
      return zero >= (param.getTrainable() ? Optimizer : Parameters);
    auto state = cast<StateOp>(op);
    if (!state.getParamAttr())
      return false;
    switch (state.getKind()) {
    case StateKind::Gradient:
      return gradients == dist::Placement::Sharded;
    case StateKind::Optimizer:
      return zero >= Optimizer;
    case StateKind::Working:
      return zero >= Parameters;
    case StateKind::Param: // a ParamOp
    case StateKind::Scaler:
    case StateKind::Presence:
    case StateKind::Denominator:
    case StateKind::Cache:
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
  /// Names of the parameters that rules replicate.
  llvm::DenseSet<StringAttr> kept;
};
} // namespace
