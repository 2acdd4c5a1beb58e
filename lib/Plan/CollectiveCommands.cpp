//===- CollectiveCommands.cpp - Messages of the collectives of a plan -----===//

#include "weft/Plan/PlanCollectives.h"

#include "weft/Interfaces/Ranks.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llvm;

namespace weft::plan {

//===----------------------------------------------------------------------===//
// all_gather, reduce_scatter, own_slice, rank
//===----------------------------------------------------------------------===//

/// An edited plan may break these rules, and estimates sum up `link_us` per
/// link.
static LogicalResult verifyLink(CommandOpInterface command) {
  if (Attribute link = command->getAttr(kLinkAttr);
      link && !isa<StringAttr>(link))
    return command->emitOpError("expects `link` to be a text, but got ")
           << link;
  Attribute attribute = command->getAttr(kLinkUsAttr);
  if (!attribute)
    return success();
  auto link = dyn_cast<FloatAttr>(attribute);
  FloatAttr all = command.getEstUsAttr();
  if (link && all && link.getValueAsDouble() >= 0 &&
      link.getValueAsDouble() <= all.getValueAsDouble())
    return success();
  return command->emitOpError("expects `link_us` to be a number from 0 to its "
                              "est_us, but got ")
         << attribute;
}

LogicalResult RankOp::verify() {
  if (getRanks() > 0)
    return success();
  return emitOpError("expects at least one rank, but got ") << getRanks();
}

LogicalResult OwnSliceOp::verify() {
  return verifySlices(*this, cast<ShapedType>(getSlice().getType()),
                      cast<ShapedType>(getFull().getType()), getRanks());
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyLink(cast<CommandOpInterface>(getOperation()))))
    return failure();
  return verifySlices(*this, cast<ShapedType>(getSlice().getType()),
                      cast<ShapedType>(getFull().getType()), getRanks());
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyLink(cast<CommandOpInterface>(getOperation()))))
    return failure();
  if (failed(verifyDivisors(*this, getPre().convertToDouble(),
                            getPost().convertToDouble(), getRanks())))
    return failure();
  return verifySlices(*this, cast<ShapedType>(getSlice().getType()),
                      cast<ShapedType>(getFull().getType()), getRanks());
}

//===----------------------------------------------------------------------===//
// all_reduce
//===----------------------------------------------------------------------===//

LogicalResult AllReduceOp::verify() {
  if (failed(verifyLink(cast<CommandOpInterface>(getOperation()))))
    return failure();
  return verifyReductions(*this, getNumbers().getTypes(), getReductions(),
                          getReduced().getTypes());
}

bool isCollective(Operation *command) {
  return isa<AllGatherOp, ReduceScatterOp, OwnSliceOp, RankOp, AllReduceOp>(
      command);
}

bool isAsync(Operation *command) {
  return isa<AllGatherOp, ReduceScatterOp>(command) &&
         cast<CommandOpInterface>(command).getStreamNumber() != 0;
}

/// `["sum", "or"]`; see weft::parseReductions.
static void printReductions(OpAsmPrinter &printer, Operation *,
                            DenseI64ArrayAttr list) {
  weft::printReductions(printer, list, /*quote=*/"\"");
}

} // namespace weft::plan

#define GET_OP_CLASSES
#include "weft/Plan/PlanCollectiveOps.cpp.inc"
