//===- Generate.cpp - Samples of a language model -------------------------===//

#include "SampleText.h"

#include "weft/Abi/Names.h"
#include "weft/Abi/Philox.h"
#include "weft/Base/Results.h"
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

/// Logits after the penalty.
static std::vector<double> penalized(const float *logits, int64_t count,
                                     double penalty,
                                     const std::vector<bool> &seen) {
  std::vector<double> values(logits, logits + count);
  for (size_t token = 0; token < std::min(seen.size(), values.size()); ++token)
    if (seen[token])
      values[token] =
          values[token] > 0 ? values[token] / penalty : values[token] * penalty;
  return values;
}

/// How many of the sorted weights, of which the first is 1, may be drawn.
static size_t countAllowed(const std::vector<double> &weights,
                           const SampleOptions &options) {
  size_t allowed = weights.size();
  if (options.topK > 0)
    allowed = std::min(allowed, size_t(options.topK));
  const double target =
      options.topP *
      std::accumulate(weights.begin(), weights.begin() + allowed, 0.0);
  double sum = 0.0;
  for (size_t i = 0; i < allowed && options.topP < 1.0; ++i) {
    sum += weights[i];
    if (sum >= target)
      allowed = i + 1;
  }
  while (allowed > 1 && weights[allowed - 1] < options.minP)
    --allowed;
  return allowed;
}

/// The tokens that may be drawn, the most probable one first. Equal ones are in
/// the order of their ids.
static std::vector<int64_t> mostProbable(const std::vector<double> &values,
                                         const SampleOptions &options) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), int64_t(0));
  size_t most = order.size();
  if (options.topK > 0)
    most = std::min(most, size_t(options.topK));
  if (options.temperature == 0.0)
    most = std::min<size_t>(most, 1);
  auto isBefore = [&](int64_t a, int64_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  };
  if (most < order.size())
    std::partial_sort(order.begin(), order.begin() + most, order.end(),
                      isBefore);
  else
    std::sort(order.begin(), order.end(), isBefore);
  order.resize(most);
  return order;
}

int64_t weft::sampleToken(const float *logits, int64_t count,
                          const SampleOptions &options, uint64_t index,
                          const std::vector<bool> &seen) {
  for (int64_t i = 0; i < count; ++i)
    if (std::isnan(logits[i]) || logits[i] == INFINITY)
      return -1;
  const std::vector<double> values =
      penalized(logits, count, options.repetitionPenalty, seen);
  const std::vector<int64_t> order = mostProbable(values, options);
  if (!std::isfinite(values[size_t(order[0])]))
    return -1;
  if (options.temperature == 0.0)
    return order[0];
  std::vector<double> weights;
  for (int64_t token : order)
    weights.push_back(token == order[0]
                          ? 1.0
                          : std::exp((values[token] - values[order[0]]) /
                                     options.temperature));
  weights.resize(countAllowed(weights, options));
  double target = uniform(options.seed, index) *
                  std::accumulate(weights.begin(), weights.end(), 0.0);
  for (size_t i = 0; i < weights.size(); ++i) {
    target -= weights[i];
    if (target < 0.0)
      return order[i];
  }
  return order[0];
}

/// The ids of a prompt by the tokenizer beside the run.
static Expected<std::vector<int32_t>> encodePrompt(const RunOptions &options,
                                                   const Metadata &metadata) {
  if (!TextClient::isOffered())
    return usageError("--generate expects a model of bytes, but this one has a "
                      "tokenizer (",
                      metadata.tokenizerFiles.front(), ")")
        .hint("weft generate, weft train and weft launch use the tokenizer; "
              "--tokenizer=bytes reads and writes bytes as tokens");
  Expected<TextClient> client =
      TextClient::connect({tokenizerSeconds(options), {}});
  if (!client)
    return client.takeError();
  Expected<std::vector<int32_t>> ids = client->encode(*options.generate);
  if (!ids)
    return ids;
  for (int32_t id : *ids)
    if (id >= metadata.vocab)
      return inputError("expects a tokenizer with tokens below ",
                        metadata.vocab,
                        ", the vocabulary of the model, but it "
                        "gives ",
                        id, " for the prompt")
          .hint("compile the model with the tokenizer that it was trained "
                "with");
  return ids;
}

