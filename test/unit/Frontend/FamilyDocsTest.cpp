//===- FamilyDocsTest.cpp - Tables of docs/reference/model-families.md ----===//
//
// The tables are generated; WEFT_UPDATE_DOCS=1 writes them anew.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"
#include "TestPaths.h"

#include "weft/Formats/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <fstream>

using namespace weft;

using Spec = DecoderSpec;

namespace {
template <typename T> struct Meaning {
  T Spec::*target;
  const char *text;
};
} // namespace

template <typename T, size_t N>
static std::string meaningOf(const Meaning<T> (&meanings)[N],
                             llvm::ArrayRef<T Spec::*> targets) {
  std::string text;
  for (T Spec::*target : targets)
    for (const Meaning<T> &meaning : meanings)
      if (meaning.target == target)
        text += (text.empty() ? "" : ", ") + std::string(meaning.text);
  return text;
}

static const Meaning<int64_t> kSizes[] = {
    {&Spec::vocab, "tokens"},
    {&Spec::positions, "longest row"},
    {&Spec::width, "hidden width"},
    {&Spec::inner, "feed-forward width"},
    {&Spec::layerCount, "layers"},
    {&Spec::heads, "heads"},
    {&Spec::groups, "heads of keys and values"},
    {&Spec::headWidth, "head width"},
    {&Spec::tokenWidth, "width of the token table"}};
static const Meaning<double> kNumbers[] = {
    {&Spec::epsilon, "epsilon of norms"},
    {&Spec::initRange, "standard deviation of new weights"},
    {&Spec::attentionDrop, "dropout of attention"},
    {&Spec::residualDrop, "dropout in front of sums"},
    {&Spec::embeddingDrop, "dropout of the embedding"},
    {&Spec::queryScalar, "scores times 1/√ of it"},
    {&Spec::attentionMultiplier, "factor of scores"},
    {&Spec::attentionCap, "cap of scores"},
    {&Spec::logitCap, "cap of logits"},
    {&Spec::embeddingScale, "factor of the embedding"},
    {&Spec::residualScale, "factor in front of sums"},
    {&Spec::logitDivisor, "divisor of logits"}};
static const Meaning<bool> kFlags[] = {
    {&Spec::tied, "the head is the token table"},
    {&Spec::qkvBias, "biases of query, key and value"},
    {&Spec::outBias, "of the output projection"},
    {&Spec::mlpBias, "of the feed-forward"},
    {&Spec::parallel, "attention beside the feed-forward"},
    {&Spec::scaleByWidth, "scores times 1/√(head width)"},
    {&Spec::scaleByLayer, "scores of layer i also times 1/(i + 1)"},
    {&Spec::normBefore, "norms in front of sublayers"},
    {&Spec::dropsFinalNorm, "no norm in front of the head"}};

static std::string defaultOf(const SizeField &field) {
  switch (field.missing) {
  case MissingSize::Required:
    return "required";
  case MissingSize::Value:
    return std::to_string(field.value);
  case MissingSize::Heads:
    return "the heads";
  case MissingSize::HeadWidth:
    return "hidden width / heads";
  case MissingSize::Width:
    return "hidden width";
  case MissingSize::FourWidths:
    return "4 x hidden width";
  }
  return "";
}

static std::string row(llvm::StringRef name, const std::string &missing,
                       const std::string &meaning) {
  return "| `" + name.str() + "` | " + missing + " | " + meaning + " |\n";
}

static std::string text(double value) {
  if (value >= 1.0 && value == static_cast<int64_t>(value))
    return std::to_string(static_cast<int64_t>(value));
  return value == 0.0 ? "0" : Json(value).compact();
}

static std::string windowRows(const WindowFields &window) {
  std::string rows;
  const std::string missing =
      window.missing == 0 ? "none" : std::to_string(window.missing);
  const char *layers[] = {"",
                          "all layers",
                          "layers from `max_window_layers` on",
                          "the first, third, ... layer",
                          "all but each `sliding_window_pattern`-th layer",
                          "layers without rotary positions"};
  if (window.rule == WindowRule::None)
    return rows;
  if (window.rule == WindowRule::FromLayer ||
      window.rule == WindowRule::Unrotated)
    rows += row("use_sliding_window", "false", "attention has windows");
  rows += row("sliding_window", missing,
              std::string("keys that a query sees, in ") +
                  layers[static_cast<int>(window.rule)]);
  if (window.rule == WindowRule::FromLayer)
    rows += row("max_window_layers", "28", "first layer with a window");
  if (window.rule == WindowRule::AllButEveryN)
    rows += row("sliding_window_pattern", "6", "see `sliding_window`");
  if (window.hasLayerTypes)
    rows += row("layer_types", "none",
                "list of `full_attention` and `sliding_attention`, instead of "
                "the rule");
  return rows;
}

