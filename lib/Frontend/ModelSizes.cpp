//===- ModelSizes.cpp - The sizes in a configuration ----------------------===//

#include "weft/Frontend/Frontend.h"

#include "FamilyTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// The recorded value of a field; 0 without one.
static int64_t valueOf(DictionaryAttr config, llvm::StringRef field) {
  auto entry = config.getAs<DictionaryAttr>(field);
  auto value = entry ? entry.getAs<IntegerAttr>("value") : IntegerAttr();
  return value ? value.getInt() : 0;
}

std::optional<ModelSizes> weft::readModelSizes(ModuleOp module) {
  auto config = module->getAttrOfType<DictionaryAttr>("weft.config");
  auto name = module->getAttrOfType<StringAttr>("weft.family");
  if (!config || !name)
    return std::nullopt;
  auto family = llvm::find_if(families(), [&](const Family &row) {
    return row.name == name.getValue();
  });
  if (family == families().end())
    return std::nullopt;
  auto read = [&](int64_t DecoderSpec::*size) {
    return valueOf(config, family->fieldOf(size));
  };
  ModelSizes sizes;
  sizes.layers = read(&DecoderSpec::layerCount);
  sizes.width = read(&DecoderSpec::width);
  sizes.inner = read(&DecoderSpec::inner);
  sizes.heads = read(&DecoderSpec::heads);
  sizes.vocab = read(&DecoderSpec::vocab);
  sizes.context = read(&DecoderSpec::positions);
  sizes.keyHeads = read(&DecoderSpec::groups);
  if (sizes.keyHeads == 0)
    sizes.keyHeads = sizes.heads;
  sizes.headWidth = read(&DecoderSpec::headWidth);
  if (sizes.headWidth == 0 && sizes.heads > 0)
    sizes.headWidth = sizes.width / sizes.heads;
  return sizes;
}
