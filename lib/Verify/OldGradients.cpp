//===- OldGradients.cpp - Gradients of the previous step ------------------===//

#include "OldGradients.h"

#include "KernelBody.h"
#include "StateTable.h"
#include "weft/Abi/Names.h"
#include "weft/Plan/Transfers.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {

namespace {
/// The state whose old contents a root depends on, and the views of the root
/// that do.
struct OldContents {
  plan::UseOp state;
  SmallVector<MemRefType, 1> views;
};

class OldGradients {
public:
  OldGradients(plan::ProgramOp program, const SymbolTable &symbols);

  LogicalResult verify();

private:
  /// The effect of a command on one operand that it writes.
  struct Effect {
    Value buffer;
    /// The state whose old contents are in it, or null.
    plan::UseOp kept;
    bool isFlag;
  };

  bool isFlag(Value buffer) const {
    return buffer && flags.contains(plan::getRoot(buffer));
  }
  bool isMadeHere(plan::StateOp state);
  bool isUnwritten(Value buffer);
  plan::UseOp lookup(Value buffer);
  bool concerns(plan::CommandOpInterface command);
  bool leavesUnread(plan::CommandOpInterface command, unsigned index,
                    ArrayRef<unsigned> sources) const;
  plan::UseOp findKept(plan::CommandOpInterface command,
                       ArrayRef<unsigned> sources);
  Effect getEffect(plan::CommandOpInterface command, unsigned index);
  void add(const Effect &effect);
  LogicalResult verifyCommand(plan::CommandOpInterface command);
  void addWrites(plan::CommandOpInterface command);
  LogicalResult report(Operation *op, plan::UseOp kept) const;

  plan::ProgramOp program;
  const SymbolTable &symbols;
  /// Gradients by their buffer, with the elements that have been written.
  llvm::DenseMap<Value, ElementSet> gradients;
  /// Roots that distinguish the first micro-step from the others.
  llvm::DenseSet<Value> flags;
  /// Roots that depend on old contents.
  llvm::DenseMap<Value, OldContents> old;
};
} // namespace

/// Whether this program computes the state anew in each step. `denominators`
/// computes the denominators, `micro` the other states.
bool OldGradients::isMadeHere(plan::StateOp state) {
  const bool counts = state.getKind() == plan::StateKind::Denominator;
  return plan::isMadeByStep(state.getKind()) &&
         counts == (program.getKind() == names::kDenominators);
}

OldGradients::OldGradients(plan::ProgramOp program, const SymbolTable &symbols)
    : program(program), symbols(symbols) {
  Block &body = program.getBody().front();
  for (auto input : body.getOps<plan::InputOp>())
    if (input.getName() == names::kAccumulate)
      flags.insert(input.getBuffer());
  for (auto use : body.getOps<plan::UseOp>())
    if (isMadeHere(symbols.lookup<plan::StateOp>(use.getStateAttr().getAttr())))
      gradients[use.getBuffer()];
}

//===----------------------------------------------------------------------===//
// Sources of a buffer
//===----------------------------------------------------------------------===//

FunctionOpInterface findKernel(plan::LaunchOp launch,
                               const SymbolTable &symbols) {
  auto kernel = dyn_cast_or_null<FunctionOpInterface>(
      symbols.lookup(launch.getKernelAttr().getAttr()));
  bool isReadable = kernel && !kernel.isExternal() &&
                    isa<KernelOpInterface>(kernel.getOperation());
  return isReadable ? kernel : FunctionOpInterface();
}

/// Arguments of a straight-line kernel that result `index` depends on.
static SmallVector<unsigned> getArguments(FunctionOpInterface kernel,
                                          unsigned index) {
  SetVector<Value> values;
  Block &body = kernel.getFunctionBody().front();
  values.insert(body.getTerminator()->getOperand(index));
  SmallVector<unsigned> arguments;
  for (size_t i = 0; i != values.size(); ++i) {
    Value value = values[i];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == &body)
        arguments.push_back(argument.getArgNumber());
      continue;
    }
    value.getDefiningOp()->walk([&](Operation *op) {
      values.insert(op->operand_begin(), op->operand_end());
    });
  }
  return arguments;
}

/// The operands that written operand `index` is computed from.
static SmallVector<unsigned> getSources(plan::CommandOpInterface command,
                                        unsigned index,
                                        const SymbolTable &symbols) {
  if (auto launch = dyn_cast<plan::LaunchOp>(*command))
    if (FunctionOpInterface kernel = findKernel(launch, symbols))
      return getArguments(kernel, index - launch.getInputs().size());
  SmallVector<unsigned> sources;
  for (unsigned i = 0; i != command->getNumOperands(); ++i)
    if (command.isRead(i))
      sources.push_back(i);
  return sources;
}

//===----------------------------------------------------------------------===//
// OldGradients
//===----------------------------------------------------------------------===//

/// Whether a buffer is a gradient that no command has written.
bool OldGradients::isUnwritten(Value buffer) {
  auto gradient = gradients.find(plan::getRoot(buffer));
  return gradient != gradients.end() &&
         !gradient->second.covers(cast<MemRefType>(buffer.getType()));
}

/// The state whose old contents a buffer may hold, or null.
plan::UseOp OldGradients::lookup(Value buffer) {
  return isUnwritten(buffer) ? getUse(buffer)
                             : old.lookup(plan::getRoot(buffer)).state;
}