static std::string ropeRows(const RopeFields &rope) {
  std::string rows;
  if (!rope.isUsed)
    return rows;
  rows += row(rope.thetaNames.front(), text(rope.theta),
              "base of rotary frequencies");
  if (rope.hasLocal)
    rows += row("rope_local_base_freq", text(rope.localTheta),
                "base in layers with a window");
  if (!rope.partialNames.empty())
    rows += row(rope.partialNames.front(), text(rope.partial),
                "part of a head that rotates");
  if (rope.onlyLongRope)
    rows += row("original_max_position_embeddings", "4096",
                "row up to which `short_factor` holds");
  rows += row("rope_scaling", "none",
              rope.onlyLongRope ? "`default`, `longrope`"
                                : "[any type](#rotary-positions)");
  if (rope.hasUnrotatedLayers) {
    rows += row("no_rope_layer_interval", "4",
                "each layer of this number does not rotate");
    rows += row("no_rope_layers", "none",
                "list with 1 for each layer that rotates, instead of the "
                "interval");
  }
  return rows;
}

static std::string fixedRows(const Family &family) {
  std::string rows;
  for (const FixedField &field : family.fixed) {
    const std::string value = field.number ? text(*field.number)
                              : field.flag ? "true"
                                           : "false";
    rows += row(field.name, value, "no other value: " + field.feature.str());
  }
  return rows;
}

/// `text` and the names, in lines of at most 80 columns.
static std::string wrapped(std::string text,
                           const std::vector<llvm::StringRef> &names) {
  size_t column = text.size();
  for (auto [i, name] : llvm::enumerate(names)) {
    const std::string word =
        "`" + name.str() + (i + 1 < names.size() ? "`," : "`");
    const bool fits = column + 1 + word.size() < 80;
    text += (fits ? " " : "\n") + word;
    column = (fits ? column + 1 : 0) + word.size();
  }
  return text;
}

static std::string tableOf(const Family &family) {
  std::string rows = "\n### " + family.name.str() +
                     "\n\n| field | default | meaning |\n|---|---|---|\n";
  for (const SizeField &field : family.sizes)
    rows += row(field.name, defaultOf(field),
                meaningOf<int64_t>(kSizes, {field.target}));
  rows += row(family.activationName, "`" + family.activation.str() + "`",
              family.geluIsTanh ? "activation; `gelu` is `gelu_pytorch_tanh`"
                                : "activation");
  for (const NumberField &field : family.numbers)
    rows += row(field.name,
                field.nullIsNone && field.missing == 0.0 ? "none"
                                                         : text(field.missing),
                meaningOf<double>(kNumbers, field.targets));
  for (const FlagField &field : family.flags)
    rows += row(field.name, field.missing ? "true" : "false",
                meaningOf<bool>(kFlags, field.targets));
  rows += ropeRows(family.rope) + windowRows(family.window) + fixedRows(family);
  if (!family.harmless.empty()) {
    rows += "\n" + wrapped("Without effect:", family.harmless) + ".\n";
  }
  return rows;
}

TEST(FamilyDocs, ThePageHasTheTablesOfAllFamilies) {
  const std::string path =
      std::string(WEFT_SOURCE) + "/docs/reference/model-families.md";
  const std::string begin = "<!-- families: begin -->\n",
                    end = "<!-- families: end";
  std::ifstream in(path);
  std::string page(std::istreambuf_iterator<char>(in), {});
  size_t from = page.find(begin), to = page.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  from += begin.size();
  std::string tables;
  for (const Family &family : families())
    tables += tableOf(family);
  tables += "\n";
  if (std::getenv("WEFT_UPDATE_DOCS"))
    std::ofstream(path) << page.substr(0, from) << tables << page.substr(to);
  else
    EXPECT_EQ(page.substr(from, to - from), tables);
}
