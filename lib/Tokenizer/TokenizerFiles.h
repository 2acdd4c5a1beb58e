//===- TokenizerFiles.h - Files beside a tokenizer --------------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_TOKENIZERFILES_H
#define WEFT_LIB_TOKENIZER_TOKENIZERFILES_H

#include "Parts.h"

#include "weft/Formats/Json.h"

#include <filesystem>

namespace weft {

inline constexpr const char *kTokenizerConfig = "tokenizer_config.json";

bool isThere(const std::filesystem::path &path);

/// The text of a token that a file names: "</s>", or an object with the field
/// content.
Expected<std::string> readTokenText(const JsonCursor &at);
/// An absent or null field is false.
Expected<bool> readSwitch(const JsonCursor &root, const char *name);

/// Reads the roles of special tokens, such as `eos_token`, in a JSON file. With
/// `setsFrame`, its `add_bos_token` and `add_eos_token` say whether texts begin
/// and end with tokens.
Status readTokenRoles(const std::string &path, bool setsFrame,
                      Tokenizer::Parts &parts);

/// The tokenizer of `vocab.json` and `merges.txt` in a folder, which has at
/// least one of them.
Expected<Tokenizer> loadMerges(const std::filesystem::path &folder);

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_TOKENIZERFILES_H
