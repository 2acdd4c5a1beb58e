//===- GgufRope.cpp - Rotary positions of GGUF files ----------------------===//

#include "GgufRope.h"

#include "GgufFamilyRows.h"
#include "weft/Base/Text.h"

#include <algorithm>
#include <cmath>

namespace weft {

static constexpr double kTwoPi = 2 * 3.141592653589793;

std::vector<float> Llama3Scaling::divisors(double theta, int64_t width) const {
  std::vector<float> result;
  for (int64_t i = 0; i < width; i += 2) {
    const double power = std::pow(theta, double(i) / double(width));
    const double wavelength = kTwoPi * power;
    double divisor = 1;
    if (wavelength > context / low) {
      divisor = factor;
    } else if (wavelength >= context / high) {
      const double smooth = (context / wavelength - low) / (high - low);
      divisor = 1 / ((1 - smooth) / factor + smooth);
    }
    result.push_back(static_cast<float>(divisor));
  }
  return result;
}

static double numberField(const Json &config, const char *field,
                          double missing) {
  const Json *value = field ? config.find(field) : nullptr;
  return value && value->isNumber() ? value->asDouble() : missing;
}

int64_t rotaryWidth(const GgufFamily &family, const Json &config) {
  const int64_t width = headWidthOf(config);
  const double part = numberField(config, family.partial, 1.0);
  return static_cast<int64_t>(double(width) * part);
}

double longRopeGrowth(const Json &config) {
  const double context = numberField(config, "max_position_embeddings", 1);
  const double original =
      numberField(config, "original_max_position_embeddings", context);
  const double growth = context / original;
  return growth <= 1 || original <= 1
             ? 1.0
             : std::sqrt(1.0 + std::log(growth) / std::log(original));
}

static bool areClose(double x, double y) {
  return std::fabs(x - y) <= 1e-5 * std::fabs(y);
}

static bool areClose(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return areClose(double(x), double(y));
         });
}

/// The factor behind the largest divisor, which belongs to the longest
/// wavelength; heads of few elements have none that is stretched in full.
static double factorOf(const std::vector<float> &divisors, double theta,
                       int64_t width) {
  const auto largest = std::max_element(divisors.begin(), divisors.end());
  const auto index = double(largest - divisors.begin());
  const Llama3Scaling known;
  const double wavelength = kTwoPi * std::pow(theta, 2 * index / double(width));
  double factor = double(*largest);
  if (wavelength <= known.context / known.low) {
    const double smooth =
        (known.context / wavelength - known.low) / (known.high - known.low);
    factor = (1 - smooth) / (1 / factor - smooth);
  }
  // Factors of configurations have few digits.
  factor = std::round(factor * 1000) / 1000;
  return factor >= 1 && factor <= 1e6 ? factor : 1;
}

namespace {
/// Reads the scaling of a file.
class RopeScalingReader {
public:
  RopeScalingReader(const GgufFile &file, const GgufFamily &family,
                    Json &config)
      : file(file), family(family), config(config) {}

  Status read();

private:
  std::string key(const char *name) const {
    return family.architecture + std::string(name);
  }
  Error wrong(const GgufTensor &tensor, const std::string &message) const {
    return inputError("tensor " + inQuotes(tensor.name) + ": " + message)
        .at(file.path());
  }
  Status setNumber(Json &scale, const char *field, const char *name,
                   bool isRequired = false);
  Status expectOne(const char *name);
  Status readLinear();
  Status readYarn();
  Status readLongRope();
  Status readLlama3(const GgufTensor &tensor);
  Expected<std::vector<float>> readFactors(const GgufTensor &tensor);
  const GgufTensor *findTable(const char *name) const;

  const GgufFile &file;
  const GgufFamily &family;
  Json &config;
};
} // namespace

/// A tensor of an architecture that does not have it is an unknown weight.
const GgufTensor *RopeScalingReader::findTable(const char *name) const {
  for (const char *table : family.tables)
    if (std::string_view(table) == name)
      return file.find(name);
  return nullptr;
}

Status RopeScalingReader::setNumber(Json &scale, const char *field,
                                    const char *name, bool isRequired) {
  auto value = file.number(key(name));
  if (!value)
    return value.takeError();
  if (*value)
    scale.set(field, **value);
  else if (isRequired)
    return inputError("expects key '" + key(name) + "', but there is none")
        .at(file.path());
  return Status::success();
}

/// Transformers has no such factor.
Status RopeScalingReader::expectOne(const char *name) {
  auto value = file.number(key(name));
  if (!value)
    return value.takeError();
  if (*value && **value != 1.0)
    return file
        .valueError(*file.findEntry(key(name)),
                    "expects 1 with this rotary scaling, but got " +
                        Json(**value).compact())
        .hint("compile a config.json with the model's scaling and give the "
              "weights with --init-from");
  return Status::success();
}

