//===- MeshSyntax.cpp - The ranks of a run as text ------------------------===//

#include "weft/Sharding/MeshSyntax.h"

#include "weft/Dist/Dist.h"

using namespace mlir;
using namespace weft;

/// "dp:4"
static std::optional<MeshTextAxis> parseAxis(StringRef text) {
  auto [name, number] = text.split(':');
  MeshTextAxis axis = {name.str(), 0};
  bool isNumber = !number.empty() && number.find_first_not_of("0123456789") ==
                                         llvm::StringRef::npos;
  if (!isNumber || number.getAsInteger(10, axis.size) || axis.size < 1 ||
      axis.size > kMostRanks)
    return std::nullopt;
  return axis;
}

static bool hasNames(const MeshText &mesh, ArrayRef<StringRef> names) {
  return mesh.size() == names.size() &&
         llvm::all_of(llvm::zip(mesh, names), [](auto pair) {
           return std::get<0>(pair).name == std::get<1>(pair);
         });
}

std::optional<MeshText> weft::parseMesh(StringRef text) {
  MeshText mesh;
  SmallVector<StringRef> words;
  text.split(words, ',');
  int64_t ranks = 1;
  for (StringRef word : words) {
    std::optional<MeshTextAxis> axis = parseAxis(word);
    if (!axis || ranks > kMostRanks / axis->size)
      return std::nullopt;
    ranks *= axis->size;
    mesh.push_back(*axis);
  }
  if (hasNames(mesh, {"dp"}) || hasNames(mesh, {"replica", "shard"}))
    return mesh;
  return std::nullopt;
}
