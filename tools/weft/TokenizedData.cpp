//===- TokenizedData.cpp - Text for programs that read tokens -------------===//

#include "TokenizedData.h"

#include "TextServer.h"
#include "TokenFiles.h"
#include "ToolCommands.h"

#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Runtime/Checkpoints/WeightSource.h"
#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Run/RunFlags.h"

#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

Expected<Metadata> weft::metadataOf(const Program &program) {
  Expected<Json> text = readMetadata(program.path);
  if (!text)
    return text.takeError();
  return parseMetadata(text->compact());
}

std::string weft::tokenizerOf(const Metadata &metadata,
                              const Program &program) {
  if (metadata.tokenizerFiles.empty())
    return "";
  const std::string path = tokenizerPath(metadata);
  return path.empty() ? "" : locateWeights(path, program.path);
}

static bool isKnown(const FlagValues &flags, std::string_view name) {
  for (const FlagSpec &spec : flags.specs())
    if (spec.name == name)
      return true;
  return false;
}

/// "" for a flag that the command does not have.
static std::string textIfKnown(const FlagValues &flags,
                               const std::string &name) {
  return isKnown(flags, name) ? flags.getText(name) : "";
}

/// The text of a run flag: as given, else as in the checkpoint of --resume,
/// else its default.
static std::string runSetting(const FlagValues &flags,
                              const std::string &name) {
  if (!flags.isSet(name) && flags.isSet("resume")) {
    const Settings recorded = findRecordedFlags(flags.getString("resume"),
                                                textIfKnown(flags, "save-dir"));
    if (const std::string *text = findSetting(recorded, name))
      return *text;
  }
  return flags.getText(name);
}

std::string weft::usedTokenizer(const FlagValues &flags,
                                const Metadata &metadata,
                                const Program &program) {
  const std::string path = tokenizerOf(metadata, program);
  return path.empty() || runSetting(flags, "tokenizer") == "bytes" ? "" : path;
}

bool weft::samplesText(const FlagValues &flags) {
  return flags.isSet("generate") || !runSetting(flags, "generate").empty();
}

Status weft::offerTokenizer(const FlagValues &flags, const Metadata &metadata,
                            const Program &program) {
  const std::string path = usedTokenizer(flags, metadata, program);
  return path.empty() ? Status::success() : startTextServer(path);
}

/// "'<pad>' (300)", the first token that the model does not have.
static std::string firstExtraToken(const Tokenizer &tokenizer, int64_t vocab) {
  for (int64_t id = vocab; id < tokenizer.vocabularySize(); ++id)
    if (auto text = tokenizer.tokenText(int32_t(id)))
      return concat(inQuotes(*text), " (", id, ")");
  return "";
}

void weft::warnOfExtraTokens(const std::string &path,
                             const Tokenizer &tokenizer, int64_t vocab) {
  const std::string extra = firstExtraToken(tokenizer, vocab);
  if (!extra.empty())
    warn(concat(path, ": expects a tokenizer of at most ", vocab,
                " tokens, as the model has, but it also has ", extra),
         "text with such a token is an error; new weights can have a larger "
         "vocab_size in config.json");
}

Expected<TextTokenizer> weft::loadTokenizer(const std::string &path,
                                            const Metadata &metadata,
                                            const std::string *noEndHint) {
  Expected<TextTokenizer> text = TextTokenizer::load(path, "", noEndHint);
  if (!text)
    return text;
  if (findRankNumber() == 0)
    warnOfExtraTokens(path, text->tokenizer, metadata.vocab);
  return text;
}

/// Whether the value of a data flag is text to tokenize. A file that is missing
/// is left to the program, which says so.
static bool isTextToTokenize(const std::string &value) {
  std::error_code ignored;
  if (!fs::exists(value, ignored))
    return value.find_first_of(",:*?[") != value.npos;
  return !isTokenFile(value) && !endsWith(value, ".bin") &&
         !guessFileKind(value).isSafetensors;
}

static Error namedByFlag(Error error, const std::string &flag) {
  return error.code() == ExitCode::Usage ? error.during("--" + flag) : error;
}