Status RopeScalingReader::readLinear() {
  Json scale = Json::object();
  scale.set("rope_type", "linear");
  if (Status s = setNumber(scale, "factor", kScalingFactor, true); !s)
    return s;
  config.set("rope_scaling", std::move(scale));
  return expectOne(kAttentionFactor);
}

Status RopeScalingReader::readYarn() {
  Json scale = Json::object();
  scale.set("rope_type", "yarn");
  if (Status s = setNumber(scale, "factor", kScalingFactor, true); !s)
    return s;
  auto original = file.integer(key(kOriginalContext));
  if (!original)
    return original.takeError();
  if (*original)
    scale.set("original_max_position_embeddings", **original);
  for (auto [field, name] :
       {std::pair("attention_factor", kYarnAttentionFactor),
        std::pair("beta_fast", kYarnFast), std::pair("beta_slow", kYarnSlow)})
    if (Status s = setNumber(scale, field, name); !s)
      return s;
  config.set("rope_scaling", std::move(scale));
  for (const char *name : {kYarnExtrapolation, kAttentionFactor})
    if (Status s = expectOne(name); !s)
      return s;
  return Status::success();
}

/// One for each pair of rotated elements.
Expected<std::vector<float>>
RopeScalingReader::readFactors(const GgufTensor &tensor) {
  const int64_t pairs = rotaryWidth(family, config) / 2;
  if (pairs < 1 || tensor.elements() != pairs)
    return wrong(tensor, "expects half as many elements as rotate in a head, " +
                             std::to_string(pairs) + ", but got " +
                             std::to_string(tensor.elements()));
  std::vector<float> given(static_cast<size_t>(pairs));
  if (Status status = file.readFloats(tensor, 0, pairs, given.data()); !status)
    return status.takeError();
  return given;
}

Status RopeScalingReader::readLongRope() {
  Json scale = Json::object();
  scale.set("rope_type", "longrope");
  for (auto [field, name] : {std::pair("long_factor", kLongRopeFactors),
                             std::pair("short_factor", kShortRopeFactors)}) {
    const GgufTensor *tensor = findTable(name);
    if (!tensor)
      return inputError("expects tensor " + inQuotes(name) +
                        " with the rotary scaling longrope, but there is none")
          .at(file.path());
    auto factors = readFactors(*tensor);
    if (!factors)
      return factors.takeError();
    Json list = Json::array();
    for (float factor : *factors)
      list.push(widenDecimal(factor));
    scale.set(field, std::move(list));
  }
  auto growth = file.number(key(kAttentionFactor));
  if (!growth)
    return growth.takeError();
  // Transformers derives it from the contexts.
  if (*growth && !areClose(**growth, longRopeGrowth(config)))
    scale.set("attention_factor", **growth);
  config.set("rope_scaling", std::move(scale));
  return Status::success();
}

Status RopeScalingReader::readLlama3(const GgufTensor &tensor) {
  auto given = readFactors(tensor);
  if (!given)
    return given.takeError();
  const int64_t width = headWidthOf(config);
  Llama3Scaling scaling;
  const double theta = numberField(config, family.theta, 10000);
  scaling.factor = factorOf(*given, theta, width);
  if (!areClose(*given, scaling.divisors(theta, width)))
    return wrong(tensor,
                 "expects divisors of the scaling llama3 with low_freq_factor "
                 "1, high_freq_factor 4 and a context of 8192")
        .hint("compile a config.json with the model's scaling and give the "
              "weights with --init-from");
  Json scale = Json::object();
  scale.set("rope_type", "llama3");
  scale.set("factor", scaling.factor);
  scale.set("low_freq_factor", scaling.low);
  scale.set("high_freq_factor", scaling.high);
  scale.set("original_max_position_embeddings", int64_t(scaling.context));
  config.set("rope_scaling", std::move(scale));
  return Status::success();
}

Status RopeScalingReader::read() {
  auto given = file.text(key(kScalingType));
  if (!given)
    return given.takeError();
  const GgufTensor *divisors = findTable(kRopeFactors);
  std::string type = given->value_or("");
  // Without a type, a factor is a linear one, and tables name their scaling.
  if (type.empty())
    type = findTable(kLongRopeFactors) || findTable(kShortRopeFactors)
               ? "longrope"
           : file.findEntry(key(kScalingFactor)) ? "linear"
                                                 : "none";
  if (type != "none" && divisors)
    return wrong(*divisors,
                 "expects no other rotary scaling, but got " + inQuotes(type));
  if (type == "linear")
    return readLinear();
  if (type == "yarn")
    return readYarn();
  if (type == "longrope")
    return readLongRope();
  if (type != "none") {
    // The reader of the configuration lists the types that it knows.
    Json scale = Json::object();
    scale.set("rope_type", type);
    config.set("rope_scaling", std::move(scale));
    return Status::success();
  }
  return divisors ? readLlama3(*divisors) : Status::success();
}

Status addRopeScaling(const GgufFile &file, const GgufFamily &family,
                      Json &config) {
  return RopeScalingReader(file, family, config).read();
}

} // namespace weft
