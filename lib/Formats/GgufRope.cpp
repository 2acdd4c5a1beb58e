//===- GgufRope.cpp - Rotary positions in GGUF files ----------------------===//

#include "GgufRope.h"

#include "weft/Base/Text.h"

#include <algorithm>
#include <cmath>

namespace weft {

static double numberOf(const Json *value, double fallback) {
  return value && value->isNumber() ? value->asDouble() : fallback;
}

namespace {
/// The scaling `llama3` of transformers.
struct Llama3Scaling {
  double factor = 8, low = 1, high = 4, context = 8192;

  /// As in llama.cpp's convert_hf_to_gguf.py, in double.
  std::vector<float> divisors(double theta, int64_t width) const {
    std::vector<float> result;
    for (int64_t i = 0; i < width; i += 2) {
      const double power = std::pow(theta, double(i) / double(width));
      const double wavelength = 2 * 3.141592653589793 * power;
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
};
} // namespace

static bool areClose(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return std::fabs(x - y) <= 1e-5f * std::fabs(y);
         });
}

static constexpr int64_t kMostHeadWidth = int64_t(1) << 24;

static int64_t integerOf(const Json *value, int64_t fallback) {
  return value && value->isInt() ? value->asInt() : fallback;
}

static int64_t headWidthOf(const Json &config) {
  const int64_t heads = integerOf(config.find("num_attention_heads"), 1);
  const int64_t width = integerOf(config.find("hidden_size"), 2);
  return integerOf(config.find("head_dim"), heads > 0 ? width / heads : 2);
}

/// The factor behind the largest divisor, which belongs to the longest
/// wavelength; heads of few elements have none that is stretched in full.
static double factorOf(const std::vector<float> &divisors, double theta,
                       int64_t width) {
  const auto largest = std::max_element(divisors.begin(), divisors.end());
  const auto index = double(largest - divisors.begin());
  const Llama3Scaling known;
  const double wavelength =
      2 * 3.141592653589793 * std::pow(theta, 2 * index / double(width));
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

static Status addFactors(const GgufFile &file, const GgufTensor &tensor,
                         Json &config) {
  auto wrong = [&](const std::string &message) {
    return inputError("tensor " + inQuotes(tensor.name) + ": " + message)
        .at(file.path());
  };
  const int64_t width = headWidthOf(config);
  if (width < 2 || tensor.elements() != width / 2)
    return wrong("expects half as many elements as a head has, " +
                 std::to_string(width / 2) + ", but got " +
                 std::to_string(tensor.elements()));
  std::vector<float> given(static_cast<size_t>(width / 2));
  if (Status status = file.readFloats(tensor, 0, width / 2, given.data());
      !status)
    return status;
  Llama3Scaling scaling;
  const double theta = numberOf(config.find("rope_theta"), 10000);
  scaling.factor = factorOf(given, theta, width);
  if (!areClose(given, scaling.divisors(theta, width)))
    return wrong("expects divisors of the scaling llama3 with low_freq_factor "
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

Status addRopeScaling(const GgufFile &file, const std::string &architecture,
                      Json &config) {
  auto type = file.text(architecture + ".rope.scaling.type");
  if (!type)
    return type.takeError();
  if (*type && **type != "none") {
    Json scale = Json::object();
    scale.set("rope_type", **type);
    config.set("rope_scaling", std::move(scale));
    return Status::success();
  }
  if (const GgufTensor *factors = file.find(kRopeFactors))
    return addFactors(file, *factors, config);
  return Status::success();
}

Expected<std::vector<float>> ropeFactorsOf(const Json &config) {
  const Json *scale = config.find("rope_scaling");
  if (!scale || scale->isNull())
    scale = config.find("rope_parameters");
  const Json *type = scale ? scale->find("rope_type") : nullptr;
  if (scale && !type)
    type = scale->find("type");
  if (!type || !type->isString() || type->asString() == "default")
    return std::vector<float>();
  if (type->asString() != "llama3")
    return inputError("field 'rope_type': expects default or llama3, but got " +
                      inQuotes(type->asString()));
  Llama3Scaling scaling;
  scaling.factor = numberOf(scale->find("factor"), scaling.factor);
  scaling.low = numberOf(scale->find("low_freq_factor"), scaling.low);
  scaling.high = numberOf(scale->find("high_freq_factor"), scaling.high);
  scaling.context = numberOf(scale->find("original_max_position_embeddings"),
                             scaling.context);
  const double theta = numberOf(scale->find("rope_theta"),
                                numberOf(config.find("rope_theta"), 10000));
  const int64_t width = headWidthOf(config);
  if (width < 2 || width > kMostHeadWidth)
    return inputError("expects heads of 2 to " +
                      std::to_string(kMostHeadWidth) + " elements, but got " +
                      std::to_string(width));
  return scaling.divisors(theta, width);
}

} // namespace weft