static Status checkBelowVocabulary(const char *rule,
                                   const std::vector<int32_t> &ids,
                                   const Metadata &metadata) {
  for (int32_t id : ids)
    if (id >= metadata.vocab)
      return usageError(rule, " below ", metadata.vocab, ", but got ", id);
  return Status::success();
}

Status weft::checkGenerate(RunOptions &options, const Metadata &metadata,
                           const WeftExecutable &executable) {
  if (!options.generate)
    return Status::success();
  if (!findProgram(executable, names::kLogits) &&
      !findProgram(executable, names::kPrefill))
    return usageError("expects a program that gives the logits of one position "
                      "for a sample, but this one has none")
        .hint("an .mlir file has a program of kind logits for samples");
  if (options.generateIds) {
    options.promptIds = *options.generateIds;
    return checkBelowVocabulary("--generate-ids expects tokens",
                                options.promptIds, metadata);
  }
  options.samplesWithTokenizer =
      !metadata.tokenizerFiles.empty() && !options.byteTokenizer;
  if (options.samplesWithTokenizer)
    return assign(encodePrompt(options, metadata), options.promptIds);
  for (unsigned char byte : *options.generate)
    options.promptIds.push_back(byte);
  return checkBelowVocabulary("--generate expects bytes", options.promptIds,
                              metadata);
}

namespace {

/// A program that gives the logits of one position, and its ports.
class LogitsProgram {
public:
  LogitsProgram(WeftContext &context, const WeftProgram &program)
      : context(context), program(program),
        tokens(*WeftContext::findInput(program, names::kTokens)),
        position(*WeftContext::findInput(program, names::kPosition)),
        logits(*WeftContext::findOutput(program, names::kLogits)) {}

  void setToken(int64_t index, int64_t token) {
    writeInteger(context, tokens, token, index);
  }
  /// The logits at position `at`, valid until the next run.
  Expected<const float *> run(int64_t at) {
    writeInteger(context, position, at);
    if (Status s = runChecked(context, program); !s)
      return s.takeError();
    return reinterpret_cast<const float *>(
        context.device().outputBytes(logits));
  }

private:
  WeftContext &context;
  const WeftProgram &program;
  const WeftPort &tokens, &position, &logits;
};

/// Runs one program for each token. Program `decode` computes one token, if the
/// cache holds all tokens before it. Otherwise `prefill`, or `logits` in a
/// program without a cache, computes the window of the last `seq` tokens. In a
/// window that slides every token has another position, so the cache is of no
/// use.
class Generator {
public:
  /// Draws among the first `choices` tokens of the vocabulary.
  Generator(WeftContext &context, const Metadata &metadata, int64_t choices)
      : window(context, *findWindowProgram(context)), seq(metadata.seq),
        choices(choices) {
    if (const WeftProgram *one = context.findProgram(names::kDecode))
      decode.emplace(context, *one);
  }

  Expected<int64_t> next(const std::vector<int32_t> &text,
                         const SampleOptions &options, uint64_t index,
                         const std::vector<bool> &seen) {
    Expected<const float *> logits = compute(text);
    if (!logits)
      return logits.takeError();
    int64_t token = sampleToken(*logits, choices, options, index, seen);
    if (token < 0)
      return numericsError("the logits are not numbers");
    return token;
  }

