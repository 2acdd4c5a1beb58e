//===- OrderInit.cpp - One unit after the other ---------------------------===//

#include "Partition.h"

#include "weft/Dist/Dist.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;

/// All ops of the program that a value is made by, in their order.
static SmallVector<Operation *> findMakers(Value value) {
  SetVector<Operation *> makers;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    // The number of the rank stays in front of all.
    if (op && !isa<dist::RankOp>(op) && makers.insert(op))
      llvm::append_range(open, op->getOperands());
  }
  SmallVector<Operation *> ordered = makers.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

void weft::orderByWrites(ProgramOp program) {
  ReturnOp end = program.getTerminator();
  SmallVector<SmallVector<Operation *>> writes;
  for (Value value : end.getValues())
    writes.push_back(findMakers(value));
  // A parameter and its copies, which begin with the same op, are neighbours;
  // equal ones stay in their order.
  SmallVector<unsigned> order;
  for (unsigned i = 0; i != writes.size(); ++i)
    order.push_back(i);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    Operation *first = writes[a].empty() ? nullptr : writes[a].front();
    Operation *second = writes[b].empty() ? nullptr : writes[b].front();
    if (first == second || !first || !second)
      return first == second ? a < b : !first;
    return first->isBeforeInBlock(second);
  });
  DenseSet<Operation *> placed;
  for (unsigned write : order)
    for (Operation *op : writes[write])
      if (placed.insert(op).second)
        op->moveBefore(end);
}
