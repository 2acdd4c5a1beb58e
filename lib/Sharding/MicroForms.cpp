//===- MicroForms.cpp - Program variants for the micro-steps --------------===//

#include "Partition.h"

#include "weft/Abi/MicroSteps.h"

using namespace mlir;
using namespace weft;

Writes weft::getWrites(ProgramOp program) {
  Writes writes;
  ReturnOp end = program.getTerminator();
  for (auto [target, value] : llvm::zip(end.getTargets(), end.getValues()))
    writes.push_back({cast<FlatSymbolRefAttr>(target), value});
  return writes;
}

void weft::setWrites(ProgramOp program, ArrayRef<Write> writes) {
  ReturnOp end = program.getTerminator();
  SmallVector<Attribute> targets;
  SmallVector<Value> values;
  for (const Write &write : writes) {
    targets.push_back(write.state);
    values.push_back(write.value);
  }
  OpBuilder builder(end);
  ReturnOp::create(builder, end.getLoc(), end.getOutputs(), values,
                   builder.getArrayAttr(targets));
  end.erase();
}

/// Clones the program under another name, next to it.
static ProgramOp cloneAs(ProgramOp program, StringRef name,
                         SymbolTable &symbols) {
  auto made = cast<ProgramOp>(program->clone());
  made.setSymName(name);
  symbols.insert(made, std::next(program->getIterator()));
  return made;
}

//===----------------------------------------------------------------------===//
// Reduce or keep
//===----------------------------------------------------------------------===//

using Accumulators = DenseMap<StringAttr, StringAttr>;

/// Makes the program write its gradients to accumulators, too.
static Accumulators writeAccumulators(ProgramOp micro,
                                      const ShardedStates &states,
                                      SymbolTable &symbols) {
  Accumulators accumulators;
  Writes writes = getWrites(micro), sums;
  for (auto [name, value] : writes) {
    auto gradient = symbols.lookup<StateOp>(name.getAttr());
    if (!gradient || gradient.getKind() != StateKind::Gradient ||
        !states.sharded.contains(name.getAttr()))
      continue;
    StateOp sum =
        declareBeside(gradient, names::kSum, StateKind::Accumulator,
                      cast<RankedTensorType>(value.getType()), symbols);
    accumulators[name.getAttr()] = sum.getSymNameAttr();
    sums.push_back({FlatSymbolRefAttr::get(sum.getSymNameAttr()), value});
  }
  llvm::append_range(writes, sums);
  setWrites(micro, writes);
  return accumulators;
}

static void readAccumulators(ProgramOp micro,
                             const Accumulators &accumulators) {
  for (auto read : micro.getBody().front().getOps<ReadOp>())
    if (StringAttr sum = accumulators.lookup(read.getSourceAttr().getAttr()))
      read.setSourceAttr(FlatSymbolRefAttr::get(sum));
}

static void dropGradients(ProgramOp micro, const Accumulators &accumulators) {
  Writes writes = getWrites(micro);
  llvm::erase_if(writes, [&](const Write &write) {
    return accumulators.contains(write.state.getAttr());
  });
  setWrites(micro, writes);
}

void weft::declareAccumulators(ProgramOp micro, const ShardedStates &states) {
  SymbolTable symbols(micro->getParentOfType<ModuleOp>());
  Accumulators accumulators = writeAccumulators(micro, states, symbols);
  if (accumulators.empty())
    return;
  readAccumulators(micro, accumulators);
  dropGradients(cloneAs(micro, names::kMicroKeep, symbols), accumulators);
}

//===----------------------------------------------------------------------===//
// First or later
//===----------------------------------------------------------------------===//

void weft::makeLaterForms(ProgramOp micro) {
  SymbolTable symbols(micro->getParentOfType<ModuleOp>());
  ProgramOp last = micro;
  if (auto keep = symbols.lookup<ProgramOp>(names::kMicroKeep))
    last = cloneAs(keep, names::kMicroLaterKeep, symbols);
  ProgramOp later = cloneAs(micro, names::kMicroLater, symbols);
  later->moveAfter(last);
}
