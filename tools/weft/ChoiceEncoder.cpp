//===- ChoiceEncoder.cpp - Choices as rows of tokens and targets ----------===//

#include "ChoiceEncoder.h"

#include "weft/Abi/Names.h"
#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/Safetensors.h"

#include <algorithm>

using namespace weft;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

ChoiceEncoder::ChoiceEncoder(const TextTokenizer *text,
                             const Metadata &metadata)
    : text(text), vocab(metadata.vocab) {
  if (!text)
    return;
  beginning = text->tokenizer.frame().before;
  const SpecialIds &special = text->tokenizer.specialIds();
  separator = special.beginning ? special.beginning : text->endOfText;
}

Expected<std::vector<int32_t>>
ChoiceEncoder::idsOf(const std::string &part) const {
  std::vector<int32_t> ids;
  if (text) {
    EncodeOptions options;
    options.addsSpecialTokens = false;
    options.findsSpecialTokens = text->findsSpecialTokens;
    return text->tokenizer.encode(part, options);
  }
  for (const char c : part)
    ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

/// The bytes of `text` before white space at its end, as Python's rstrip()
/// finds it.
static size_t bytesBeforeSpaces(std::string_view text) {
  static constexpr std::string_view spaces[] = {
      " ",      "\t",     "\n",     "\r",     "\v",     "\f",
      "\x1c",   "\x1d",   "\x1e",   "\x1f",   "\u0085", "\u00a0",
      "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
      "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
      "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
  for (bool found = true; found;) {
    found = false;
    for (std::string_view space : spaces)
      if (endsWith(text, space)) {
        text.remove_suffix(space.size());
        found = true;
      }
  }
  return text.size();
}

Expected<ChoiceTokens> ChoiceEncoder::encode(const std::string &prompt,
                                             const std::string &choice) const {
  const std::string context = prompt.substr(0, bytesBeforeSpaces(prompt));
  Expected<std::vector<int32_t>> whole = idsOf(prompt + choice);
  Expected<std::vector<int32_t>> first = idsOf(context);
  if (!whole || !first)
    return whole ? first.takeError() : whole.takeError();
  ChoiceTokens tokens;
  tokens.ids = beginning;
  if (beginning.empty() && first->empty()) {
    if (!separator)
      return inputError("expects a prompt that is not empty, since the model "
                        "has no token that begins or ends a text")
          .hint("begin the field 'prompt' with a text, such as \"Question:\"");
    tokens.ids.push_back(*separator);
  }
  tokens.scored = whole->size() - std::min(whole->size(), first->size());
  if (tokens.scored == 0)
    return inputError("expects choices of at least one token, but got ",
                      inQuotes(choice));
  tokens.ids.insert(tokens.ids.end(), whole->begin(), whole->end());
  for (const int32_t id : tokens.ids)
    if (id >= vocab)
      return inputError("expects tokens below ", vocab, ", but got ", id);
  return tokens;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
class ChoiceRowWriter {
public:
  ChoiceRowWriter(SafetensorsRowWriter file, int64_t seq, int64_t ignored)
      : file(std::move(file)), tokens(size_t(seq)), targets(size_t(seq)),
        ignored(int32_t(ignored)) {}

  Status write(const ChoiceTokens &choice);
  Status finish() { return file.finish(); }

private:
  SafetensorsRowWriter file;
  std::vector<int32_t> tokens, targets;
  int32_t ignored;
};
} // namespace

/// Token i predicts target i, the next token. Tokens behind the choice have no
/// effect on it.
Status ChoiceRowWriter::write(const ChoiceTokens &choice) {
  const size_t seq = tokens.size();
  if (choice.scored > seq)
    return inputError("expects choices of at most ", seq,
                      " tokens, the positions of the program (--seq), but got ",
                      choice.scored)
        .hint(concat("--seq=", choice.scored,
                     " compiles a model with that many positions"));
  const size_t used = std::min(choice.ids.size() - 1, seq);
  const int32_t *ids = &choice.ids[choice.ids.size() - 1 - used];
  std::fill(tokens.begin(), tokens.end(), 0);
  std::fill(targets.begin(), targets.end(), ignored);
  for (size_t i = 0; i < used; ++i) {
    tokens[i] = ids[i];
    if (i + choice.scored >= used)
      targets[i] = ids[i + 1];
  }
  if (Status s = file.write(0, 1, tokens.data()); !s)
    return s;
  return file.write(1, 1, targets.data());
}

static Expected<ChoiceRowWriter>
openRows(const std::string &output, int64_t rows, const Metadata &metadata) {
  const auto limit = metadata.inputLimits.find(names::kTargets);
  if (limit == metadata.inputLimits.end() || !limit->second.ignore)
    return inputError("expects a language model whose loss can leave out "
                      "targets, but got ",
                      inQuotes(metadata.name));
  auto file = SafetensorsRowWriter::create(
      output,
      {{names::kTokens, TensorType::I32, {rows, metadata.seq}},
       {names::kTargets, TensorType::I32, {rows, metadata.seq}}},
      {{writtenByKey, "rows"}});
  if (!file)
    return file.takeError();
  return ChoiceRowWriter(std::move(*file), metadata.seq, *limit->second.ignore);
}

Status weft::writeChoiceRows(const std::vector<ChoiceQuestion> &questions,
                             const std::string &questionsPath,
                             const ChoiceEncoder &encoder,
                             const Metadata &metadata,
                             const std::string &output) {
  Expected<ChoiceRowWriter> rows =
      openRows(output, countChoices(questions), metadata);
  if (!rows)
    return rows.takeError();
  for (const ChoiceQuestion &question : questions)
    for (size_t i = 0; i < question.choices.size(); ++i) {
      auto ofChoice = [&](Error error) {
        return error.during(concat("choice ", i))
            .at(questionsPath, question.line);
      };
      Expected<ChoiceTokens> tokens =
          encoder.encode(question.prompt, question.choices[i]);
      if (!tokens)
        return ofChoice(tokens.takeError());
      if (Status s = rows->write(*tokens); !s)
        return s.error().code() == ExitCode::Input ? ofChoice(s.takeError())
                                                   : s.takeError();
    }
  return rows->finish();
}
