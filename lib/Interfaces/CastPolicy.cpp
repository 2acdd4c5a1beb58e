//===- CastPolicy.cpp - What mixed precision does with an op --------------===//

#include "weft/Interfaces/CastPolicy.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace weft;

namespace {
template <typename EnumT> struct Spelling {
  EnumT value;
  llvm::StringLiteral name;
};
} // namespace

static constexpr Spelling<CastPolicy> kPolicies[] = {
    {CastPolicy::Lower, "lower"},
    {CastPolicy::F32, "f32"},
    {CastPolicy::F32SetDtype, "f32-set-dtype"},
    {CastPolicy::Promote, "promote"},
    {CastPolicy::Follow, "follow"},
    {CastPolicy::Narrow, "narrow"},
    {CastPolicy::Banned, "banned"},
};

static constexpr Spelling<CastLists> kLists[] = {
    {CastLists::Cuda, "cuda"},
    {CastLists::Cpu, "cpu"},
};

static constexpr Spelling<CastRecipe> kRecipes[] = {
    {CastRecipe::Amp, "amp"},
    {CastRecipe::Llm, "llm"},
    {CastRecipe::PureF16, "pure-f16"},
};

template <typename EnumT, size_t N>
static llvm::StringRef nameOf(const Spelling<EnumT> (&table)[N], EnumT value) {
  for (const Spelling<EnumT> &entry : table)
    if (entry.value == value)
      return entry.name;
  return "";
}

template <typename EnumT, size_t N>
static std::optional<EnumT> valueOf(const Spelling<EnumT> (&table)[N],
                                    llvm::StringRef name) {
  for (const Spelling<EnumT> &entry : table)
    if (entry.name == name)
      return entry.value;
  return std::nullopt;
}

llvm::StringRef weft::stringifyCastPolicy(CastPolicy policy) {
  return nameOf(kPolicies, policy);
}
std::optional<CastPolicy> weft::symbolizeCastPolicy(llvm::StringRef name) {
  return valueOf(kPolicies, name);
}
llvm::StringRef weft::stringifyCastLists(CastLists lists) {
  return nameOf(kLists, lists);
}
std::optional<CastLists> weft::symbolizeCastLists(llvm::StringRef name) {
  return valueOf(kLists, name);
}

llvm::StringRef weft::stringifyCastRecipe(CastRecipe recipe) {
  return nameOf(kRecipes, recipe);
}

std::optional<CastRecipe> weft::symbolizeCastRecipe(llvm::StringRef name) {
  return valueOf(kRecipes, name);
}

llvm::ArrayRef<llvm::StringRef> weft::getCastRecipeNames() {
  static const auto names =
      llvm::map_to_vector(kRecipes, [](const auto &entry) -> llvm::StringRef {
        return entry.name;
      });
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
