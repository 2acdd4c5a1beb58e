//===- Routines.cpp - The routine of a command on a target ----------------===//

#include "RoutineModels.h"

#include "weft/Abi/TransferRecords.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

#include "weft/Lowering/Table/Routines.cpp.inc"

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

static void attachTransferModels(MLIRContext *context) {
  using namespace plan;
  UploadOp::attachInterface<TransferModel<UploadOp, WEFT_UPLOAD>>(*context);
  ReadbackOp::attachInterface<TransferModel<ReadbackOp, WEFT_READBACK>>(
      *context);
  RecordOp::attachInterface<TransferModel<RecordOp, WEFT_RECORD>>(*context);
  WaitOp::attachInterface<TransferModel<WaitOp, WEFT_WAIT>>(*context);
}

int32_t weft::getDType(Type element) {
  if (element.isF32())
    return WEFT_F32;
  if (element.isF64())
    return WEFT_F64;
  if (element.isF16())
    return WEFT_F16;
  if (element.isBF16())
    return WEFT_BF16;
  if (element.isInteger(1))
    return WEFT_I1;
  if (element.isInteger(32))
    return WEFT_I32;
  if (element.isInteger(64))
    return WEFT_I64;
  llvm_unreachable("an element type that no buffer has");
}

static StringRef getKindName(WeftCommandKind kind) {
  switch (kind) {
#define WEFT_NAME_KIND(number, KIND, name, Record)                             \
  case WEFT_##KIND:                                                            \
    return #name;
    WEFT_COMMAND_KINDS(WEFT_NAME_KIND)
#undef WEFT_NAME_KIND
  case WEFT_KERNEL:
  case WEFT_EXTENSION:
    break;
  }
  llvm_unreachable("a kind without a routine of its own");
}

FailureOr<KernelLaunch> TableTarget::getLaunch(plan::LaunchOp launch) const {
  if (std::optional<KernelLaunch> known = findKernel(launch.getKernel()))
    return *known;
  return launch.emitOpError("expects a kernel that ")
         << getLowering() << " has lowered, but @" << launch.getKernel()
         << " is none";
}

FailureOr<RoutineCall> RoutineCall::get(plan::CommandOpInterface command,
                                        const TableTarget &target) {
  auto model = dyn_cast<RoutineOpInterface>(command.getOperation());
  if (!model)
    return command->emitOpError("expects a routine that runs it on ")
           << target.getTitle() << " (RoutineOpInterface), but there is none";
  RoutineCall made;
  made.model = model;
  made.kind = model.getKind();
  made.routine = model.getRoutine().str();
  if (plan::isCollective(command))
    made.routine =
        (target.getCollectivePrefix() + command.getCommandKind()).str();
  if (made.routine.empty() && made.kind == WEFT_EXTENSION)
    return command->emitOpError("expects its model for ")
           << target.getTitle()
           << " to name a routine (getRoutine), but got none";
  if (isTransfer(made.kind) && !target.getEventRoutine(made.kind).empty()) {
    made.routine = target.getEventRoutine(made.kind).str();
    made.kind = WEFT_EXTENSION;
  }
  if (made.routine.empty() && !isTransfer(made.kind))
    made.routine = target.getRoutine(command, getKindName(made.kind));
  if (failed(model.makeRecord(made.record)) ||
      failed(target.check(command, made)))
    return failure();
  return made;
}

FailureOr<int64_t> RoutineCall::getWorkspaceBytes(const TableTarget &target,
                                                  int64_t threads) {
  int64_t bytes = plan::isCollective(model)
                      ? target.getCollectiveWorkspaceBytes(model, record.data())
                  : kind == WEFT_EXTENSION
                      ? model.getWorkspaceBytes(record, threads)
                      : target.getWorkspaceBytes(*this, threads);
  if (bytes < 0)
    return model->emitOpError("expects its model for ")
           << target.getTitle()
           << " to ask for a workspace of at least 0 bytes, but got " << bytes;
  return bytes;
}

void weft::registerRoutineModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, plan::PlanDialect *) {
    attachCollectiveModels(context);
    attachMatrixModels(context);
    attachTransferModels(context);
    attachValueModels(context);
  });
}
