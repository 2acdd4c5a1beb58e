//===- TransferModels.cpp - What the device itself does -------------------===//

#include "TransferModels.h"

#include "RoutineModels.h"
#include "weft/Abi/TransferRecords.h"
#include "weft/Plan/Transfers.h"

using namespace mlir;
using namespace weft;

/// Events are numbered as the module has them.
static int64_t getEventNumber(Operation *op, FlatSymbolRefAttr name) {
  int64_t number = 0;
  for (auto event : op->getParentOfType<ModuleOp>().getOps<plan::EventOp>()) {
    if (event.getSymNameAttr() == name.getAttr())
      break;
    ++number;
  }
  return number;
}

static int64_t getEventNumber(plan::RecordOp op) {
  return getEventNumber(op, op.getEventAttr());
}
static int64_t getEventNumber(plan::WaitOp op) {
  return getEventNumber(op, op.getEventAttr());
}
/// Copies have none.
static int64_t getEventNumber(Operation *) { return 0; }

namespace {
/// No routine, but a record.
template <typename OpT, WeftTransferKind Kind>
struct TransferModel
    : RoutineOpInterface::ExternalModel<TransferModel<OpT, Kind>, OpT> {
  WeftCommandKind getKind(Operation *) const { return WeftCommandKind(Kind); }
  LogicalResult makeRecord(Operation *op, RecordWords &words) const {
    const int64_t stream = cast<plan::CommandOpInterface>(op).getStreamNumber();
    append(words, WeftTransferRecord{stream, getEventNumber(cast<OpT>(op))});
    return success();
  }
};
} // namespace

void weft::attachTransferModels(MLIRContext *context) {
  using namespace plan;
  UploadOp::attachInterface<TransferModel<UploadOp, WEFT_UPLOAD>>(*context);
  ReadbackOp::attachInterface<TransferModel<ReadbackOp, WEFT_READBACK>>(
      *context);
  RecordOp::attachInterface<TransferModel<RecordOp, WEFT_RECORD>>(*context);
  WaitOp::attachInterface<TransferModel<WaitOp, WEFT_WAIT>>(*context);
}
