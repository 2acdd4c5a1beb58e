//===- Collectives.cpp - Collectives on values ----------------------------===//

#include "weft/Dist/Dist.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace weft;
using namespace weft::dist;

//===----------------------------------------------------------------------===//
// Ranks of a collective
//===----------------------------------------------------------------------===//

/// The mesh of a collective, which has its axis; null, with an error, if there
/// is none.
static MeshOp verifyMesh(Operation *op, FlatSymbolRefAttr name, StringAttr axis,
                         SymbolTableCollection &symbols) {
  auto mesh = symbols.lookupNearestSymbolFrom<MeshOp>(op, name);
  if (!mesh) {
    op->emitOpError("expects a dist.mesh, but ") << name << " is none";
    return {};
  }
  if (!axis || mesh.hasAxis(axis))
    return mesh;
  InFlightDiagnostic error =
      op->emitOpError("expects an axis of the mesh, but got ");
  error << axis;
  error.attachNote(mesh.getLoc()) << "the mesh";
  return {};
}

//===----------------------------------------------------------------------===//
// all_gather, reduce_scatter, own_slice, rank
//===----------------------------------------------------------------------===//

/// That `slice` is one of as many slices of `full` as there are ranks.
template <typename OpT>
static LogicalResult verifySliceOf(OpT op, SymbolTableCollection &symbols) {
  MeshOp mesh = verifyMesh(op, op.getMeshAttr(), op.getAxisAttr(), symbols);
  if (!mesh)
    return failure();
  return verifySlices(op, op.getSlice().getType(), op.getFull().getType(),
                      mesh.getNumRanks(op.getAxisAttr()));
}

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySliceOf(*this, symbols);
}

LogicalResult OwnSliceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySliceOf(*this, symbols);
}

LogicalResult
ReduceScatterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  MeshOp mesh = verifyMesh(*this, getMeshAttr(), getAxisAttr(), symbols);
  if (!mesh)
    return failure();
  int64_t ranks = mesh.getNumRanks(getAxisAttr());
  if (failed(verifyDivisors(*this, getPre().convertToDouble(),
                            getPost().convertToDouble(), ranks)))
    return failure();
  return verifySlices(*this, getSlice().getType(), getFull().getType(), ranks);
}

LogicalResult RankOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success(
      bool(verifyMesh(*this, getMeshAttr(), getAxisAttr(), symbols)));
}

//===----------------------------------------------------------------------===//
// all_reduce
//===----------------------------------------------------------------------===//

namespace weft::dist {
/// `[sum, or]`; see weft::parseReductions.
static void printReductions(OpAsmPrinter &printer, Operation *,
                            DenseI64ArrayAttr list) {
  weft::printReductions(printer, list, /*quote=*/"");
}
} // namespace weft::dist

/// Parses one type list, for operands and results.
static ParseResult parseSameTypes(OpAsmParser &parser,
                                  SmallVectorImpl<Type> &operands,
                                  SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results.assign(operands.begin(), operands.end());
  return success();
}

static void printSameTypes(OpAsmPrinter &printer, Operation *,
                           TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

LogicalResult AllReduceOp::verify() {
  return verifyReductions(*this, getNumbers().getTypes(), getReductions(),
                          getReduced().getTypes());
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success(
      bool(verifyMesh(*this, getMeshAttr(), getAxisAttr(), symbols)));
}

#define GET_OP_CLASSES
#include "weft/Dist/DistOps.cpp.inc"
