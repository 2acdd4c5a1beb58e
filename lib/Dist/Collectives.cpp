//===- Collectives.cpp - What ranks send each other -----------------------===//

#include "weft/Dist/Dist.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
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

/// A flat tensor of as many slices as there are ranks.
static LogicalResult verifySlices(Operation *op, RankedTensorType slice,
                                  RankedTensorType full, int64_t ranks) {
  int64_t elements = 0;
  if (!llvm::MulOverflow(slice.getNumElements(), ranks, elements) &&
      elements == full.getNumElements())
    return success();
  return op->emitOpError("expects ")
         << ranks << " slices of one tensor, but got " << slice << " of "
         << full;
}

static LogicalResult verifyFlat(Operation *op, RankedTensorType slice,
                                RankedTensorType full) {
  for (RankedTensorType type : {slice, full})
    if (type.getRank() != 1 || !type.hasStaticShape())
      return op->emitOpError("expects tensors of one static dimension, but "
                             "got ")
             << type;
  if (slice.getElementType() == full.getElementType())
    return success();
  return op->emitOpError("expects one element type, but got ")
         << slice << " and " << full;
}

//===----------------------------------------------------------------------===//
// all_gather, reduce_scatter
//===----------------------------------------------------------------------===//

LogicalResult AllGatherOp::verify() {
  return verifyFlat(*this, getSlice().getType(), getFull().getType());
}

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &symbols) {
  MeshOp mesh = verifyMesh(*this, getMeshAttr(), getAxisAttr(), symbols);
  if (!mesh)
    return failure();
  return verifySlices(*this, getSlice().getType(), getFull().getType(),
                      mesh.getNumRanks(getAxisAttr()));
}

LogicalResult ReduceScatterOp::verify() {
  return verifyFlat(*this, getSlice().getType(), getFull().getType());
}

LogicalResult
ReduceScatterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  MeshOp mesh = verifyMesh(*this, getMeshAttr(), getAxisAttr(), symbols);
  if (!mesh)
    return failure();
  int64_t ranks = mesh.getNumRanks(getAxisAttr());
  double pre = getPre().convertToDouble(), post = getPost().convertToDouble();
  if (!(pre >= 1 && post >= 1 && pre * post == double(ranks)))
    return emitOpError("expects pre and post of at least 1 whose product is "
                       "the number of ranks, ")
           << ranks << ", but got " << pre << " and " << post;
  return verifySlices(*this, getSlice().getType(), getFull().getType(), ranks);
}

//===----------------------------------------------------------------------===//
// all_reduce
//===----------------------------------------------------------------------===//

/// `[sum, or]`
static ParseResult parseReductions(OpAsmParser &parser, ArrayAttr &list) {
  SmallVector<Attribute> reductions;
  auto parseOne = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Reduction> known = symbolizeReduction(word);
    if (!known)
      return parser.emitError(loc, "expects sum, max or or, but got ") << word;
    reductions.push_back(ReductionAttr::get(parser.getContext(), *known));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  list = parser.getBuilder().getArrayAttr(reductions);
  return success();
}

static void printReductions(OpAsmPrinter &printer, Operation *,
                            ArrayAttr list) {
  printer << '[';
  llvm::interleaveComma(list.getAsRange<ReductionAttr>(), printer,
                        [&](ReductionAttr one) {
                          printer << stringifyReduction(one.getValue());
                        });
  printer << ']';
}

/// The types of the operands, which are those of the results.
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
  if (getNumbers().empty() || getNumbers().size() != getReductions().size() ||
      getNumbers().getTypes() != getReduced().getTypes())
    return emitOpError("expects a reduction and a result of the same type for "
                       "each of at least one number, but got ")
           << getReductions().size() << " and " << getReduced().size()
           << " for " << getNumbers().size();
  for (auto [number, reduction] :
       llvm::zip(getNumbers(), getReductions().getAsRange<ReductionAttr>())) {
    auto type = cast<RankedTensorType>(number.getType());
    bool isFlag = type.getElementType().isInteger(1);
    if (type.getRank() == 0 &&
        isFlag == (reduction.getValue() == Reduction::Or))
      continue;
    return emitOpError("expects sum and max of tensor<f64>, or of tensor<i1>, "
                       "but got ")
           << stringifyReduction(reduction.getValue()) << " of " << type;
  }
  return success();
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success(
      bool(verifyMesh(*this, getMeshAttr(), getAxisAttr(), symbols)));
}

#define GET_OP_CLASSES
#include "weft/Dist/DistOps.cpp.inc"
