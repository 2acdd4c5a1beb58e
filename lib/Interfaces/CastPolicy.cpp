//===- CastPolicy.cpp - What mixed precision does with an op --------------===//

#include "weft/Interfaces/CastPolicy.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include "weft/Interfaces/CastPolicy.cpp.inc"

using namespace weft;

llvm::ArrayRef<llvm::StringRef> weft::getCastRecipeNames() {
  static const auto names = llvm::map_to_vector(
      llvm::seq_inclusive<uint64_t>(0, getMaxEnumValForCastRecipe()),
      [](uint64_t value) { return stringifyCastRecipe(CastRecipe(value)); });
  return names;
}

std::optional<CastPolicy> CastRule::under(CastRecipe recipe) const {
  switch (recipe) {
  case CastRecipe::Amp:
    return std::nullopt;
  case CastRecipe::Llm:
    return llm;
  case CastRecipe::PureF16:
    return pureF16;
  }
  llvm_unreachable("unknown recipe");
}
