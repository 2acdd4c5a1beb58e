//===- TrainingModels.cpp - Records of the end of a step ------------------===//

#include "RoutineModels.h"

using namespace mlir;

namespace weft {

static int64_t getPolicy(plan::ScalerPolicy policy) {
  switch (policy) {
  case plan::ScalerPolicy::Torch:
    return WEFT_SCALER_TORCH;
  case plan::ScalerPolicy::DeepSpeed:
    return WEFT_SCALER_DEEPSPEED;
  case plan::ScalerPolicy::Mmcv:
    return WEFT_SCALER_MMCV;
  case plan::ScalerPolicy::DeepSpeedFused:
    return WEFT_SCALER_DEEPSPEED_FUSED;
  case plan::ScalerPolicy::ColossalAI:
    return WEFT_SCALER_COLOSSALAI;
  }
  llvm_unreachable("a policy without a number");
}

namespace {

struct NormAndCheckModel
    : RoutineOpInterface::ExternalModel<NormAndCheckModel,
                                        plan::NormAndCheckOp> {
  WeftCommandKind getKind(Operation *) const { return WEFT_NORM_AND_CHECK; }
  LogicalResult makeRecord(Operation *op, RecordWords &words) const {
    auto norm = cast<plan::NormAndCheckOp>(op);
    append(words, WeftNormAndCheckRecord{
                      norm.getP().convertToDouble(),
                      static_cast<int64_t>(norm.getGrads().size())});
    for (Value grad : norm.getGrads())
      append(words, WeftNormPart{getCount(grad), getDType(grad)});
    return success();
  }
};

struct TotalNormModel
    : RoutineModel<TotalNormModel, plan::TotalNormOp, WEFT_TOTAL_NORM> {
  static FailureOr<WeftTotalNormRecord> get(plan::TotalNormOp op) {
    return WeftTotalNormRecord{op.getP().convertToDouble(),
                               static_cast<int64_t>(op.getNorms().size()),
                               op.getScale() != Value()};
  }
};

struct ClipModel
    : RoutineModel<ClipModel, plan::ClipCoefficientOp, WEFT_CLIP_COEFFICIENT> {
  static FailureOr<WeftClipRecord> get(plan::ClipCoefficientOp op) {
    return WeftClipRecord{op.getScale() != Value()};
  }
};

struct StepModel
    : RoutineModel<StepModel, plan::StepIncrementOp, WEFT_STEP_INCREMENT> {
  static FailureOr<WeftStepRecord> get(plan::StepIncrementOp) {
    return WeftStepRecord{};
  }
};

struct ScalerModel
    : RoutineModel<ScalerModel, plan::ScalerUpdateOp, WEFT_SCALER_UPDATE> {
  static FailureOr<WeftScalerUpdateRecord> get(plan::ScalerUpdateOp op) {
    WeftScalerUpdateRecord record = {};
    record.policy = getPolicy(op.getPolicy());
    record.interval = static_cast<int64_t>(op.getInterval());
    record.hysteresis = static_cast<int64_t>(op.getHysteresis());
    record.consecutive = op.getConsecutive();
    record.growth = op.getGrowth().convertToDouble();
    record.backoff = op.getBackoff().convertToDouble();
    record.minimum = op.getMinimum().convertToDouble();
    return record;
  }
};

/// The rule decides between the kinds.
struct OptimizerModel
    : RoutineOpInterface::ExternalModel<OptimizerModel, plan::OptimizerOp> {
  WeftCommandKind getKind(Operation *op) const {
    switch (cast<plan::OptimizerOp>(op).getRule()) {
    case plan::UpdateRule::AdamW:
      return WEFT_ADAMW;
    case plan::UpdateRule::Adam:
      return WEFT_ADAM;
    case plan::UpdateRule::Sgd:
      return WEFT_SGD;
    }
    llvm_unreachable("a rule without a kind");
  }
  LogicalResult makeRecord(Operation *op, RecordWords &words) const {
    auto update = cast<plan::OptimizerOp>(op);
    int64_t elements = getCount(update.getParam());
    int64_t param = getDType(update.getParam());
    int64_t grad = getDType(update.getGrad());
    int64_t working = update.getWorking() ? getDType(update.getWorking()) : -1;
    double lr = update.getLrScale().convertToDouble();
    double decay = update.getDecayScale().convertToDouble();
    if (update.getRule() == plan::UpdateRule::Sgd)
      append(words, WeftSgdRecord{elements, update.getNesterov(), param, grad,
                                  working, lr, decay});
    else
      append(words, WeftAdamRecord{elements, param, grad, working, lr, decay});
    return success();
  }
};

} // namespace

void attachTrainingModels(MLIRContext *context) {
  plan::NormAndCheckOp::attachInterface<NormAndCheckModel>(*context);
  plan::TotalNormOp::attachInterface<TotalNormModel>(*context);
  plan::ClipCoefficientOp::attachInterface<ClipModel>(*context);
  plan::StepIncrementOp::attachInterface<StepModel>(*context);
  plan::ScalerUpdateOp::attachInterface<ScalerModel>(*context);
  plan::OptimizerOp::attachInterface<OptimizerModel>(*context);
}

} // namespace weft
