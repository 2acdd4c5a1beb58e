//===- PrepareTokens.cpp - Text files become a file of tokens -------------===//

#include "PrepareTokens.h"

#include "TokenFiles.h"

#include "weft/Base/CountText.h"
#include "weft/Base/ReadProgress.h"
#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

using namespace weft;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// The end of a document
//===----------------------------------------------------------------------===//

/// `eos_token_id` of the configuration beside a tokenizer: a number, or the
/// first of a list.
static Expected<std::optional<int32_t>> endOfConfig(const std::string &path) {
  std::error_code ignored;
  const fs::path folder = fs::is_directory(path, ignored)
                              ? fs::path(path)
                              : fs::path(path).parent_path();
  const fs::path config = folder / "config.json";
  if (!fs::exists(config, ignored))
    return std::optional<int32_t>();
  Expected<Json> json = readJsonFile(config.string());
  if (!json)
    return json.takeError();
  const Json *id = json->find("eos_token_id");
  if (id && id->isArray() && !id->asArray().empty())
    id = &id->asArray().front();
  if (!id || !id->isInt())
    return std::optional<int32_t>();
  return std::optional(int32_t(id->asInt()));
}

static Expected<std::optional<int32_t>> findEnd(const Tokenizer &tokenizer,
                                                const std::string &path,
                                                const std::string &end) {
  if (end == "none")
    return std::optional<int32_t>();
  if (!end.empty()) {
    if (std::optional<int32_t> id = tokenizer.findToken(end))
      return id;
    return usageError("--end-of-text expects a token of the tokenizer or none, "
                      "but got ",
                      inQuotes(end));
  }
  if (tokenizer.specialIds().end)
    return tokenizer.specialIds().end;
  Expected<std::optional<int32_t>> id = endOfConfig(path);
  if (id && *id && !tokenizer.tokenText(**id))
    return std::optional<int32_t>();
  return id;
}

Expected<TextTokenizer> TextTokenizer::load(const std::string &path,
                                            const std::string &end,
                                            const std::string *noEndHint) {
  Expected<Tokenizer> tokenizer = Tokenizer::load(path);
  if (!tokenizer)
    return tokenizer.takeError();
  Expected<std::optional<int32_t>> id = findEnd(*tokenizer, path, end);
  if (!id)
    return id.takeError();
  if (!*id && end != "none" && noEndHint)
    return inputError("expects a tokenizer with an end-of-text token, but its "
                      "files name none")
        .at(path)
        .hint(*noEndHint);
  return TextTokenizer{path, std::move(*tokenizer), *id};
}

Expected<TextTokenizer> TextTokenizer::ofBytes(const std::string &end) {
  Tokenizer tokenizer = Tokenizer::ofBytes();
  const std::optional<int32_t> id = tokenizer.findToken(end);
  if (!id && end != "none")
    return usageError("--tokenizer=bytes expects --end-of-text with a byte or "
                      "none, but got ",
                      end.empty() ? "no --end-of-text" : inQuotes(end))
        .hint("--end-of-text=none: documents are not separated; "
              "--end-of-text=$'\\n': each ends with a line end");
  return TextTokenizer{std::string(kByteTokenizer), std::move(tokenizer), id};
}

//===----------------------------------------------------------------------===//
// Groups of files
//===----------------------------------------------------------------------===//

namespace {

/// The documents of a group, file by file.
class GroupReader {
public:
  explicit GroupReader(const TextGroup &group) : group(group) {}

  Expected<std::optional<std::string>> next();
  const std::string &file() const { return group.files[index]; }
  int64_t position() const {
    return before + (reader ? reader->position() : 0);
  }

  const TextGroup &group;
  int64_t tokens = 0, documents = 0, bytes = 0;

private:
  size_t index = 0;
  int64_t before = 0; // bytes of the files before
  std::optional<DocumentReader> reader;
};

class TokenPreparation {
public:
  TokenPreparation(const TextTokenizer &text, TokenFileWriter &out)
      : text(text), out(out) {}

  Status run(std::vector<GroupReader> &groups, ReadProgress &progress);
  void warnOfLosses() const;

private:
  Status add(const std::string &document, GroupReader &group);

  const TextTokenizer &text;
  TokenFileWriter &out;
  std::map<std::string, EncodeLosses> losses; // by file
};

} // namespace

Expected<std::optional<std::string>> GroupReader::next() {
  while (true) {
    if (!reader)
      if (Status s = assign(DocumentReader::open(file()), reader); !s)
        return s.takeError();
    Expected<std::optional<std::string>> document = reader->next();
    if (!document || *document || index + 1 == group.files.size())
      return document;
    before += reader->position();
    reader.reset();
    ++index;
  }
}

