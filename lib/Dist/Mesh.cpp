//===- Mesh.cpp - The ranks of a run --------------------------------------===//

#include "weft/Dist/Dist.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
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

double weft::dist::choosePreDivide(int64_t ranks) {
  int64_t factor = 1;
  while (ranks % factor == 0 && ranks / factor > factor)
    factor *= 2;
  return static_cast<double>(factor);
}
