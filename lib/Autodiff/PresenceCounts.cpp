//===- PresenceCounts.cpp - In which steps parameters have gradients ------===//

#include "PresenceCounts.h"

using namespace mlir;

namespace weft {

StateOp PresenceCounts::find(const Deciding &deciding) const {
  for (const Entry &entry : entries)
    if (entry.deciding == deciding)
      return entry.state;
  return {};
}

void PresenceCounts::add(const Deciding &deciding, StateOp state) {
  entries.push_back({deciding, state});
}

static Value makeNumber(OpBuilder &builder, StateOp state, float number) {
  return ConstantOp::create(builder, state.getLoc(),
                            cast<ElementsAttr>(DenseElementsAttr::get(
                                state.getTensorType(), number)));
}

SmallVector<std::pair<StringRef, Value>>
PresenceCounts::count(Branches &branches, OpBuilder &builder,
                      BackwardOps &backward, Value flag) const {
  SmallVector<std::pair<StringRef, Value>> counts;
  for (const Entry &entry : entries) {
    StateOp state = entry.state;
    Location loc = state.getLoc();
    Value absent = branches.areLeftOut(entry.deciding);
    backward.follow(loc, "");
    Value count =
        SelectOp::create(builder, loc, absent, makeNumber(builder, state, 0.0f),
                         makeNumber(builder, state, 1.0f));
    if (flag) {
      Value old = ReadOp::create(builder, loc, state.getTensorType(),
                                 state.getSymName());
      count = AccumulateOp::create(builder, loc, old, count, flag);
    }
    counts.push_back({state.getSymName(), count});
  }
  return counts;
}

} // namespace weft