Status TokenPreparation::add(const std::string &document, GroupReader &group) {
  EncodeOptions options;
  options.findsSpecialTokens = text.findsSpecialTokens;
  const int64_t before = out.size();
  std::optional<int32_t> last;
  Status status = text.tokenizer.encode(
      document, options,
      [&](const int32_t *ids, size_t count) {
        if (count > 0)
          last = ids[count - 1];
        return out.add(ids, count);
      },
      &losses[group.file()]);
  if (!status)
    return status.takeError().at(group.file());
  if (text.endOfText && last != text.endOfText)
    if (Status s = out.add(&*text.endOfText, 1); !s)
      return s;
  group.tokens += out.size() - before;
  ++group.documents;
  return Status::success();
}

/// The group that gives the next document.
static GroupReader &nextGroup(std::vector<GroupReader> &groups, size_t first) {
  if (groups.front().group.weight == 0)
    return groups[first];
  return *std::min_element(groups.begin(), groups.end(),
                           [](const GroupReader &a, const GroupReader &b) {
                             return double(a.tokens) / a.group.weight <
                                    double(b.tokens) / b.group.weight;
                           });
}

Status TokenPreparation::run(std::vector<GroupReader> &groups,
                             ReadProgress &progress) {
  for (size_t first = 0; first < groups.size();) {
    GroupReader &group = nextGroup(groups, first);
    const int64_t before = group.position();
    Expected<std::optional<std::string>> document = group.next();
    if (!document)
      return document.takeError();
    progress.advance(group.position() - before);
    if (*document) {
      if (Status s = add(**document, group); !s)
        return s;
      continue;
    }
    if (group.group.weight > 0)
      return Status::success();
    ++first;
  }
  return Status::success();
}

void TokenPreparation::warnOfLosses() const {
  for (const auto &[file, lost] : losses) {
    if (lost.malformed > 0)
      warn(concat(file, ": ", lost.malformed,
                  " malformed parts of UTF-8 became U+FFFD in the tokens"));
    if (lost.unencodable > 0)
      warn(concat(file, ": ", lost.unencodable,
                  " characters have no token and are left out of the tokens"));
  }
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

/// Bytes that a weight left out are named.
static void warnOfRest(const std::vector<GroupReader> &groups) {
  for (const GroupReader &group : groups)
    if (group.position() < group.bytes)
      warn(concat(group.group.spelling, ": ",
                  humanBytes(group.bytes - group.position()), " of ",
                  humanBytes(group.bytes),
                  " are left out, since another file ends first"),
           "other weights, or no weights, use all of it");
}

/// A document that is long for the whole exceeds the share of its group.
/// Without weights, nothing is asked of the shares.
static void warnOfShares(const std::vector<GroupReader> &groups) {
  constexpr double kMostDifference = 0.05;
  double weights = 0, tokens = 0;
  for (const GroupReader &group : groups) {
    weights += group.group.weight;
    tokens += double(group.tokens);
  }
  if (weights == 0)
    return;
  bool differs = false;
  std::string list;
  for (const GroupReader &group : groups) {
    const double asked = group.group.weight / weights;
    const double real = double(group.tokens) / tokens;
    differs |= std::abs(real - asked) > kMostDifference;
    list += concat(list.empty() ? "" : ", ", group.group.spelling, " ",
                   std::lround(100 * real), " % instead of ",
                   std::lround(100 * asked), " %");
  }
  if (differs)
    warn("the shares of tokens differ from the weights: " + list,
         "documents are not cut, and a plain text file is one document; "
         "weights need JSON lines with many documents");
}

static void report(const std::vector<GroupReader> &groups,
                   const TextTokenizer &text) {
  for (const GroupReader &group : groups) {
    std::string line = "weft: " + group.group.spelling + ": " +
                       countText(group.documents, "document") + ", " +
                       countText(group.tokens, "token");
    if (text.endOfText)
      line += ", each ends with " +
              text.tokenizer.tokenText(*text.endOfText).value_or("") + " (" +
              std::to_string(*text.endOfText) + ")";
    std::fputs((escaped(line) + "\n").c_str(), stderr);
  }
}

Status weft::prepareTokens(const std::vector<TextGroup> &groups,
                           const TextTokenizer &text,
                           const std::string &output) {
  std::vector<GroupReader> readers;
  int64_t bytes = 0;
  for (const TextGroup &group : groups) {
    readers.emplace_back(group);
    for (const std::string &path : group.files) {
      // Each file is known to be readable before hours of work begin.
      Expected<std::unique_ptr<ByteSource>> file = InputFile::open(path);
      if (!file)
        return file.takeError();
      readers.back().bytes += (*file)->size();
    }
    bytes += readers.back().bytes;
  }
  TokenFileWriter out(output, text.tokenizer.vocabularySize());
  TokenPreparation preparation(text, out);
  {
    ReadProgress::show(true);
    ReadProgress progress(groups.front().spelling, bytes);
    if (Status s = preparation.run(readers, progress); !s)
      return s;
  }
  if (out.size() == 0)
    return inputError("expects text, but got none").at(groups.front().spelling);
  if (Status s = out.commit(); !s)
    return s;
  preparation.warnOfLosses();
  warnOfRest(readers);
  warnOfShares(readers);
  report(readers, text);
  return Status::success();
}
