//===- Autocast.cpp - Casts of mixed precision ----------------------------===//

#include "weft/Precision/Passes.h"

#include "CastSummary.h"
#include "OpCaster.h"
#include "weft/Support/TomlFile.h"
#include "weft/Weft/Precision.h"

#include "mlir/IR/Remarks.h"

namespace weft {
#define GEN_PASS_DEF_AUTOCASTPASS
#include "weft/Precision/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The settings of the ops from regions.
using CastSettingsMap = DenseMap<Operation *, CastSettings>;

/// The settings inside of a region: its dtype is that around it unless it says
/// so, even where the region around it is disabled, as in PyTorch.
static CastSettings enter(AutocastOp region, CastSettings outside) {
  CastSettings inside = outside;
  // Without a low type the whole program is f32.
  if (outside.dtype && region.getDtype())
    inside.dtype = *region.getDtype();
  inside.enabled = region.getEnabled();
  return inside;
}

/// Moves the ops of all `weft.autocast` regions of the program in front of
/// their region and erases the regions. Returns the settings of these ops; all
/// other ops have the settings `outside`.
static CastSettingsMap inlineAutocastRegions(ProgramOp program,
                                             CastSettings outside) {
  CastSettingsMap settings;
  Block &block = program.getBody().front();
  auto op = block.begin();
  while (op != block.end()) {
    auto region = dyn_cast<AutocastOp>(*op);
    if (!region) {
      ++op;
      continue;
    }
    auto known = settings.find(region);
    CastSettings inside =
        enter(region, known == settings.end() ? outside : known->second);
    settings.erase(region);
    Block &body = region.getBody().front();
    for (Operation &inner : body.without_terminator())
      settings[&inner] = inside;
    auto yield = cast<YieldOp>(body.getTerminator());
    region.replaceAllUsesWith(yield.getValues());
    yield.erase();
    // Continue with the moved ops, which may include nested regions.
    auto first = body.empty() ? std::next(op) : body.begin();
    block.getOperations().splice(op, body.getOperations());
    region.erase();
    op = first;
  }
  return settings;
}

namespace {
struct AutocastPass : weft::impl::AutocastPassBase<AutocastPass> {
  using AutocastPassBase::AutocastPassBase;

  void runOnOperation() override {
    FailureOr<Type> low = readDtype();
    FailureOr<CastPolicies> policies = readPolicies();
    if (failed(low) || failed(policies))
      return signalPassFailure();
    bool found = false;
    CastSummary summary;
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (program.getKind() != ProgramKind::Model &&
          program.getKind() != ProgramKind::Logits &&
          program.getKind() != ProgramKind::Predict)
        continue;
      found = true;
      if (failed(castProgram(program, *low, *policies, summary)))
        return signalPassFailure();
    }
    if (*low && !found) {
      getOperation().emitError("expects a program of kind model or logits, but "
                               "got none");
      return signalPassFailure();
    }
    if (failed(policies->checkOverrides()))
      return signalPassFailure();
    if (!summary.isEmpty())
      remark::analysis(getOperation().getLoc(),
                       remark::RemarkOpts::name("table").category("precision"))
          << "casts of mixed precision, per block\n" + summary.toText();
  }

  LogicalResult castProgram(ProgramOp program, Type low, CastPolicies &policies,
                            CastSummary &summary) {
    if (failed(checkRecomputeIsInlined(program)))
      return failure();
    unsigned before = countRegions(program);
    CastSettingsMap settings = inlineAutocastRegions(program, {low});
    numRegions += before;
    // Report ops that the logits program shares with the model only once.
    auto isOfModel = [](ProgramOp other) {
      return other.getKind() == ProgramKind::Model;
    };
    bool isModel = isOfModel(program);
    bool isSaid =
        isModel || llvm::none_of(getOperation().getOps<ProgramOp>(), isOfModel);
    OpCaster caster(policies, isSaid ? &summary : nullptr);
    if (isModel)
      caster.keepLosses(program);
    Block &block = program.getBody().front();
    for (Operation &op :
         llvm::make_early_inc_range(block.without_terminator())) {
      auto found = settings.find(&op);
      CastSettings own =
          found == settings.end() ? CastSettings{low} : found->second;
      if (failed(caster.castOp(&op, own)))
        return failure();
    }
    caster.castResults(program.getTerminator());
    numCasts += caster.numCasts;
    numParameterCasts += caster.numParameterCasts;
    return success();
  }

  static unsigned countRegions(ProgramOp program) {
    unsigned count = 0;
    program.getBody().walk([&](AutocastOp) { ++count; });
    return count;
  }

  /// The low type; null for none.
  FailureOr<Type> readDtype() {
    if (dtype == "none")
      return Type();
    if (dtype == "f16")
      return Type(Float16Type::get(&getContext()));
    if (dtype == "bf16")
      return Type(BFloat16Type::get(&getContext()));
    return getOperation().emitError("expects dtype none, f16 or bf16, but got ")
           << dtype;
  }

  FailureOr<CastPolicies> readPolicies() {
    ModuleOp module = getOperation();
    if (overrides.empty())
      return CastPolicies(lists, recipe, {});
    if (dtype == "none")
      return module.emitError("expects dtype f16 or bf16 with overrides, but "
                              "got none");
    FailureOr<OverrideFile> file = readOverrideFile(&getContext(), overrides);
    if (failed(file))
      return failure();
    recordOptionFile(module, "autocast-lists", file->digest);
    return CastPolicies(file->lists.value_or(lists), recipe,
                        std::move(file->overrides));
  }
};
} // namespace
