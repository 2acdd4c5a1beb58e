//===- FamilyTable.cpp - The families in order ----------------------------===//

#include "FamilyRows.h"

using namespace weft;

llvm::StringRef Family::fieldOf(int64_t DecoderSpec::*target) const {
  for (const SizeField &field : sizes)
    if (field.target == target)
      return field.name;
  return "";
}

const std::vector<Family> &weft::families() {
  static const std::vector<Family> table = {
      makeGpt2(),       makeLlama(),   makeMistral(), makeQwen2(),
      makeQwen3(),      makeGemma(),   makeGemma2(),  makeGemma3(),
      makePhi3(),       makeSmolLm3(), makeOlmo2(),   makeGptNeoX(),
      makeStarCoder2(), makeOpt(),     makePhi(),     makeGranite(),
      makeStableLm()};
  return table;
}
