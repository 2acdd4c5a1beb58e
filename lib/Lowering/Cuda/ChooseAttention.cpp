//===- ChooseAttention.cpp - The code of attention commands ---------------===//

#include "CudaRoutines.h"

#include "weft/Abi/RecordTypes.h"
#include "weft/Lowering/Cuda/Passes.h"

#include "mlir/IR/Remarks.h"

namespace weft {
#define GEN_PASS_DEF_CHOOSEATTENTIONPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// A command of attention, and why cuDNN does not compute it, or "".
struct AttentionCommand {
  Operation *op;
  std::string refusal;
  int64_t draws; // random numbers of its own kernels
};
} // namespace

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

static bool computesAttention(Operation *command) {
  return isa<plan::AttentionOp, plan::AttentionGradOp>(command);
}

bool weft::usesCudnn(ModuleOp plan) {
  return plan
      .walk([](plan::CommandOpInterface command) {
        return command->hasAttr(kAttentionAttr) ? WalkResult::interrupt()
                                                : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The mark of a command that the library computes, or "".
static StringRef getMark(AttentionLibrary library) {
  switch (library) {
  case AttentionLibrary::Own:
    return "";
  case AttentionLibrary::Cudnn:
    return kCudnn;
  case AttentionLibrary::CudnnOrOwn:
    return kCudnnOrOwn;
  }
  llvm_unreachable("an unknown library");
}

std::optional<std::string> weft::findOtherMark(ModuleOp plan,
                                               AttentionLibrary library) {
  std::optional<std::string> other;
  plan.walk([&](plan::CommandOpInterface command) {
    if (!computesAttention(command))
      return WalkResult::advance();
    auto mark = command->getAttrOfType<StringAttr>(kAttentionAttr);
    const StringRef found = mark ? mark.getValue() : "";
    const bool mayLack = library == AttentionLibrary::CudnnOrOwn;
    if (found == getMark(library) || (found.empty() && mayLack))
      return WalkResult::advance();
    other = found.str();
    return WalkResult::interrupt();
  });
  return other;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Random numbers that the own kernels draw: one for each visible score in the
/// forward kernel, and again in both kernels of the adjoint, because nothing of
/// the size of the scores is stored.
static int64_t countDraws(const RoutineCall &call) {
  const auto &s = *call.as<WeftAttentionRecord>();
  if (s.dropout == 0.0)
    return 0;
  const int64_t scores = s.causal ? s.queries * (2 * s.keys - s.queries + 1) / 2
                                  : s.queries * s.keys;
  return s.batch * s.heads * scores * (call.kind == WEFT_ATTENTION ? 1 : 2);
}

static std::string findRefusal(const RoutineCall &call,
                               const CudaRoutines &routines,
                               int64_t mostBytes) {
  if (std::string wrong = routines.findWrongCudnn(call); !wrong.empty())
    return wrong;
  const int64_t bytes = routines.getCudnnBytes(call);
  if (mostBytes == 0 || bytes <= mostBytes)
    return "";
  return "expects a workspace of at most " + std::to_string(mostBytes) +
         " bytes with --attention=auto, but got " + std::to_string(bytes);
}

static FailureOr<SmallVector<AttentionCommand>>
findCommands(ModuleOp module, const CudaRoutines &routines, int64_t mostBytes) {
  SmallVector<AttentionCommand> found;
  WalkResult walked = module.walk([&](plan::CommandOpInterface command) {
    if (!computesAttention(command))
      return WalkResult::advance();
    FailureOr<RoutineCall> call = RoutineCall::get(command, routines);
    if (failed(call))
      return WalkResult::interrupt();
    found.push_back(
        {command, findRefusal(*call, routines, mostBytes), countDraws(*call)});
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  return found;
}

/// An evaluation alone does not justify the library.
static void refuseWithoutGradients(MutableArrayRef<AttentionCommand> commands) {
  auto isGradient = [](const AttentionCommand &command) {
    return isa<plan::AttentionGradOp>(command.op);
  };
  const bool trains = llvm::any_of(commands, isGradient);
  const bool takesGradients =
      llvm::any_of(commands, [&](const AttentionCommand &command) {
        return isGradient(command) && command.refusal.empty();
      });
  if (!trains || takesGradients)
    return;
  for (AttentionCommand &command : commands)
    if (command.refusal.empty())
      command.refusal = "expects gradients that cuDNN computes with "
                        "--attention=auto, but got none";
}

static void report(const AttentionCommand &command) {
  const auto options =
      remark::RemarkOpts::name("attention").category("attention");
  if (command.refusal.empty()) {
    remark::passed(command.op->getLoc(), options)
        << "cuDNN computes attention, or own kernels where it is missing";
    return;
  }
  remark::missed(command.op->getLoc(), options)
      << ("own kernels compute attention: " + command.refusal);
  if (command.draws != 0)
    remark::missed(command.op->getLoc(), options) << remark::add(
        "dropout draws {0} random numbers in each run; without it, or with "
        "dropout of outputs alone, cuDNN could compute attention",
        command.draws);
}

namespace {
struct ChooseAttentionPass
    : weft::impl::ChooseAttentionPassBase<ChooseAttentionPass> {
  using ChooseAttentionPassBase::ChooseAttentionPassBase;

  void mark(Operation *command, StringRef library) {
    command->setAttr(kAttentionAttr, StringAttr::get(&getContext(), library));
    ++numCudnn;
  }

  LogicalResult chooseEach(ArrayRef<CudaTarget> devices) {
    FailureOr<SmallVector<AttentionCommand>> commands = findCommands(
        getOperation(), CudaRoutines(getOperation(), devices), mostBytes);
    if (failed(commands))
      return failure();
    refuseWithoutGradients(*commands);
    for (const AttentionCommand &command : *commands) {
      report(command);
      if (command.refusal.empty())
        mark(command.op, kCudnnOrOwn);
      else
        ++numOwn;
    }
    return success();
  }

  void runOnOperation() override {
    std::string problem;
    FailureOr<SmallVector<CudaTarget>> devices =
        parseCudaTargets("cuda:" + chips, problem);
    if (failed(devices)) {
      getOperation().emitError(problem);
      return signalPassFailure();
    }
    if (attention == AttentionLibrary::CudnnOrOwn) {
      if (failed(chooseEach(*devices)))
        signalPassFailure();
      return;
    }
    getOperation().walk([&](Operation *op) {
      if (!computesAttention(op))
        return;
      if (attention == AttentionLibrary::Cudnn)
        mark(op, kCudnn);
      else
        ++numOwn;
    });
  }
};
} // namespace
