//===- JsonSections.h - Sections of tokenizer.json --------------*- C++ -*-===//
//
// Private to lib/Tokenizer. Each function reads one section. A type or a field
// that is not known is an error: nothing in a file is ignored.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_JSONSECTIONS_H
#define WEFT_LIB_TOKENIZER_JSONSECTIONS_H

#include "Parts.h"

#include "weft/Formats/Json.h"

#include <initializer_list>

namespace weft {

/// A section: its type, and fields with their values or defaults.
class Section {
public:
  /// An object whose field `type` is a string.
  static Expected<Section> open(const JsonCursor &at);

  const std::string &type() const { return typeName; }
  const JsonCursor &cursor() const { return at; }
  /// Every field but `type` is one of `names`.
  Status hasOnly(std::initializer_list<const char *> names) const;
  /// The type is not supported in this part of the file.
  Error unsupported(const char *part) const;

  /// The values of fields; an absent or null one has the default.
  Expected<bool> getBool(const char *name, bool otherwise) const;
  Expected<std::string> getString(const char *name,
                                  const std::string &otherwise) const;
  /// A field of one character.
  Expected<std::string> getCharacter(const char *name) const;
  /// A required field {"String": "..."} or {"Regex": "..."}.
  Expected<Pattern> getPattern(const char *name) const;
  /// Whether the field is there and not null.
  bool has(const char *name) const;

private:
  Section(JsonCursor at, std::string typeName)
      : at(std::move(at)), typeName(std::move(typeName)) {}

  JsonCursor at;
  std::string typeName;
};

/// The sections of a list `Sequence`, or the one section itself, in order.
Status forSteps(const JsonCursor &at, const char *list,
                const std::function<Status(const Section &)> &read);

Status readNormalizer(const JsonCursor &at, NormalizerList &out);
Status readPreTokenizer(const JsonCursor &at, Tokenizer::Parts &parts,
                        bool &endsByteLevel);
Status readPostProcessor(const JsonCursor &at, Tokenizer::Parts &parts);
Status readDecoder(const JsonCursor &at, Tokenizer::Parts &parts);
/// Adds a token; errors name its place in the file.
Status addTokenId(const JsonCursor &at, std::string_view text, int64_t id,
                  Vocabulary &vocabulary);
/// Adds the tokens of an object: their numbers by their texts.
Status readTokenIds(const JsonCursor &object, Vocabulary &vocabulary);
/// The fields of an added token except `id`.
Status readTokenFields(const JsonCursor &at, AddedToken &token);
/// Adds an added token, unless the vocabulary has it by this number.
Status addToVocabulary(const JsonCursor &at, const AddedToken &token,
                       Vocabulary &vocabulary);
/// The tokens of the model, into the vocabulary.
Status readVocabulary(const JsonCursor &model, Tokenizer::Parts &parts);
Status readModel(const JsonCursor &at, Tokenizer::Parts &parts,
                 bool isByteLevel);

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_JSONSECTIONS_H
