//===- PassUses.cpp - Uses of parameters in both passes -------------------===//

#include "PassUses.h"

#include "weft/Support/ModulePath.h"

using namespace mlir;
using namespace weft;

/// The uses of a value by ops that are no views, through views.
static void findUses(Value value, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses())
    if (isViewOp(use.getOwner()))
      findUses(use.getOwner()->getResult(0), uses);
    else
      uses.push_back(&use);
}

Operation *weft::findLoss(ProgramOp program) {
  if (program.getKind() != ProgramKind::Micro)
    return nullptr;
  ReturnOp end = program.getTerminator();
  return end.getOutputs().empty() ? nullptr
                                  : end.getOutputs().front().getDefiningOp();
}

PassUses weft::splitUses(ReadOp read, Operation *loss) {
  SmallVector<OpOperand *> uses;
  findUses(read, uses);
  PassUses found;
  for (OpOperand *use : uses) {
    bool isForward = !loss || !loss->isBeforeInBlock(use->getOwner());
    (isForward ? found.forward : found.backward).push_back(use);
  }
  return found;
}

/// The last op among the users, or null.
static Operation *findLast(ArrayRef<OpOperand *> uses) {
  Operation *last = nullptr;
  for (OpOperand *use : uses)
    if (!last || last->isBeforeInBlock(use->getOwner()))
      last = use->getOwner();
  return last;
}

SmallVector<PassUses> weft::findPassUses(ArrayRef<ReadOp> reads,
                                         Operation *loss,
                                         const Reshard &reshard) {
  SmallVector<PassUses> found;
  Operation *last = nullptr;
  for (ReadOp read : reads) {
    found.push_back(splitUses(read, loss));
    Operation *user = findLast(found.back().forward);
    if (user && (!last || last->isBeforeInBlock(user)))
      last = user;
  }
  if (!last || !loss)
    return found;
  StringRef unit = getUnit(getScope(last));
  auto isLast = [&](Operation *user) {
    return user == last || (!unit.empty() && getUnit(getScope(user)) == unit);
  };
  for (PassUses &uses : found) {
    Operation *user = findLast(uses.forward);
    if (!user || (!isLast(user) && reshard.frees(getScope(user))))
      continue;
    uses.forward.append(uses.backward);
    uses.backward.clear();
  }
  return found;
}
