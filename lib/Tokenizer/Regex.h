//===- Regex.h - Expressions of tokenizer files, by PCRE2 -------*- C++ -*-===//
//
// Private to lib/Tokenizer. Tokenizer files hold expressions in the syntax of
// Oniguruma. They are translated to PCRE2 construct by construct; one without
// an equal in PCRE2 is an error.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_REGEX_H
#define WEFT_LIB_TOKENIZER_REGEX_H

#include "weft/Base/Error.h"

#include <memory>
#include <string>
#include <string_view>

namespace weft {

/// The same expression in PCRE2's syntax.
Expected<std::string> translateExpression(std::string_view expression);

/// The expression that matches `text` itself.
std::string quotedExpression(std::string_view text);

/// The memory of one match at a time, made when it is needed first; each
/// thread has its own.
class RegexMatch {
public:
  RegexMatch();
  ~RegexMatch();
  RegexMatch(const RegexMatch &) = delete;
  RegexMatch &operator=(const RegexMatch &) = delete;

private:
  friend class Regex;
  struct Memory;
  std::unique_ptr<Memory> memory;
};

/// A compiled expression; safe to use from several threads.
class Regex {
public:
  static Expected<Regex> compile(std::string_view expression);

  enum class Found { Match, None, TooHard };
  /// The first match in well-formed `text` from `at` on. TooHard: it took more
  /// steps than PCRE2 allows.
  Found find(std::string_view text, size_t at, RegexMatch &match, size_t &begin,
             size_t &end) const;

private:
  struct Code;
  std::shared_ptr<const Code> code;
};

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_REGEX_H
