//===- RefuseNonTokens.cpp - Files that are no tokens ---------------------===//

#include "RefuseNonTokens.h"

#include "weft/Formats/FileKind.h"
#include "weft/Formats/TextForm.h"

#include <algorithm>

namespace weft {

/// Fewer bytes of tokens may happen to be letters.
static constexpr size_t kFewestLetters = 256;

static constexpr char kAsText[] =
    "--data-format=text reads its bytes as they are";

/// How the tokens of an array become a file that is read.
static std::string tokensHint(std::string_view head, const std::string &path,
                              bool isNumpy) {
  if (!isNumpy)
    return "write its tokens alone, ARRAY.astype('uint16').tofile('tokens.bin'"
           "), and give --data-format=u16";
  const std::string_view header = head.substr(0, 128);
  const bool isNarrow = header.find("u2'") != header.npos ||
                        header.find("u1'") != header.npos ||
                        header.find("i1'") != header.npos;
  const std::string bits = isNarrow ? "16" : "32";
  return "python3 -c \"import numpy,sys; numpy.load(sys.argv[1]).astype('uint" +
         bits + "').tofile(sys.argv[2])\" " + shellWord(path) + " " +
         shellWord(path + ".bin") + ", then --data-format=u" + bits;
}

/// The way from a file of that kind to tokens.
static std::string kindHint(const FileKind &kind, std::string_view head,
                            const std::string &path) {
  const bool isNumpy = head.substr(0, 6) == "\x93NUMPY";
  if (isNumpy || kind.isSafetensors || kind.isTorch ||
      head.substr(0, 4) == "\x89HDF")
    return tokensHint(head, path, isNumpy);
  return kind.hint;
}

static std::string joined(const std::string &first, const std::string &second) {
  return first.empty() || second.empty() ? first + second
                                         : first + "; " + second;
}

static FileKind kindOf(std::string_view head, int64_t wholeSize) {
  return guessFileKind(reinterpret_cast<const uint8_t *>(head.data()),
                       static_cast<int64_t>(head.size()), wholeSize);
}

Status checkText(std::string_view head, int64_t wholeSize,
                 const std::string &path) {
  if (FileKind kind = kindOf(head, wholeSize); kind.isKnown() && !kind.isText)
    return inputError(std::string("expects text or tokens, but got ") +
                      kind.name)
        .at(path)
        .hint(joined(kindHint(kind, head, path), kAsText));
  if (endsWith(path, ".bin"))
    return inputError("cannot tell the width of the tokens: no llm.c header")
        .at(path)
        .hint("pass --data-format=u16 (nanoGPT's GPT-2 files), u32 or text");
  const TextForm form = guessTextForm(head, wholeSize, path);
  if (form == TextForm::Plain)
    return Status::success();
  return inputError(std::string("expects text or tokens, but got ") +
                    textFormName(form))
      .at(path)
      .hint(joined(textCommand(form, head, path), kAsText));
}

Status checkTokens(std::string_view head, int64_t wholeSize, int width,
                   const std::string &path) {
  FileKind kind = kindOf(head, wholeSize);
  // Tokens may begin like a pickle, of which two bytes are known.
  const bool isChance = (kind.isTorch && head[0] == '\x80') ||
                        (kind.isText && head.size() < kFewestLetters);
  if (!kind.isKnown() || isChance)
    return Status::success();
  Error error = inputError("expects u" + std::to_string(8 * width) +
                           " tokens, but got " + kind.name);
  return error.at(path).hint(kind.isText
                                 ? "leave --data-format out to read it as text"
                                 : kindHint(kind, head, path));
}

} // namespace weft