static Expected<std::string> tokenFileOf(const FlagValues &flags,
                                         const std::string &flag,
                                         const std::string &value,
                                         const TextTokenizer &text) {
  Expected<std::vector<TextGroup>> groups = parseTextGroups({value});
  if (!groups)
    return namedByFlag(groups.takeError(), flag);
  const std::vector<FileUse> inputs = filesOf(*groups, "--" + flag);
  if (Status s = checkOutputPaths(flags.files(FlagFile::Written), inputs,
                                  manifestName);
      !s)
    return s.takeError();
  for (const FileUse &use : inputs)
    if (isTokenFile(use.path))
      return inputError("expects text or JSON lines in a list, but got a file "
                        "of tokens")
          .at(use.path);
  return cachedTokens(*groups, text);
}

/// Whether a resumed run reads the recorded data. An evaluation reads its rows
/// in the validation data, or in the tail of the training data.
static bool readsRecorded(const FlagValues &flags, const Settings &recorded,
                          std::string_view flag) {
  const bool trains = isKnown(flags, "steps") && !flags.getSwitch("eval-only");
  const bool hasTail = flags.isSet("val-fraction");
  const bool hasValData = flags.isSet("val-data") ||
                          (!hasTail && findSetting(recorded, "val-data"));
  return flag == "data" ? trains || !hasValData : !hasTail;
}

/// The text of a data flag: as given, else the one of the run to resume whose
/// tokens are no longer in the cache.
static std::string textOf(const FlagValues &flags, const std::string &flag) {
  const std::string given = textIfKnown(flags, flag);
  if (!given.empty() || !flags.isSet("resume") || !isKnown(flags, "val-data"))
    return given;
  const Settings recorded = findRecordedFlags(flags.getString("resume"),
                                              textIfKnown(flags, "save-dir"));
  if (!readsRecorded(flags, recorded, flag))
    return "";
  const std::string *tokens = findSetting(recorded, flag);
  const std::string *text = findSetting(recorded, flag + "-name");
  std::error_code ignored;
  const bool isGone = tokens && text && !fs::exists(*tokens, ignored);
  return isGone && isTextToTokenize(*text) ? *text : "";
}

/// Names the end of text for the text of a data flag.
static std::string
hintOfNoEnd(const std::string &tokenizer,
            const std::pair<std::string, std::string> &text) {
  return concat("weft data prepare ", shellWord(text.second),
                " -o tokens.bin --tokenizer=", shellWord(tokenizer),
                " --end-of-text=TOKEN makes tokens for --", text.first,
                "; TOKEN ends each document, such as '<|endoftext|>', or is "
                "none",
                endsWith(tokenizer, ".gguf")
                    ? ""
                    : "; eos_token in tokenizer_config.json names it for good");
}

Expected<FlagValues> weft::withTokens(const FlagValues &flags,
                                      const Program &program) {
  std::vector<std::pair<std::string, std::string>> wanted; // flags, texts
  for (const char *flag : {"data", "val-data"})
    if (const std::string value = textOf(flags, flag);
        !value.empty() && isTextToTokenize(value))
      wanted.emplace_back(flag, value);
  if (wanted.empty())
    return flags;
  const std::string format = runSetting(flags, "data-format");
  if (format != "auto" && format != "text")
    return flags;
  Expected<Metadata> metadata = metadataOf(program);
  if (!metadata)
    return metadata.takeError();
  const std::string path = usedTokenizer(flags, *metadata, program);
  if (path.empty())
    return flags;
  const std::string noEndHint = hintOfNoEnd(path, wanted.front());
  Expected<TextTokenizer> text = loadTokenizer(path, *metadata, &noEndHint);
  if (!text)
    return text.takeError();
  // The checkpoint may have the format of text.
  FlagValues result = flags.isSet("resume") ? flags.with("data-format", "auto")
                                            : flags.without("data-format");
  for (const auto &[flag, value] : wanted) {
    Expected<std::string> tokens = tokenFileOf(flags, flag, value, *text);
    if (!tokens)
      return tokens.takeError();
    result = result.with(flag, *tokens).with(flag + "-name", value);
  }
  return result;
}
