//===- OldGradients.cpp - What the step before left behind ----------------===//

#include "OldGradients.h"

#include "weft/Formats/Names.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {

OldGradients::OldGradients(plan::ProgramOp program, SymbolTable &symbols)
    : symbols(symbols) {
  for (auto input : program.getBody().front().getOps<plan::InputOp>())
    if (input.getName() == names::kAccumulate)
      flags.insert(input.getBuffer());
}

//===----------------------------------------------------------------------===//
// What a buffer is computed from
//===----------------------------------------------------------------------===//

/// The kernel of a launch, or null where its body says nothing any more.
static FunctionOpInterface findKernel(plan::LaunchOp launch,
                                      SymbolTable &symbols) {
  auto kernel =
      dyn_cast_or_null<FunctionOpInterface>(symbols.lookup(launch.getKernel()));
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
                                        unsigned index, SymbolTable &symbols) {
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

/// Whether the flag may tell the command not to use operand `index`. What a
/// kernel selects by a flag is in its body: any source beside it may be meant.
bool OldGradients::leavesUnread(plan::CommandOpInterface command,
                                unsigned index,
                                ArrayRef<unsigned> sources) const {
  Operation *op = command;
  if (auto accumulate = dyn_cast<plan::AccumulateOp>(op))
    return index == 0 && isFlag(accumulate.getFlag());
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

/// The state whose old contents are in what these operands make, or "".
StringRef OldGradients::findKept(plan::CommandOpInterface command,
                                 ArrayRef<unsigned> sources,
                                 Predicate unwritten) const {
  for (unsigned source : sources) {
    Value buffer = command->getOperand(source);
    if (leavesUnread(command, source, sources))
      continue;
    if (unwritten(buffer))
      return plan::getRoot(buffer).getDefiningOp<plan::UseOp>().getState();
    if (StringRef state = lookup(buffer); !state.empty())
      return state;
  }
  return "";
}

/// Whether a buffer is all of its root.
static bool isWhole(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto root = cast<MemRefType>(plan::getRoot(buffer).getType());
  return type.getNumElements() == root.getNumElements();
}

StringRef OldGradients::add(plan::CommandOpInterface command,
                            Predicate unwritten) {
  struct Effect {
    Value buffer;
    StringRef kept;
    bool isFlag;
  };
  // All reads come before the writes.
  SmallVector<Effect> effects;
  for (auto [index, buffer] : llvm::enumerate(command->getOperands())) {
    if (!command.isWritten(index))
      continue;
    SmallVector<unsigned> sources = getSources(command, index, symbols);
    bool makesFlag =
        !sources.empty() && llvm::all_of(sources, [&](unsigned source) {
          return isFlag(command->getOperand(source));
        });
    effects.push_back(
        {buffer, findKept(command, sources, unwritten), makesFlag});
  }
  for (const Effect &effect : effects) {
    Value root = plan::getRoot(effect.buffer);
    if (!effect.kept.empty() && root.getDefiningOp<plan::UseOp>())
      return effect.kept;
    if (!effect.kept.empty())
      old[root] = effect.kept;
    else if (isWhole(effect.buffer))
      old.erase(root);
    if (effect.isFlag)
      flags.insert(root);
    else
      flags.erase(root);
  }
  return "";
}

} // namespace weft
