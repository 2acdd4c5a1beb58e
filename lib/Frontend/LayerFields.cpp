//===- LayerFields.cpp - Windows and rotary positions of each layer -------===//

#include "FamilyReader.h"

#include "weft/Base/CountText.h"
#include "weft/Base/Text.h"

using namespace mlir;
using namespace weft;

namespace {
class LayerReader {
public:
  LayerReader(const Family &family, ConfigFields &fields, DecoderSpec &spec)
      : family(family), fields(fields), spec(spec) {}

  void read();

private:
  int64_t readWindow();
  void applyRule(WindowRule rule);
  void readLayerTypes();
  void readUnrotated();
  bool checkLength(llvm::StringRef name, size_t size);
  int64_t count() const { return spec.layerCount; }

  const Family &family;
  ConfigFields &fields;
  DecoderSpec &spec;
  /// Of the layers whose attention has one; 0: none.
  int64_t window = 0;
  std::vector<bool> hasWindow, rotates;
};
} // namespace

/// sliding_window; a family whose default is none need not have the field.
int64_t LayerReader::readWindow() {
  constexpr llvm::StringLiteral name = "sliding_window";
  if (fields.isNull(name)) {
    fields.record(name, StringAttr::get(fields.context(), "none"), true);
    return 0;
  }
  if (family.window.missing == 0 && !fields.has(name))
    return 0;
  return fields.size(name, family.window.missing, ConfigFields::kMaxSize);
}

void LayerReader::applyRule(WindowRule rule) {
  auto setAll = [&](auto hasWindowAt) {
    for (int64_t i = 0; i < count(); ++i)
      hasWindow[i] = hasWindowAt(i);
  };
  const bool isOptional =
      rule == WindowRule::FromLayer || rule == WindowRule::Unrotated;
  const bool isOn = !isOptional || fields.boolean("use_sliding_window", false);
  window = readWindow();
  if (rule == WindowRule::FromLayer) {
    const int64_t first = fields.integer("max_window_layers", 28, 0);
    if (!isOn)
      window = 0;
    setAll([&](int64_t i) { return window != 0 && i >= first; });
  }
  if (rule == WindowRule::All)
    setAll([&](int64_t) { return window != 0; });
  if (rule == WindowRule::Alternating)
    setAll([&](int64_t i) { return i % 2 == 0; });
  if (rule == WindowRule::AllButEveryN) {
    const int64_t pattern = fields.integer("sliding_window_pattern", 6, 1);
    setAll([&](int64_t i) { return (i + 1) % pattern != 0; });
  }
  if (rule == WindowRule::Unrotated)
    setAll([&](int64_t i) { return isOn && window != 0 && !rotates[i]; });
}

bool LayerReader::checkLength(llvm::StringRef name, size_t size) {
  if (static_cast<int64_t>(size) == count())
    return true;
  fields.valueError(name) << "expects an element for each of "
                          << family.fieldOf(&DecoderSpec::layerCount) << " = "
                          << countText(count(), "layer") << ", but got "
                          << size;
  return false;
}

void LayerReader::readLayerTypes() {
  constexpr llvm::StringLiteral name = "layer_types";
  auto types = fields.textList(name);
  if (!types || !checkLength(name, types->size()))
    return;
  for (auto [i, type] : llvm::enumerate(*types)) {
    hasWindow[i] = type == "sliding_attention";
    if (hasWindow[i] || type == "full_attention")
      continue;
    fields.valueError(name)
        << "expects full_attention or sliding_attention, but got '"
        << printable(type, 80) << "'";
    return;
  }
}

/// no_rope_layers has a 1 for each layer that rotates.
void LayerReader::readUnrotated() {
  constexpr llvm::StringLiteral name = "no_rope_layers";
  const int64_t interval = fields.integer("no_rope_layer_interval", 4, 1);
  for (int64_t i = 0; i < count(); ++i)
    rotates[i] = (i + 1) % interval != 0;
  auto flags = fields.integerList(name);
  if (!flags || !checkLength(name, flags->size()))
    return;
  for (auto [i, flag] : llvm::enumerate(*flags))
    rotates[i] = flag != 0;
}

void LayerReader::read() {
  hasWindow.assign(count(), false);
  rotates.assign(count(), family.rope.isUsed);
  if (family.rope.hasUnrotatedLayers)
    readUnrotated();
  if (family.window.rule != WindowRule::None)
    applyRule(family.window.rule);
  if (family.window.hasLayerTypes)
    readLayerTypes();
  if (window == 0 && llvm::is_contained(hasWindow, true))
    fields.error("sliding_window")
        << "expects field 'sliding_window' with a size, since some layers "
           "are of type sliding_attention";
  spec.layers.assign(count(), LayerSpec());
  for (int64_t i = 0; i < count(); ++i) {
    LayerSpec &layer = spec.layers[i];
    layer.window = hasWindow[i] ? window : 0;
    if (rotates[i])
      layer.rope = family.rope.hasLocal && hasWindow[i] ? RopeUse::Local
                                                        : RopeUse::Global;
  }
}

void weft::readLayers(const Family &family, ConfigFields &fields,
                      DecoderSpec &spec) {
  LayerReader(family, fields, spec).read();
}