/// Whether the command may ignore operand `index` because of the flag. A
/// kernel's selection is in its body, so it may ignore any other source.
bool OldGradients::leavesUnread(plan::CommandOpInterface command,
                                unsigned index,
                                ArrayRef<unsigned> sources) const {
  Operation *op = command;
  if (auto gemm = dyn_cast<plan::GemmOp>(op))
    return index == gemm.getTargetMutable().getOperandNumber() &&
           isFlag(gemm.getFlag());
  if (auto table = dyn_cast<plan::EmbeddingGradOp>(op))
    return index == table.getTargetMutable().getOperandNumber() &&
           isFlag(table.getFlag());
  return isa<plan::LaunchOp>(op) && llvm::any_of(sources, [&](unsigned source) {
           return isFlag(op->getOperand(source));
         });
}

/// The state whose old contents reach the result of these operands, or null.
plan::UseOp OldGradients::findKept(plan::CommandOpInterface command,
                                   ArrayRef<unsigned> sources) {
  for (unsigned source : sources)
    if (!leavesUnread(command, source, sources))
      if (plan::UseOp kept = lookup(command->getOperand(source)))
        return kept;
  return {};
}

/// Erases the views that `buffer` covers completely.
static void eraseCovered(SmallVectorImpl<MemRefType> &views, Value buffer) {
  ElementSet written;
  written.add(
      cast<MemRefType>(buffer.getType()),
      cast<MemRefType>(plan::getRoot(buffer).getType()).getNumElements());
  llvm::erase_if(views, [&](MemRefType view) { return written.covers(view); });
}

OldGradients::Effect OldGradients::getEffect(plan::CommandOpInterface command,
                                             unsigned index) {
  SmallVector<unsigned> sources = getSources(command, index, symbols);
  bool makesFlag =
      !sources.empty() && llvm::all_of(sources, [&](unsigned source) {
        return isFlag(command->getOperand(source));
      });
  return {command->getOperand(index), findKept(command, sources), makesFlag};
}

void OldGradients::add(const Effect &effect) {
  Value root = plan::getRoot(effect.buffer);
  if (effect.kept) {
    OldContents &contents = old[root];
    contents.state = effect.kept;
    contents.views.push_back(cast<MemRefType>(effect.buffer.getType()));
  } else if (auto contents = old.find(root); contents != old.end()) {
    eraseCovered(contents->second.views, effect.buffer);
    if (contents->second.views.empty())
      old.erase(contents);
  }
  if (effect.isFlag)
    flags.insert(root);
  else
    flags.erase(root);
}

/// Whether a command uses flags or old gradients. Most commands do not, and
/// their kernels need not be analysed.
bool OldGradients::concerns(plan::CommandOpInterface command) {
  for (auto [index, buffer] : llvm::enumerate(command->getOperands())) {
    Value root = plan::getRoot(buffer);
    if (flags.contains(root) || old.contains(root) ||
        (gradients.contains(root) && command.isRead(index) &&
         isUnwritten(buffer)))
      return true;
  }
  return false;
}

void OldGradients::addWrites(plan::CommandOpInterface command) {
  for (auto [index, buffer] : llvm::enumerate(command->getOperands())) {
    Value root = plan::getRoot(buffer);
    auto gradient = gradients.find(root);
    if (gradient != gradients.end() && command.isWritten(index))
      gradient->second.add(cast<MemRefType>(buffer.getType()),
                           cast<MemRefType>(root.getType()).getNumElements());
  }
}

LogicalResult OldGradients::verifyCommand(plan::CommandOpInterface command) {
  if (plan::isTransfer(command))
    return success(); // does not change values
  if (concerns(command)) {
    // All reads come before the writes.
    SmallVector<Effect> effects;
    for (unsigned i = 0; i != command->getNumOperands(); ++i)
      if (command.isWritten(i))
        effects.push_back(getEffect(command, i));
    for (const Effect &effect : effects) {
      if (effect.kept && getUse(effect.buffer))
        return report(command, effect.kept);
      add(effect);
    }
  }
  addWrites(command);
  return success();
}

LogicalResult OldGradients::report(Operation *op, plan::UseOp kept) const {
  InFlightDiagnostic error =
      op->emitOpError("expects values of this step, but got some that depend "
                      "on what @")
      << kept.getState() << " held before @"
      << plan::ProgramOp(program).getSymName() << " has written it";
  error.attachNote(symbols.lookup(kept.getStateAttr().getAttr())->getLoc())
      << "the state is declared here";
  return error;
}

LogicalResult OldGradients::verify() {
  Block &body = program.getBody().front();
  for (auto command : body.getOps<plan::CommandOpInterface>())
    if (failed(verifyCommand(command)))
      return failure();
  for (auto output : body.getOps<plan::OutputOp>())
    if (plan::UseOp kept = lookup(output.getBuffer()))
      return report(output, kept);
  return success();
}

LogicalResult verifyOldGradients(plan::ProgramOp program,
                                 const SymbolTable &symbols) {
  if (program.getKind() != names::kMicro &&
      program.getKind() != names::kDenominators)
    return success();
  return OldGradients(program, symbols).verify();
}

} // namespace weft
