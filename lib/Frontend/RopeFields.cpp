//===- RopeFields.cpp - Rotary positions of a configuration ---------------===//
//
// Reads both spellings: fields of the file with `rope_scaling`, and
// transformers 5's `rope_parameters`, which has all of it inside.
//
//===----------------------------------------------------------------------===//

#include "FamilyReader.h"

#include "weft/Base/Text.h"

#include <cmath>

using namespace mlir;
using namespace weft;

namespace {
class RopeReader {
public:
  RopeReader(const Family &family, ConfigFields &fields, DecoderSpec &spec)
      : family(family), row(family.rope), fields(fields), spec(spec) {}

  void read();

private:
  using Names = llvm::ArrayRef<llvm::StringRef>;

  double readOuter(Names names, double missing, double least, double most,
                   bool isInside);
  void readInner(ConfigFields &object, llvm::StringRef name, double &value,
                 bool isOutside, double least, double most);
  void readParts(ConfigFields &parameters);
  void readObject(ConfigFields &object, RotaryConfig &rope, Names thetaNames);
  std::optional<RopeScaling> readType(ConfigFields &object);
  double readOriginal(ConfigFields &object);
  void readLlama3(ConfigFields &object, RotaryConfig &rope);
  void readYarn(ConfigFields &object, RotaryConfig &rope);
  void readLongRope(ConfigFields &object, RotaryConfig &rope);
  std::vector<double> readFactors(ConfigFields &object, llvm::StringRef name,
                                  const RotaryConfig &rope);
  bool hasAny(Names names) {
    return llvm::any_of(names,
                        [&](llvm::StringRef name) { return fields.has(name); });
  }

  const Family &family;
  const RopeFields &row;
  ConfigFields &fields;
  DecoderSpec &spec;
  /// Of Phi-3, outside of the object.
  std::optional<int64_t> outerOriginal;
};
} // namespace

static constexpr double kLeastTheta = 1.0, kMostTheta = 1e12;
static constexpr llvm::StringLiteral kLocalTheta = "rope_local_base_freq";

/// A field that has several names; a missing one is recorded by its first
/// name, unless the object has it.
double RopeReader::readOuter(Names names, double missing, double least,
                             double most, bool isInside) {
  std::optional<double> value;
  llvm::StringRef first;
  for (llvm::StringRef name : names) {
    if (!fields.has(name))
      continue;
    const double given = fields.number(name, missing, least, most);
    if (value && *value != given)
      fields.valueError(name)
          << "expects the value of " << first << ", " << Json(*value).compact()
          << ", but got " << Json(given).compact();
    value = given;
    first = name;
  }
  if (value || isInside)
    return value.value_or(missing);
  return fields.number(names.front(), missing, least, most);
}

/// A value inside of an object, which must agree with the one outside.
void RopeReader::readInner(ConfigFields &object, llvm::StringRef name,
                           double &value, bool isOutside, double least,
                           double most) {
  if (!object.has(name))
    return;
  const double given = object.requiredNumber(name, least, most);
  if (isOutside && given != value)
    object.valueError(name)
        << "expects the value of " << name << " outside, "
        << Json(value).compact() << ", but got " << Json(given).compact();
  value = given;
}

std::optional<RopeScaling> RopeReader::readType(ConfigFields &object) {
  llvm::StringRef key = object.has("rope_type") ? "rope_type" : "type";
  std::string type = object.text(key, "default");
  if (object.has("rope_type") && object.has("type"))
    (void)object.text("type", "default");
  if (row.onlyLongRope && (type == "su" || type == "yarn"))
    type = "longrope"; // older names of this family's one
  const std::pair<llvm::StringRef, RopeScaling> types[] = {
      {"default", RopeScaling::None},  {"longrope", RopeScaling::LongRope},
      {"linear", RopeScaling::Linear}, {"dynamic", RopeScaling::Dynamic},
      {"llama3", RopeScaling::Llama3}, {"yarn", RopeScaling::Yarn}};
  const auto known = llvm::ArrayRef(types).take_front(row.onlyLongRope ? 2 : 6);
  for (auto [name, scaling] : known)
    if (type == name)
      return scaling;
  InFlightDiagnostic diag = object.valueError(key);
  diag << "expects one of rope types";
  for (auto [name, scaling] : known)
    diag << " " << name;
  diag << ", but got '" << printable(type, 80) << "'";
  return std::nullopt;
}

double RopeReader::readOriginal(ConfigFields &object) {
  constexpr llvm::StringLiteral name = "original_max_position_embeddings";
  if (outerOriginal && !object.has(name))
    return double(*outerOriginal);
  const int64_t given = object.size(
      name, outerOriginal.value_or(spec.positions), ConfigFields::kMaxSize);
  return double(outerOriginal.value_or(given));
}

void RopeReader::readLlama3(ConfigFields &object, RotaryConfig &rope) {
  rope.lowFreqFactor = object.requiredNumber("low_freq_factor", 1e-6, 1e6);
  rope.highFreqFactor = object.requiredNumber("high_freq_factor", 1e-6, 1e6);
  rope.originalContext = readOriginal(object);
  if (!object.failed() && rope.highFreqFactor <= rope.lowFreqFactor)
    object.valueError("high_freq_factor")
        << "expects more than low_freq_factor = "
        << Json(rope.lowFreqFactor).compact() << ", but got "
        << Json(rope.highFreqFactor).compact();
}

