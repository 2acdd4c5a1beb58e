//===- Generate.cpp - Samples of a language model -------------------------===//

#include "weft/Runtime/Run/Evaluate.h"

#include "weft/Abi/Names.h"
#include "weft/Abi/Philox.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace weft;

/// A number in [0, 1) with 53 random bits.
static double uniform(int64_t seed, uint64_t index) {
  PhiloxKey key = philoxKey(uint64_t(seed), philoxNameHash("weft.sample", 11));
  PhiloxBlock block = philoxBlock(key, index, 0);
  uint64_t bits = (uint64_t(block.lane[0]) << 32) | block.lane[1];
  return double(bits >> 11) * 0x1p-53;
}

int64_t weft::sampleToken(const float *logits, int64_t count,
                          const SampleOptions &options, uint64_t index) {
  for (int64_t i = 0; i < count; ++i)
    if (std::isnan(logits[i]) || logits[i] == INFINITY)
      return -1;
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t(0));
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  if (options.temperature == 0.0)
    return order[0];
  if (options.topK > 0 && options.topK < count)
    order.resize(size_t(options.topK));
  std::vector<double> weights;
  double total = 0.0;
  for (int64_t token : order) {
    double exponent = (double(logits[token]) - double(logits[order[0]])) /
                      options.temperature;
    weights.push_back(token == order[0] ? 1.0 : std::exp(exponent));
    total += weights.back();
  }
  double target = uniform(options.seed, index) * total;
  for (size_t i = 0; i < order.size(); ++i) {
    target -= weights[i];
    if (target < 0.0)
      return order[i];
  }
  return order[0];
}

Status weft::checkGenerate(const RunOptions &options, const Metadata &metadata,
                           const WeftExecutable &executable) {
  if (!options.generate)
    return Status::success();
  if (!findProgram(executable, names::kLogits))
    return usageError("--generate expects a program that gives logits, but "
                      "this one has none");
  if (!metadata.tokenizerFiles.empty() && !options.byteTokenizer)
    return usageError("--generate expects a model of bytes, but this one has a "
                      "tokenizer (",
                      metadata.tokenizerFiles.front(), ")")
        .hint("--tokenizer=bytes reads and writes bytes as tokens");
  for (unsigned char byte : *options.generate)
    if (byte >= metadata.vocab)
      return usageError("--generate expects bytes below ", metadata.vocab,
                        ", but got ", byte);
  return Status::success();
}

namespace {

/// One program run per token over a sliding window.
class Generator {
public:
  Generator(WeftContext &context, const Metadata &metadata)
      : context(context), program(*context.findProgram(names::kLogits)),
        tokens(*WeftContext::findInput(program, names::kTokens)),
        position(*WeftContext::findInput(program, names::kPosition)),
        logits(*WeftContext::findOutput(program, names::kLogits)),
        seq(metadata.seq), choices(std::min<int64_t>(metadata.vocab, 256)) {}

  Expected<int64_t> next(const std::string &text, const SampleOptions &options,
                         uint64_t index) {
    int64_t used = std::min<int64_t>(int64_t(text.size()), seq);
    for (int64_t i = 0; i < seq; ++i) {
      size_t at = text.size() - size_t(used) + size_t(i);
      int64_t token = i < used ? static_cast<unsigned char>(text[at]) : 0;
      writeInteger(context, tokens, token, i);
    }
    writeInteger(context, position, used - 1);
    if (Status s = runChecked(context, program); !s)
      return s.takeError();
    const char *made = context.device().outputBytes(logits);
    int64_t token = sampleToken(reinterpret_cast<const float *>(made), choices,
                                options, index);
    if (token < 0)
      return numericsError("the logits are not numbers");
    return token;
  }

private:
  WeftContext &context;
  const WeftProgram &program;
  const WeftPort &tokens, &position, &logits;
  int64_t seq, choices;
};

} // namespace

Expected<std::string> weft::generateText(WeftContext &context,
                                         const Metadata &metadata,
                                         const RunOptions &options,
                                         int64_t seed,
                                         const StopRequest *signals) {
  Generator generator(context, metadata);
  std::string text = *options.generate;
  size_t start = text.size();
  SampleOptions sample{options.temperature, options.topK, seed};
  for (int64_t i = 0; i < options.maxNewTokens; ++i) {
    if (signals && signals->stopSignal())
      break;
    auto token = generator.next(text, sample, uint64_t(i));
    if (!token)
      return token.takeError();
    text.push_back(char(*token));
  }
  return text.substr(start);
}
