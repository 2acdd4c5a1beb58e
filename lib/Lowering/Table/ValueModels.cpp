//===- ValueModels.cpp - Records of losses, copies, constants -------------===//

#include "RoutineModels.h"

#include "weft/Runtime/Execute/Philox.h"

using namespace mlir;

namespace weft {

//===----------------------------------------------------------------------===//
// Losses and accumulation
//===----------------------------------------------------------------------===//

template <typename OpT> static WeftCrossEntropyRecord getLoss(OpT op) {
  WeftCrossEntropyRecord record = {};
  record.rows = getCount(op.getTargets());
  record.classes = getBufferType(op.getLogits()).getShape().back();
  record.ignoreIndex = static_cast<int64_t>(op.getIgnoreIndex());
  record.isSum = op.getReduction() == plan::Reduction::Sum;
  record.hasWeights = op.getWeight() != Value();
  record.dtypeTargets = getDType(op.getTargets());
  record.dtype = getDType(op.getLogits());
  record.labelSmoothing = op.getLabelSmoothing().convertToDouble();
  return record;
}

namespace {

struct CrossEntropyModel : RoutineModel<CrossEntropyModel, plan::CrossEntropyOp,
                                        WEFT_CROSS_ENTROPY> {
  static FailureOr<WeftCrossEntropyRecord> get(plan::CrossEntropyOp op) {
    return getLoss(op);
  }
};

struct CrossEntropyGradModel
    : RoutineModel<CrossEntropyGradModel, plan::CrossEntropyGradOp,
                   WEFT_CROSS_ENTROPY_GRAD> {
  static FailureOr<WeftCrossEntropyRecord> get(plan::CrossEntropyGradOp op) {
    return getLoss(op);
  }
};

struct AccumulateModel
    : RoutineModel<AccumulateModel, plan::AccumulateOp, WEFT_ACCUMULATE> {
  static FailureOr<WeftAccumulateRecord> get(plan::AccumulateOp op) {
    return WeftAccumulateRecord{getCount(op.getTarget()),
                                getDType(op.getTarget())};
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

template <typename OpT>
static WeftRandomRecord getRandom(OpT op, APFloat first, APFloat second) {
  StringRef key = op.getKey();
  WeftRandomRecord record = {};
  record.elements = getCount(op.getTarget());
  record.nameHash =
      static_cast<int64_t>(philoxNameHash(key.data(), key.size()));
  record.firstElement = static_cast<int64_t>(op.getFirstElement());
  record.first = first.convertToDouble();
  record.second = second.convertToDouble();
  return record;
}

namespace {

struct NormalModel
    : RoutineModel<NormalModel, plan::RandomNormalOp, WEFT_RANDOM_NORMAL> {
  static FailureOr<WeftRandomRecord> get(plan::RandomNormalOp op) {
    return getRandom(op, op.getMean(), op.getStd());
  }
};

struct UniformModel
    : RoutineModel<UniformModel, plan::RandomUniformOp, WEFT_RANDOM_UNIFORM> {
  static FailureOr<WeftRandomRecord> get(plan::RandomUniformOp op) {
    return getRandom(op, op.getLow(), op.getHigh());
  }
};

struct DropoutModel
    : RoutineModel<DropoutModel, plan::DropoutOp, WEFT_DROPOUT> {
  static FailureOr<WeftDropoutRecord> get(plan::DropoutOp op) {
    MemRefType type = getBufferType(op.getSource());
    int64_t rows = type.getRank() == 0 ? 1 : type.getDimSize(0);
    return WeftDropoutRecord{
        rows, type.getNumElements() / std::max<int64_t>(rows, 1),
        static_cast<int64_t>(op.getOpId()), getDType(op.getSource()),
        op.getP().convertToDouble()};
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Copies and constants
//===----------------------------------------------------------------------===//

/// Elements of a constant as numbers; i1 is 0 or 1.
static int64_t getInteger(const APInt &value) {
  return value.getBitWidth() == 1 ? static_cast<int64_t>(value.getZExtValue())
                                  : value.getSExtValue();
}

static double getSplat(ElementsAttr value) {
  if (isa<FloatType>(value.getElementType()))
    return value.getSplatValue<APFloat>().convertToDouble();
  return static_cast<double>(getInteger(value.getSplatValue<APInt>()));
}

namespace {

struct CopyModel : RoutineOpInterface::ExternalModel<CopyModel, plan::CopyOp> {
  WeftCommandKind getKind(Operation *) const { return WEFT_COPY; }
  LogicalResult makeRecord(Operation *op, RecordWords &words) const {
    auto copy = cast<plan::CopyOp>(op);
    MemRefType type = getBufferType(copy.getSource());
    plan::Layout from = plan::Layout::get(type);
    plan::Layout to = plan::Layout::get(getBufferType(copy.getTarget()));
    append(words, WeftCopyRecord{plan::getElementBytes(type), type.getRank()});
    for (int64_t i = 0; i != type.getRank(); ++i)
      append(words, WeftCopyDim{from.sizes[i], from.strides[i], to.strides[i]});
    return success();
  }
};

/// One value for all elements is a fill.
struct ConstantModel
    : RoutineOpInterface::ExternalModel<ConstantModel, plan::ConstantOp> {
  WeftCommandKind getKind(Operation *op) const {
    return cast<plan::ConstantOp>(op).getValue().isSplat() ? WEFT_FILL
                                                           : WEFT_CONSTANT;
  }
  LogicalResult makeRecord(Operation *op, RecordWords &words) const {
    ElementsAttr value = cast<plan::ConstantOp>(op).getValue();
    Type element = value.getElementType();
    int64_t dtype = getDType(element), count = value.getNumElements();
    if (value.isSplat()) {
      append(words, WeftFillRecord{dtype, count, getSplat(value)});
      return success();
    }
    append(words, WeftConstantRecord{dtype, count});
    if (isa<FloatType>(element))
      for (const APFloat &number : value.getValues<APFloat>())
        append(words, number.convertToDouble());
    else
      for (const APInt &number : value.getValues<APInt>())
        append(words, getInteger(number));
    return success();
  }
};

} // namespace

void attachValueModels(MLIRContext *context) {
  plan::CrossEntropyOp::attachInterface<CrossEntropyModel>(*context);
  plan::CrossEntropyGradOp::attachInterface<CrossEntropyGradModel>(*context);
  plan::AccumulateOp::attachInterface<AccumulateModel>(*context);
  plan::RandomNormalOp::attachInterface<NormalModel>(*context);
  plan::RandomUniformOp::attachInterface<UniformModel>(*context);
  plan::DropoutOp::attachInterface<DropoutModel>(*context);
  plan::CopyOp::attachInterface<CopyModel>(*context);
  plan::ConstantOp::attachInterface<ConstantModel>(*context);
}

} // namespace weft
