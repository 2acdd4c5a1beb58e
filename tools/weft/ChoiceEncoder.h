//===- ChoiceEncoder.h - Choices as rows of tokens and targets --*- C++ -*-===//
//
// The tokens of a choice behind its prompt follow the rule of EleutherAI's
// lm-evaluation-harness: white space at the end of the prompt belongs to the
// choice, and the choice has the tokens of both that follow as many tokens as
// the prompt has alone. An empty prompt is the token that begins a text, or the
// one that ends it. Text begins with the tokens that the tokenizer puts before
// it, such as a beginning of text.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_CHOICEENCODER_H
#define WEFT_TOOLS_WEFT_CHOICEENCODER_H

#include "ChoiceQuestions.h"
#include "PrepareTokens.h"

#include "weft/Runtime/Execute/Metadata.h"

namespace weft {

/// A prompt and a choice: the last `scored` tokens are of the choice.
struct ChoiceTokens {
  std::vector<int32_t> ids;
  size_t scored = 0;
};

class ChoiceEncoder {
public:
  /// Without a tokenizer, tokens are bytes. `text` outlives the encoder.
  ChoiceEncoder(const TextTokenizer *text, const Metadata &metadata);

  Expected<ChoiceTokens> encode(const std::string &prompt,
                                const std::string &choice) const;

private:
  Expected<std::vector<int32_t>> idsOf(const std::string &text) const;

  const TextTokenizer *text = nullptr;
  int64_t vocab = 0;
  std::vector<int32_t> beginning;   // of every text
  std::optional<int32_t> separator; // in place of an empty prompt
};

/// Writes a file with the inputs `tokens` and `targets` of a language model, a
/// row for each choice of each question in their order. Only the targets of the
/// choice count. A prompt that does not fit is cut at its beginning; a choice
/// that does not fit is an error of its line.
Status writeChoiceRows(const std::vector<ChoiceQuestion> &questions,
                       const std::string &questionsPath,
                       const ChoiceEncoder &encoder, const Metadata &metadata,
                       const std::string &output);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_CHOICEENCODER_H
