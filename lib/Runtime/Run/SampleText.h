//===- SampleText.h - The text of a sample ----------------------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_RUN_SAMPLETEXT_H
#define WEFT_LIB_RUNTIME_RUN_SAMPLETEXT_H

#include "weft/Runtime/Run/Evaluate.h"
#include "weft/Runtime/Text/TextClient.h"

namespace weft {

/// How long a rank waits for its tokenizer: it must not time out for other
/// ranks.
double tokenizerSeconds(const RunOptions &options);

/// Turns the ids of a sample into text: each is a byte, or a token of the
/// tokenizer beside the run. Ranks draw the same ids in collectives, so they
/// agree after each request whether the tokenizer of any rank is lost, and
/// whether any rank is asked to stop.
class SampleDecoder {
public:
  /// An error is one of the collective.
  static Expected<SampleDecoder> open(WeftContext &context,
                                      const RunOptions &options,
                                      std::function<bool()> isStopped);

  /// Tokens from 0 on that have a text.
  int64_t size() const { return client ? client->facts().tokens : 256; }
  bool isEnd(int32_t id) const {
    return client && client->facts().endOfText == id;
  }
  Expected<std::string> add(int32_t id);
  Expected<std::string> finish();
  bool isLost() const { return failure.has_value(); }
  /// Whether the run is asked to stop. Several ranks know it of each other only
  /// with a tokenizer, after a request.
  bool isStopped() const {
    return context->ranks() > 1 ? isAnyStopped : asksToStop();
  }
  std::optional<Error> takeFailure() { return std::move(failure); }

private:
  SampleDecoder(WeftContext &context, std::function<bool()> asksToStop)
      : context(&context), asksToStop(std::move(asksToStop)) {}

  /// Leaves out the space that the prompt already ends with.
  Expected<std::string> withoutSpace(Expected<std::string> text);
  /// The text of a reply, or "" if this one or the one of another rank is an
  /// error.
  Expected<std::string> agree(Expected<std::string> reply);

  WeftContext *context;
  std::function<bool()> asksToStop; // this rank
  bool isAnyStopped = false;        // a rank, as all of them know
  std::optional<TextClient> client;
  std::optional<Error> failure;
  /// The prompt ends with a space that is in no token.
  bool hasSpace = false;
};

/// The text of a sample so far. The reader gets it up to where the stop text
/// may begin.
class GrowingSample {
public:
  GrowingSample(const std::string &stop, const TextReader &reader)
      : stop(stop), reader(reader) {}

  /// Whether the stop text has come.
  Expected<bool> add(const std::string &more);
  Status finish() { return give(text.size()); }
  std::string take() { return std::move(text); }

private:
  Status give(size_t end);

  const std::string &stop;
  const TextReader &reader;
  std::string text;
  size_t given = 0;
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_RUN_SAMPLETEXT_H
