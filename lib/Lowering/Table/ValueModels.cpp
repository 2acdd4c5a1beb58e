//===- ValueModels.cpp - Records of copies and constants ------------------===//

#include "RoutineModels.h"

#include "llvm/Support/MathExtras.h"

#include <vector>

using namespace mlir;
using namespace weft;

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

/// The elements as they lie in memory: i1 as a byte, 0 or 1.
static std::vector<char> getBytes(ElementsAttr value) {
  std::vector<char> bytes;
  auto add = [&](const APInt &bits) {
    const uint64_t word = bits.getZExtValue();
    const auto *first = reinterpret_cast<const char *>(&word);
    bytes.insert(bytes.end(), first,
                 first + llvm::divideCeil(bits.getBitWidth(), 8));
  };
  if (isa<FloatType>(value.getElementType()))
    for (const APFloat &number : value.getValues<APFloat>())
      add(number.bitcastToAPInt());
  else
    for (const APInt &number : value.getValues<APInt>())
      add(number);
  return bytes;
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
    if (value.isSplat()) {
      append(words, WeftFillRecord{getDType(value.getElementType()),
                                   value.getNumElements(), getSplat(value)});
      return success();
    }
    const std::vector<char> bytes = getBytes(value);
    append(words, WeftConstantRecord{getDType(value.getElementType()),
                                     int64_t(bytes.size())});
    const size_t end = words.size();
    words.resize(end + llvm::divideCeil(bytes.size(), 8));
    std::memcpy(words.data() + end, bytes.data(), bytes.size());
    return success();
  }
};

} // namespace

void weft::attachValueModels(MLIRContext *context) {
  plan::CopyOp::attachInterface<CopyModel>(*context);
  plan::ConstantOp::attachInterface<ConstantModel>(*context);
}
