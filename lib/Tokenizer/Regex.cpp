//===- Regex.cpp - Matching with PCRE2 ------------------------------------===//

#define PCRE2_CODE_UNIT_WIDTH 8

#include "Regex.h"

#include "weft/Base/Results.h"

#include <pcre2.h>

namespace weft {

struct RegexMatch::Memory {
  /// Every expression is matched as a whole: one pair of offsets.
  pcre2_match_data *data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context *context = pcre2_match_context_create(nullptr);
  /// Groups under a quantifier push a frame per repetition.
  pcre2_jit_stack *stack = pcre2_jit_stack_create(32 << 10, 16 << 20, nullptr);

  Memory() { pcre2_jit_stack_assign(context, nullptr, stack); }
  ~Memory() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
};

RegexMatch::RegexMatch() = default;
RegexMatch::~RegexMatch() = default;

struct Regex::Code {
  pcre2_code *compiled = nullptr;
  bool isNative = false;

  Code() = default;
  Code(const Code &) = delete;
  ~Code() { pcre2_code_free(compiled); }
};

Expected<Regex> Regex::compile(std::string_view expression) {
  Expected<std::string> text = translateExpression(expression);
  if (!text)
    return text.takeError();
  pcre2_compile_context *context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  pcre2_set_bsr(context, PCRE2_BSR_UNICODE);
  pcre2_set_max_pattern_length(context, 1 << 16);
  int code = 0;
  PCRE2_SIZE position = 0;
  auto made = std::make_shared<Code>();
  made->compiled =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text->data()), text->size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                        PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE,
                    &code, &position, context);
  pcre2_compile_context_free(context);
  if (!made->compiled) {
    PCRE2_UCHAR message[256] = "";
    pcre2_get_error_message(code, message, sizeof message);
    return inputError("expects a regular expression, but got ",
                      inQuotes(expression), ": ",
                      reinterpret_cast<char *>(message));
  }
  // Where the system allows no native code the interpreter takes its place.
  made->isNative = pcre2_jit_compile(made->compiled, PCRE2_JIT_COMPLETE) == 0;
  Regex regex;
  regex.code = std::move(made);
  return regex;
}

Regex::Found Regex::find(std::string_view text, size_t at, RegexMatch &match,
                         size_t &begin, size_t &end) const {
  const auto *subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  if (!match.memory)
    match.memory = std::make_unique<RegexMatch::Memory>();
  RegexMatch::Memory &memory = *match.memory;
  const int result =
      code->isNative
          ? pcre2_jit_match(code->compiled, subject, text.size(), at, 0,
                            memory.data, memory.context)
          : pcre2_match(code->compiled, subject, text.size(), at,
                        PCRE2_NO_UTF_CHECK, memory.data, memory.context);
  if (result == PCRE2_ERROR_NOMATCH)
    return Found::None;
  if (result < 0)
    return Found::TooHard;
  const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(memory.data);
  begin = offsets[0];
  end = offsets[1];
  return Found::Match;
}

} // namespace weft
