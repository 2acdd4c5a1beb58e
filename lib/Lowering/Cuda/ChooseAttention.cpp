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
  int64_t draws = 0; // random numbers of its own kernels
  CudnnOrder order = CudnnOrder::Fixed;
  // Of cuDNN's workspace.
  int64_t fixedBytes = 0;
  /// Gradients that fit into the limit in any order alone.
  std::optional<int64_t> anyBytes = {};
};

/// Decides for commands one by one, by the limits of the pass.
class AttentionChooser {
public:
  AttentionChooser(const CudaRoutines &routines, int64_t mostBytes,
                   bool deterministic)
      : routines(routines), mostBytes(mostBytes), deterministic(deterministic) {
  }

  AttentionCommand choose(Operation *op, const RoutineCall &call) const;

private:
  bool fits(int64_t bytes) const {
    return mostBytes == 0 || bytes <= mostBytes;
  }
  std::string findRefusal(const RoutineCall &call,
                          const AttentionCommand &command) const;

  const CudaRoutines &routines;
  int64_t mostBytes;
  bool deterministic;
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

int64_t weft::countNondeterministic(ModuleOp plan) {
  int64_t count = 0;
  plan.walk([&](plan::CommandOpInterface command) {
    count += command->hasAttr(kNondeterministicAttr);
  });
  return count;
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
/// forward kernel, and again in both kernels of the adjoint, unless it reads
/// the bits of the forward kernel.
static int64_t countDraws(const RoutineCall &call) {
  const auto &s = *call.as<WeftAttentionRecord>();
  const bool reads = call.kind == WEFT_ATTENTION_GRAD && s.hasBits;
  if (s.dropout == 0.0 || reads)
    return 0;
  const int64_t scores = s.causal ? s.queries * (2 * s.keys - s.queries + 1) / 2
                                  : s.queries * s.keys;
  return s.batch * s.heads * scores * (call.kind == WEFT_ATTENTION ? 1 : 2);
}

std::string
AttentionChooser::findRefusal(const RoutineCall &call,
                              const AttentionCommand &command) const {
  if (std::string wrong = routines.findWrongCudnn(call); !wrong.empty())
    return wrong;
  if (command.order == CudnnOrder::Any || fits(command.fixedBytes))
    return "";
  return "expects a workspace of at most " + std::to_string(mostBytes) +
         " bytes with --attention=auto, but got " +
         std::to_string(command.fixedBytes);
}

AttentionCommand AttentionChooser::choose(Operation *op,
                                          const RoutineCall &call) const {
  AttentionCommand command{op, ""};
  command.draws = countDraws(call);
  command.fixedBytes = routines.getCudnnBytes(call, CudnnOrder::Fixed);
  if (call.kind == WEFT_ATTENTION_GRAD && !fits(command.fixedBytes))
    if (int64_t bytes = routines.getCudnnBytes(call, CudnnOrder::Any);
        fits(bytes))
      command.anyBytes = bytes;
  if (!deterministic && command.anyBytes)
    command.order = CudnnOrder::Any;
  command.refusal = findRefusal(call, command);
  return command;
}

static FailureOr<SmallVector<AttentionCommand>>
findCommands(ModuleOp module, const CudaRoutines &routines,
             const AttentionChooser &chooser) {
  SmallVector<AttentionCommand> found;
  WalkResult walked = module.walk([&](plan::CommandOpInterface command) {
    if (!computesAttention(command))
      return WalkResult::advance();
    FailureOr<RoutineCall> call = RoutineCall::get(command, routines);
    if (failed(call))
      return WalkResult::interrupt();
    found.push_back(chooser.choose(command, *call));
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

static const auto kRemark =
    remark::RemarkOpts::name("attention").category("attention");

/// Gradients without a fixed order are a choice of the user.
static void reportOrder(const AttentionCommand &command) {
  if (command.order == CudnnOrder::Any)
    remark::passed(command.op->getLoc(), kRemark) << remark::add(
        "the gradients differ from run to run (--deterministic=off): a fixed "
        "order of their sums would take {0} bytes of workspace instead of {1}",
        command.fixedBytes, *command.anyBytes);
}

static void reportRefusal(const AttentionCommand &command) {
  const Location loc = command.op->getLoc();
  remark::missed(loc, kRemark)
      << ("own kernels compute attention: " + command.refusal);
  if (command.draws != 0)
    remark::missed(loc, kRemark) << remark::add(
        "dropout draws {0} random numbers in each run; without it, or with "
        "dropout of outputs alone, cuDNN could compute attention",
        command.draws);
  else if (command.anyBytes && command.order == CudnnOrder::Fixed)
    remark::missed(loc, kRemark) << remark::add(
        "with --deterministic=off, cuDNN could compute the gradients in {0} "
        "bytes of workspace, but they would differ from run to run",
        *command.anyBytes);
}

static void report(const AttentionCommand &command) {
  if (!command.refusal.empty())
    return reportRefusal(command);
  remark::passed(command.op->getLoc(), kRemark)
      << "cuDNN computes attention, or own kernels where it is missing";
  reportOrder(command);
}

namespace {
struct ChooseAttentionPass
    : weft::impl::ChooseAttentionPassBase<ChooseAttentionPass> {
  using ChooseAttentionPassBase::ChooseAttentionPassBase;

  void mark(Operation *command, StringRef library) {
    command->setAttr(kAttentionAttr, StringAttr::get(&getContext(), library));
    ++numCudnn;
  }

  void markOrder(const AttentionCommand &command) {
    if (command.order == CudnnOrder::Fixed)
      return;
    command.op->setAttr(kNondeterministicAttr, UnitAttr::get(&getContext()));
    ++numNondeterministic;
  }

  /// cuDNN computes all commands, or the first that it cannot is an error of
  /// later passes.
  void takeAll(ArrayRef<AttentionCommand> commands) {
    for (const AttentionCommand &command : commands) {
      mark(command.op, kCudnn);
      markOrder(command);
      reportOrder(command);
    }
  }

  void chooseEach(MutableArrayRef<AttentionCommand> commands) {
    refuseWithoutGradients(commands);
    for (const AttentionCommand &command : commands) {
      report(command);
      if (command.refusal.empty()) {
        mark(command.op, kCudnnOrOwn);
        markOrder(command);
      } else {
        ++numOwn;
      }
    }
  }

  void runOnOperation() override {
    FailureOr<SmallVector<CudaTarget>> devices =
        parseChips(getOperation(), chips);
    if (failed(devices))
      return signalPassFailure();
    if (attention == AttentionLibrary::Own) {
      getOperation().walk(
          [&](Operation *op) { numOwn += computesAttention(op); });
      return;
    }
    CudaRoutines routines(getOperation(), *devices);
    FailureOr<SmallVector<AttentionCommand>> commands =
        findCommands(getOperation(), routines,
                     AttentionChooser(routines, mostBytes, deterministic));
    if (failed(commands))
      return signalPassFailure();
    if (attention == AttentionLibrary::Cudnn)
      takeAll(*commands);
    else
      chooseEach(*commands);
    if (!deterministic && numNondeterministic == 0)
      remark::missed(getOperation().getLoc(), kRemark)
          << remark::add("--deterministic=off has no effect: no gradients "
                         "that cuDNN computes need it");
  }
};
} // namespace
