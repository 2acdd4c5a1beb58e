//===- Mesh.cpp - The ranks of a run --------------------------------------===//

#include "weft/Dist/Dist.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::dist;

/// `@mesh("replica" = 2, "shard" = 2)`
ParseResult MeshOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<Attribute> axes;
  SmallVector<int64_t> sizes;
  auto parseAxis = [&]() -> ParseResult {
    StringAttr axis;
    if (parser.parseAttribute(axis) || parser.parseEqual() ||
        parser.parseInteger(sizes.emplace_back()))
      return failure();
    axes.push_back(axis);
    return success();
  };
  if (parser.parseSymbolName(name) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseAxis) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.sym_name = name;
  properties.axes = parser.getBuilder().getArrayAttr(axes);
  properties.sizes = parser.getBuilder().getDenseI64ArrayAttr(sizes);
  return success();
}

void MeshOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(
      llvm::zip(getAxes(), getSizes()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << " = " << std::get<1>(axis);
      });
  printer << ')';
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getAxesAttrName(), getSizesAttrName()});
}

LogicalResult MeshOp::verify() {
  if (getAxes().empty() || getAxes().size() != getSizes().size())
    return emitOpError("expects a size for each of at least one axis, but got ")
           << getSizes().size() << " sizes for " << getAxes().size() << " axes";
  llvm::SmallPtrSet<Attribute, 4> seen;
  int64_t ranks = 1;
  for (auto [axis, size] : llvm::zip(getAxes(), getSizes())) {
    if (cast<StringAttr>(axis).empty() || !seen.insert(axis).second)
      return emitOpError("expects axes with names, each its own, but got ")
             << axis;
    if (size < 1 || llvm::MulOverflow(ranks, size, ranks) || ranks > kMostRanks)
      return emitOpError("expects 1 to ")
             << kMostRanks << " ranks, but got " << size << " along " << axis;
  }
  for (auto other : (*this)->getParentOfType<ModuleOp>().getOps<MeshOp>())
    if (other != *this)
      return emitOpError("expects one mesh in a module, but got @")
             << other.getSymName() << " as well";
  return success();
}

int64_t MeshOp::getNumRanks(StringAttr axis) {
  int64_t ranks = 1;
  for (auto [name, size] : llvm::zip(getAxes(), getSizes()))
    if (!axis || name == axis)
      ranks *= size;
  return ranks;
}

bool MeshOp::hasAxis(StringAttr axis) {
  return llvm::is_contained(getAxes(), Attribute(axis));
}

MeshOp weft::dist::findMesh(ModuleOp module) {
  if (!module)
    return {};
  auto meshes = module.getOps<MeshOp>();
  return meshes.empty() ? MeshOp() : *meshes.begin();
}

/// Distance of neighbours along an axis: the ranks of all axes behind it.
static int64_t getStride(MeshOp mesh, StringAttr axis) {
  const auto *found = llvm::find(mesh.getAxes(), Attribute(axis));
  int64_t stride = 1;
  for (int64_t size : mesh.getSizes().drop_front(
           std::distance(mesh.getAxes().begin(), found) + 1))
    stride *= size;
  return stride;
}

SmallVector<SmallVector<int64_t>> weft::dist::getGroups(MeshOp mesh,
                                                        StringAttr axis) {
  bool isAlong = mesh && axis && mesh.hasAxis(axis);
  int64_t all = mesh ? mesh.getNumRanks() : 1;
  int64_t size = isAlong ? mesh.getNumRanks(axis) : all;
  int64_t stride = isAlong ? getStride(mesh, axis) : 1;
  SmallVector<SmallVector<int64_t>> groups;
  for (int64_t first = 0; first < all; ++first) {
    if (first / stride % size != 0)
      continue;
    SmallVector<int64_t> &group = groups.emplace_back();
    for (int64_t number = 0; number < size; ++number)
      group.push_back(first + number * stride);
  }
  return groups;
}
