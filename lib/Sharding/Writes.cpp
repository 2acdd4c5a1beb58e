//===- Writes.cpp - The states that a program writes ----------------------===//

#include "Writes.h"

using namespace mlir;

namespace weft {

Writes getWrites(ProgramOp program) {
  Writes writes;
  ReturnOp end = program.getTerminator();
  for (auto [target, value] : llvm::zip(end.getTargets(), end.getValues()))
    writes.push_back({cast<FlatSymbolRefAttr>(target), value});
  return writes;
}

void setWrites(ProgramOp program, ArrayRef<Write> writes) {
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

} // namespace weft