/// The growth of the scores' temperature (arXiv 2309.00071).
static double yarnScale(double factor, double weight) {
  return factor <= 1.0 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

void RopeReader::readYarn(ConfigFields &object, RotaryConfig &rope) {
  rope.originalContext = readOriginal(object);
  rope.fastTurns = object.number("beta_fast", 32.0, 1e-6, 1e6);
  rope.slowTurns = object.number("beta_slow", 1.0, 1e-6, 1e6);
  rope.truncate = object.boolean("truncate", true);
  rope.attentionFactor = yarnScale(rope.factor, 1.0);
  if (object.has("mscale") && object.has("mscale_all_dim")) {
    const double one = object.number("mscale", 1.0, 0.0, 1e6);
    const double all = object.number("mscale_all_dim", 1.0, 0.0, 1e6);
    if (one != 0.0 && all != 0.0)
      rope.attentionFactor =
          yarnScale(rope.factor, one) / yarnScale(rope.factor, all);
  }
  // One of the two alone has no effect.
  (void)(object.has("mscale") || object.has("mscale_all_dim"));
  if (object.has("attention_factor"))
    rope.attentionFactor = object.requiredNumber("attention_factor", 1e-6, 1e6);
}

std::vector<double> RopeReader::readFactors(ConfigFields &object,
                                            llvm::StringRef name,
                                            const RotaryConfig &rope) {
  const size_t pairs = rope.rotaryWidth(spec.headWidth) / 2;
  auto factors = object.numberList(name);
  if (!factors) {
    object.error(name) << "expects field 'rope_scaling." << name
                       << "', a list of numbers";
    return std::vector<double>(pairs, 1.0);
  }
  bool isValid = factors->size() == pairs;
  for (double factor : *factors)
    isValid &= factor >= 1e-6 && factor <= 1e6;
  if (!isValid)
    object.valueError(name)
        << "expects " << pairs
        << " numbers in [1e-06, 1e+06], one for each pair of rotated "
           "elements, but got "
        << factors->size() << " numbers";
  factors->resize(pairs, 1.0);
  return *factors;
}

void RopeReader::readLongRope(ConfigFields &object, RotaryConfig &rope) {
  rope.originalContext = readOriginal(object);
  rope.shortFactors = readFactors(object, "short_factor", rope);
  rope.longFactors = readFactors(object, "long_factor", rope);
  const double growth = object.has("factor")
                            ? object.requiredNumber("factor", 1e-6, 1e6)
                            : double(spec.positions) / rope.originalContext;
  rope.attentionFactor =
      growth <= 1.0
          ? 1.0
          : std::sqrt(1.0 + std::log(growth) / std::log(rope.originalContext));
  if (object.has("attention_factor"))
    rope.attentionFactor = object.requiredNumber("attention_factor", 1e-6, 1e6);
}

void RopeReader::readObject(ConfigFields &object, RotaryConfig &rope,
                            Names thetaNames) {
  readInner(object, "rope_theta", rope.theta, hasAny(thetaNames), kLeastTheta,
            kMostTheta);
  if (row.partialNames.empty())
    object.expectNumber("partial_rotary_factor", 1.0,
                        "partial rotary positions");
  else
    readInner(object, "partial_rotary_factor", rope.partialFactor,
              hasAny(row.partialNames), 1e-6, 1.0);
  std::optional<RopeScaling> scaling = readType(object);
  if (!scaling)
    return;
  rope.scaling = *scaling;
  if (rope.scaling == RopeScaling::None)
    return;
  if (rope.scaling == RopeScaling::LongRope)
    return readLongRope(object, rope);
  rope.factor = object.requiredNumber("factor", 1.0, 1e6);
  if (rope.scaling == RopeScaling::Dynamic)
    rope.originalContext = double(spec.positions);
  if (rope.scaling == RopeScaling::Llama3)
    readLlama3(object, rope);
  if (rope.scaling == RopeScaling::Yarn)
    readYarn(object, rope);
}

/// An object for each type of layer (Gemma 3).
void RopeReader::readParts(ConfigFields &parameters) {
  auto readPart = [&](llvm::StringRef name, RotaryConfig &rope,
                      Names thetaNames) {
    auto part = parameters.object(name);
    if (!part)
      return;
    readObject(*part, rope, thetaNames);
    part->finish(family.name, {});
    parameters.join(*part);
  };
  readPart("full_attention", spec.rope, row.thetaNames);
  readPart("sliding_attention", spec.localRope, {kLocalTheta});
}

void RopeReader::read() {
  auto scaling = fields.object("rope_scaling");
  auto parameters = fields.object("rope_parameters");
  // The new spelling keeps the values inside of rope_parameters.
  const bool isNested = row.hasLocal && parameters;
  auto isInside = [&](llvm::StringRef name) {
    return isNested || (parameters && parameters->has(name));
  };
  spec.rope.theta = readOuter(row.thetaNames, row.theta, kLeastTheta,
                              kMostTheta, isInside("rope_theta"));
  if (!row.partialNames.empty())
    spec.rope.partialFactor = readOuter(row.partialNames, row.partial, 1e-6,
                                        1.0, isInside("partial_rotary_factor"));
  if (row.hasLocal)
    spec.localRope.theta = readOuter({kLocalTheta}, row.localTheta, kLeastTheta,
                                     kMostTheta, isNested);
  if (row.onlyLongRope)
    outerOriginal = fields.size("original_max_position_embeddings", 4096,
                                ConfigFields::kMaxSize);
  if (scaling && parameters) {
    fields.error("rope_scaling") << "expects rope_scaling or rope_parameters, "
                                    "but got both";
    return;
  }
  for (auto *object : {&scaling, &parameters}) {
    if (!*object)
      continue;
    if (isNested)
      readParts(**object);
    else
      readObject(**object, spec.rope, row.thetaNames);
    (*object)->finish(family.name, {});
    fields.join(**object);
  }
}

void weft::readRope(const Family &family, ConfigFields &fields,
                    DecoderSpec &spec) {
  RopeReader(family, fields, spec).read();
}