  static const WeftProgram *findWindowProgram(const WeftContext &context) {
    const WeftProgram *prefill = context.findProgram(names::kPrefill);
    return prefill ? prefill : context.findProgram(names::kLogits);
  }

private:
  Expected<const float *> compute(const std::vector<int32_t> &text) {
    const int64_t size = int64_t(text.size());
    const bool isNext =
        decode && cached > 0 && cached == size - 1 && size <= seq;
    cached = size <= seq ? size : 0;
    if (isNext) {
      decode->setToken(0, text.back());
      return decode->run(size - 1);
    }
    const int64_t used = std::min(size, seq);
    for (int64_t i = 0; i < seq; ++i)
      window.setToken(i, i < used ? text[size_t(size - used + i)] : 0);
    return window.run(used - 1);
  }

  LogitsProgram window;
  std::optional<LogitsProgram> decode;
  int64_t seq, choices;
  int64_t cached = 0; // tokens whose keys and values the cache holds
};

} // namespace

/// Draws tokens behind the prompt until `ends` says so of the last one.
static Status draw(Generator &generator, const RunOptions &options,
                   int64_t seed, int64_t choices,
                   const std::function<Expected<bool>(int32_t)> &ends) {
  const SampleOptions sample{
      options.temperature, options.topK, seed,
      options.topP,        options.minP, options.repetitionPenalty};
  std::vector<int32_t> text = options.promptIds;
  std::vector<bool> seen(static_cast<size_t>(choices));
  for (int32_t token : text)
    if (token < choices)
      seen[size_t(token)] = true;
  for (int64_t i = 0; i < options.maxNewTokens; ++i) {
    auto token = generator.next(text, sample, uint64_t(i), seen);
    if (!token)
      return token.takeError();
    text.push_back(int32_t(*token));
    seen[size_t(*token)] = true;
    Expected<bool> isLast = ends(text.back());
    if (!isLast)
      return isLast.takeError();
    if (*isLast)
      break;
  }
  return Status::success();
}

Status weft::generateIds(WeftContext &context, const Metadata &metadata,
                         const RunOptions &options, int64_t seed,
                         const IdReader &reader) {
  Generator generator(context, metadata, metadata.vocab);
  return draw(generator, options, seed, metadata.vocab,
              [&](int32_t id) -> Expected<bool> {
                const auto &stops = options.stopIds;
                if (std::find(stops.begin(), stops.end(), id) != stops.end())
                  return true;
                if (Status s = reader(id); !s)
                  return s.takeError();
                return false;
              });
}

Expected<SampledText>
weft::generateText(WeftContext &context, const Metadata &metadata,
                   const RunOptions &options, int64_t seed,
                   const StopRequest *signals, const TextReader &reader) {
  Expected<SampleDecoder> decoder = SampleDecoder::open(
      context, options, [=] { return signals && signals->stopSignal() != 0; });
  if (!decoder)
    return decoder.takeError();
  // A run that stops takes no more samples, so a lost tokenizer is no news.
  auto failure = [&] {
    return decoder->isStopped() ? std::optional<Error>()
                                : decoder->takeFailure();
  };
  if (decoder->isStopped() || decoder->isLost())
    return SampledText{"", failure()};
  const int64_t choices = std::min(metadata.vocab, decoder->size());
  Generator generator(context, metadata, choices);
  GrowingSample sample(options.stop, reader);
  bool isCut = false;
  Status done = draw(
      generator, options, seed, choices, [&](int32_t id) -> Expected<bool> {
        if (decoder->isEnd(id))
          return true;
        Expected<std::string> text = decoder->add(id);
        if (!text)
          return text.takeError();
        if (Status s = assign(sample.add(*text), isCut); !s)
          return s.takeError();
        return isCut || decoder->isLost() || decoder->isStopped();
      });
  if (!done)
    return done.takeError();
  const bool isWhole = isCut || decoder->isLost();
  Expected<std::string> rest = isWhole ? std::string() : decoder->finish();
  if (!rest)
    return rest.takeError();
  if (!isWhole)
    if (Status s = assign(sample.add(*rest), isCut); !s)
      return s.takeError();
  if (Status s = sample.finish(); !s)
    return s.takeError();
  return SampledText{sample.take(), failure()};
}
