//===- CastPolicy.cpp - Cast policies of ops ------------------------------===//

#include "weft/Interfaces/CastPolicy.h"

#include "llvm/Support/ErrorHandling.h"

#include "weft/Interfaces/CastPolicy.cpp.inc"

using namespace weft;

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
