//===- FamilyReader.cpp - A config.json becomes a DecoderSpec -------------===//

#include "FamilyReader.h"

#include "weft/Base/Text.h"

using namespace mlir;
using namespace weft;

namespace {
class FamilyReader {
public:
  FamilyReader(const Family &family, ConfigFields &fields)
      : family(family), fields(fields), spec(family.spec) {}

  DecoderSpec read();

private:
  void readSizes();
  int64_t readSize(const SizeField &field);
  int64_t missingSize(const SizeField &field) const;
  void readActivationField();
  void readNumbers();
  void readFlags();
  void checkFixed();
  void warnOfPadding();
  bool isWidthDerived();
  void checkHeads();
  void checkRotaryWidth(llvm::StringRef headWidthField);

  const Family &family;
  ConfigFields &fields;
  DecoderSpec spec;
};
} // namespace

int64_t FamilyReader::missingSize(const SizeField &field) const {
  switch (field.missing) {
  case MissingSize::Value:
    return field.value;
  case MissingSize::Heads:
    return spec.heads;
  case MissingSize::HeadWidth:
    return std::max<int64_t>(spec.width / spec.heads, 1);
  case MissingSize::Width:
    return spec.width;
  case MissingSize::FourWidths:
    return 4 * spec.width;
  case MissingSize::Required:
    break;
  }
  llvm_unreachable("a required size has no default");
}

int64_t FamilyReader::readSize(const SizeField &field) {
  if (field.missing == MissingSize::Required)
    return fields.size(field.name, field.target == &DecoderSpec::layerCount
                                       ? 4096
                                       : ConfigFields::kMaxSize);
  // transformers fills in a null with a rule, a missing field with a number.
  const bool isHeads =
      field.target == &DecoderSpec::groups && fields.isNull(field.name);
  return fields.size(field.name, isHeads ? spec.heads : missingSize(field),
                     ConfigFields::kMaxSize);
}

void FamilyReader::readSizes() {
  for (const SizeField &field : family.sizes)
    spec.*field.target = readSize(field);
  if (family.fieldOf(&DecoderSpec::groups).empty())
    spec.groups = spec.heads;
  if (family.fieldOf(&DecoderSpec::headWidth).empty())
    spec.headWidth = std::max<int64_t>(spec.width / spec.heads, 1);
}

void FamilyReader::readActivationField() {
  spec.activation =
      readActivation(fields, family.activationName, family.activation);
  if (family.geluIsTanh && spec.activation == Activation::Gelu)
    spec.activation = Activation::GeluTanh;
}

void FamilyReader::readNumbers() {
  for (const NumberField &field : family.numbers) {
    const bool isNone =
        field.nullIsNone && (fields.isNull(field.name) ||
                             (field.missing == 0.0 && !fields.has(field.name)));
    if (isNone)
      fields.record(field.name, StringAttr::get(fields.context(), "none"),
                    fields.isNull(field.name));
    const double value = isNone ? 0.0
                                : fields.number(field.name, field.missing,
                                                field.least, field.most);
    for (double DecoderSpec::*target : field.targets)
      spec.*target = value;
  }
}

void FamilyReader::readFlags() {
  for (const FlagField &field : family.flags) {
    const bool value = fields.boolean(field.name, field.missing);
    for (bool DecoderSpec::*target : field.targets)
      spec.*target = value;
  }
}

void FamilyReader::checkFixed() {
  fields.expectFlag("add_cross_attention", false, "cross attention");
  fields.expectFlag("is_encoder_decoder", false, "encoder-decoder models");
  fields.expectFlag("tie_encoder_decoder", false, "encoder-decoder models");
  for (const FixedField &field : family.fixed) {
    if (field.number)
      fields.expectNumber(field.name, *field.number, field.feature);
    else
      fields.expectFlag(field.name, field.flag, field.feature);
  }
}

/// transformers makes the row of this token the padding of its table, which
/// gets no gradient from the embedding.
void FamilyReader::warnOfPadding() {
  std::optional<int64_t> token = fields.peekInteger("pad_token_id");
  if (!token && !fields.has("pad_token_id") && !fields.isNull("pad_token_id"))
    token = family.padToken;
  if (!family.hasPaddingRow || !token || *token >= spec.vocab ||
      *token < -spec.vocab)
    return;
  InFlightDiagnostic diag = fields.warning("pad_token_id");
  diag.getUnderlyingDiagnostic()->getMetadata().emplace_back(
      llvm::StringRef(kTrainingNotice));
  diag << "field 'pad_token_id': transformers gives row "
       << (*token < 0 ? *token + spec.vocab : *token)
       << " of the token table no gradient, weft trains it like any other";
}

void FamilyReader::checkRotaryWidth(llvm::StringRef headWidthField) {
  for (const RotaryConfig *rope : {&spec.rope, &spec.localRope}) {
    const int64_t rotated = rope->rotaryWidth(spec.headWidth);
    if (rotated >= 2 && rotated <= spec.headWidth)
      continue;
    InFlightDiagnostic diag = fields.valueError(headWidthField);
    if (rope->partialFactor == 1.0)
      diag << "expects an even number, but got " << spec.headWidth;
    else
      diag << "expects heads of which 2 or more elements rotate, but got "
           << spec.headWidth << " elements times "
           << numberText(rope->partialFactor);
    return;
  }
}

/// Whether the head width is the hidden width over the heads.
bool FamilyReader::isWidthDerived() {
  for (const SizeField &field : family.sizes)
    if (field.target == &DecoderSpec::headWidth)
      return field.missing == MissingSize::HeadWidth && !fields.has(field.name);
  return true;
}

void FamilyReader::checkHeads() {
  if (fields.failed())
    return;
  const llvm::StringRef heads = family.fieldOf(&DecoderSpec::heads);
  const llvm::StringRef headWidth = family.fieldOf(&DecoderSpec::headWidth);
  if (isWidthDerived() && spec.width % spec.heads != 0)
    fields.valueError(heads)
        << "expects a divisor of " << family.fieldOf(&DecoderSpec::width)
        << " = " << spec.width << (headWidth.empty() ? "" : " or a ")
        << headWidth << ", but got " << spec.heads;
  if (spec.heads % spec.groups != 0)
    fields.valueError(family.fieldOf(&DecoderSpec::groups))
        << "expects a divisor of " << heads << " = " << spec.heads
        << ", but got " << spec.groups;
  if (family.rope.isUsed)
    checkRotaryWidth(headWidth.empty() ? heads : headWidth);
}

DecoderSpec FamilyReader::read() {
  readSizes();
  if (family.rope.isUsed)
    readRope(family, fields, spec);
  readActivationField();
  readNumbers();
  readFlags();
  readLayers(family, fields, spec);
  checkFixed();
  warnOfPadding();
  fields.dtype();
  checkHeads();
  return std::move(spec);
}

DecoderSpec weft::readFamily(const Family &family, ConfigFields &fields) {
  return FamilyReader(family, fields).read();
}
