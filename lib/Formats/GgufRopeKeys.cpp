//===- GgufRopeKeys.cpp - Rotary positions become keys of GGUF files ------===//

#include "GgufRope.h"

#include "GgufFamilyRows.h"
#include "weft/Base/Results.h"
#include "weft/Base/Text.h"

#include <cstring>

namespace weft {

static constexpr char kScaling[] = "rope_scaling";

//===----------------------------------------------------------------------===//
// One spelling
//===----------------------------------------------------------------------===//

/// Other names of the base and of the rotated fraction, newest last.
static constexpr const char *kThetaNames[] = {"rotary_emb_base", "rope_theta"};
static constexpr const char *kPartialNames[] = {"rotary_pct",
                                                "partial_rotary_factor"};

static void setFromNames(Json &config, const Json &from, const char *field,
                         const char *const (&names)[2]) {
  for (const char *name : names)
    if (const Json *value = from.find(name); value && value->isNumber())
      config.set(field, Json(*value));
}

static std::string scalingType(const Json &scale) {
  const Json *type = scale.find("rope_type");
  if (!type)
    type = scale.find("type");
  return type && type->isString() ? type->asString() : "default";
}

void flattenRope(const GgufFamily &family, Json &config) {
  if (!family.theta)
    return;
  const Json *given = config.find("rope_parameters");
  if (!given || !given->isObject())
    given = config.find(kScaling);
  Json scale = given && given->isObject() ? *given : Json::object();
  const Json outer = config;
  setFromNames(config, outer, family.theta, kThetaNames);
  if (family.partial)
    setFromNames(config, outer, family.partial, kPartialNames);
  // An object for each type of layer.
  if (const Json *local = scale.find("sliding_attention"))
    setFromNames(config, *local, "rope_local_base_freq", kThetaNames);
  if (const Json *full = scale.find("full_attention"))
    scale = Json(*full);
  setFromNames(config, scale, family.theta, kThetaNames);
  if (family.partial)
    setFromNames(config, scale, family.partial, kPartialNames);
  if (scalingType(scale) == "default")
    scale = Json();
  else if (const Json *original =
               scale.find("original_max_position_embeddings");
           original && !config.find("original_max_position_embeddings"))
    config.set("original_max_position_embeddings", Json(*original));
  config.set(kScaling, std::move(scale));
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

static bool hasTable(const GgufFamily &family, const char *name) {
  for (const char *table : family.tables)
    if (std::strcmp(table, name) == 0)
      return true;
  return false;
}

static Error unwritableScaling(const GgufFamily &family,
                               const std::string &type) {
  std::string types = "default, linear, yarn";
  if (hasTable(family, kRopeFactors))
    types += ", llama3";
  if (hasTable(family, kLongRopeFactors))
    types = "default, longrope";
  return unwritableField("rope_type", "one of " + types, Json(type));
}

/// A value of the scaling that is no number; `field` may have an index.
static Error noNumber(const std::string &field, const Json &value) {
  return inputError("field '", kScaling, ".", field,
                    "': expects a number, but got ",
                    printable(value.compact(), 80));
}

/// Adds a number of the scaling, if it has one.
static Status addScalingNumber(const GgufFamily &family, const Json &scale,
                               const char *field, const char *name,
                               GgufMetadata &out) {
  const Json *value = scale.find(field);
  if (!value || value->isNull())
    return Status::success();
  if (!value->isNumber())
    return noNumber(field, *value);
  out.addNumber(family.architecture + std::string(name),
                static_cast<float>(value->asDouble()));
  return Status::success();
}

/// A field of `rope_scaling` that the keys cannot express.
static Status refuseScalingField(const Json &scale, const char *field) {
  const Json *value = scale.find(field);
  return value && !value->isNull()
             ? Status(unwritableField(field, "no such field", *value))
             : Status::success();
}

static Status addYarn(const GgufFamily &family, const Json &config,
                      const Json &scale, GgufMetadata &out) {
  for (const char *field : {"mscale", "mscale_all_dim"})
    if (Status status = refuseScalingField(scale, field); !status)
      return status;
  if (const Json *whole = scale.find("truncate");
      whole && *whole == Json(false))
    return unwritableField("truncate", "true", *whole);
  // Transformers' default is the context of the model.
  const Json *original = scale.find("original_max_position_embeddings");
  int64_t context = integerField(config, "max_position_embeddings");
  if (original && original->isInt())
    context = original->asInt();
  out.addInteger(family.architecture + std::string(kOriginalContext),
                 static_cast<uint32_t>(context));
  for (auto [field, name] :
       {std::pair("factor", kScalingFactor),
        std::pair("attention_factor", kYarnAttentionFactor),
        std::pair("beta_fast", kYarnFast), std::pair("beta_slow", kYarnSlow)})
    if (Status s = addScalingNumber(family, scale, field, name, out); !s)
      return s;
  return Status::success();
}

/// The growth is written also where transformers derives it.
static Status addLongRope(const GgufFamily &family, const Json &config,
                          const Json &scale, GgufMetadata &out) {
  if (Status status = refuseScalingField(scale, "factor"); !status)
    return status;
  static constexpr char kGrowth[] = "attention_factor";
  if (const Json *growth = scale.find(kGrowth); growth && !growth->isNull())
    return addScalingNumber(family, scale, kGrowth, kAttentionFactor, out);
  out.addNumber(family.architecture + std::string(kAttentionFactor),
                static_cast<float>(longRopeGrowth(config)));
  return Status::success();
}

Status addRopeKeys(const GgufFamily &family, const Json &config,
                   GgufMetadata &out) {
  const Json *scale = config.find(kScaling);
  if (!family.theta || !scale || !scale->isObject())
    return Status::success();
  std::string type = scalingType(*scale);
  if (hasTable(family, kLongRopeFactors)) {
    // Older names of the one scaling that Phi-3 has.
    if (type == "su" || type == "yarn" || type == "longrope")
      return addLongRope(family, config, *scale, out);
    return unwritableScaling(family, type);
  }
  if (type == "llama3" && hasTable(family, kRopeFactors))
    return Status::success(); // a tensor
  if (type != "linear" && type != "yarn")
    return unwritableScaling(family, type);
  out.addText(family.architecture + std::string(kScalingType), type);
  if (type == "yarn")
    return addYarn(family, config, *scale, out);
  return addScalingNumber(family, *scale, "factor", kScalingFactor, out);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static constexpr int64_t kMostHeadWidth = int64_t(1) << 24;

static Expected<std::vector<float>>
llama3Table(const GgufFamily &family, const Json &config, const Json &scale) {
  Llama3Scaling scaling;
  for (auto [field, value] :
       {std::pair("factor", &scaling.factor),
        std::pair("low_freq_factor", &scaling.low),
        std::pair("high_freq_factor", &scaling.high),
        std::pair("original_max_position_embeddings", &scaling.context)}) {
    const Json *given = scale.find(field);
    if (!given || given->isNull())
      continue;
    if (!given->isNumber())
      return noNumber(field, *given);
    *value = given->asDouble();
  }
  const Json *theta = config.find(family.theta);
  const int64_t width = headWidthOf(config);
  if (width < 2 || width > kMostHeadWidth)
    return inputError("expects heads of 2 to " +
                      std::to_string(kMostHeadWidth) + " elements, but got " +
                      std::to_string(width));
  return scaling.divisors(
      theta && theta->isNumber() ? theta->asDouble() : 10000.0, width);
}

Expected<std::vector<float>>
ropeTable(const GgufFamily &family, const Json &config, std::string_view name) {
  std::vector<float> values;
  const Json *scale = config.find(kScaling);
  if (!scale || !scale->isObject())
    return values;
  if (name == kRopeFactors && scalingType(*scale) == "llama3")
    return llama3Table(family, config, *scale);
  const char *field = name == kLongRopeFactors    ? "long_factor"
                      : name == kShortRopeFactors ? "short_factor"
                                                  : nullptr;
  const Json *list = field ? scale->find(field) : nullptr;
  if (!list || !list->isArray())
    return values;
  for (const Json &value : list->asArray()) {
    if (!value.isNumber())
      return noNumber(concat(field, "[", values.size(), "]"), value);
    values.push_back(static_cast<float>(value.asDouble()));
  }
  return values;
}

} // namespace weft
