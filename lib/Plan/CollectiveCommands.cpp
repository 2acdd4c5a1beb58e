//===- CollectiveCommands.cpp - What ranks send each other ----------------===//

#include "weft/Plan/Collectives.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#define GET_OP_CLASSES
#include "weft/Plan/PlanCollectiveOps.cpp.inc"

using namespace mlir;
using namespace llvm;

namespace weft::plan {

/// Ranks that a mesh may have.
static constexpr int64_t kMostRanks = 100'000;

static LogicalResult verifyRanks(Operation *op, int64_t ranks) {
  if (ranks >= 1 && ranks <= kMostRanks)
    return success();
  return op->emitOpError("expects 1 to ")
         << kMostRanks << " ranks, but got " << ranks;
}

/// One buffer is as many of the other as there are ranks.
static LogicalResult verifySlices(Operation *op, Value slice, Value full,
                                  int64_t ranks) {
  auto part = cast<MemRefType>(slice.getType());
  auto whole = cast<MemRefType>(full.getType());
  if (failed(verifyRanks(op, ranks)))
    return failure();
  int64_t elements = 0;
  if (part.getElementType() == whole.getElementType() && part.getRank() == 1 &&
      whole.getRank() == 1 &&
      !MulOverflow(part.getNumElements(), ranks, elements) &&
      elements == whole.getNumElements())
    return success();
  return op->emitOpError("expects ")
         << ranks << " slices of one type, but got " << part << " of " << whole;
}

//===----------------------------------------------------------------------===//
// all_gather, reduce_scatter
//===----------------------------------------------------------------------===//

Access AllGatherOp::getAccess(unsigned index) {
  return index == 0 ? Access::Read : Access::Write;
}
Access ReduceScatterOp::getAccess(unsigned index) {
  return index == 0 ? Access::Read : Access::Write;
}

LogicalResult AllGatherOp::verify() {
  return verifySlices(*this, getSlice(), getFull(), getRanks());
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifySlices(*this, getSlice(), getFull(), getRanks())))
    return failure();
  double pre = getPre().convertToDouble(), post = getPost().convertToDouble();
  if (pre >= 1 && post >= 1 && pre * post == double(getRanks()))
    return success();
  return emitOpError("expects two divisors of at least 1 whose product is the "
                     "number of ranks, ")
         << getRanks() << ", but got " << pre << " and " << post;
}

//===----------------------------------------------------------------------===//
// all_reduce
//===----------------------------------------------------------------------===//

Access AllReduceOp::getAccess(unsigned index) {
  return index < getNumbers().size() ? Access::Read : Access::Write;
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyRanks(*this, getRanks())))
    return failure();
  if (getNumbers().empty() || getNumbers().size() != getReductions().size() ||
      getNumbers().getTypes() != getReduced().getTypes())
    return emitOpError("expects a reduction and a result of the same type for "
                       "each of at least one number, but got ")
           << getReductions().size() << " and " << getReduced().size()
           << " for " << getNumbers().size();
  for (auto [number, reduction] :
       zip(getNumbers(), getReductions().getAsRange<StringAttr>())) {
    bool isFlag = getElementTypeOrSelf(number.getType()).isInteger(1);
    bool isKnown =
        isFlag ? reduction == "or" : reduction == "sum" || reduction == "max";
    if (!isKnown)
      return emitOpError("expects sum or max of memref<f64>, or of memref<i1>, "
                         "but got ")
             << reduction << " of " << number.getType();
  }
  return success();
}

bool isCollective(Operation *command) {
  return isa<AllGatherOp, ReduceScatterOp, AllReduceOp>(command);
}

} // namespace weft::plan
