//===- TokenCache.cpp - Token files that weft train keeps -----------------===//

#include "PrepareTokens.h"
#include "ProgramCache.h"
#include "TokenFiles.h"

#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/GgufVocabulary.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

using namespace weft;
namespace fs = std::filesystem;

/// Changes when the tokens of equal files change.
static constexpr const char *kTokensVersion = "weft-tokens-1";

/// The keys `tokenizer.ggml.*` of a GGUF file; its weights do not count.
static Status addVocabulary(Digest &digest, const std::string &path) {
  Expected<GgufFile> file = GgufFile::open(path);
  if (!file)
    return file.takeError();
  Expected<std::optional<GgufVocabulary>> found = readVocabulary(*file);
  if (!found)
    return found.takeError();
  if (!*found)
    return Status::success();
  const GgufVocabulary &words = **found;
  digest.update(concat(words.model, "\n", words.pre, "\n"));
  for (const std::vector<std::string> *list : {&words.tokens, &words.merges})
    for (const std::string &text : *list)
      digest.update(concat(text.size(), " ", text));
  for (float score : words.scores)
    digest.update(&score, sizeof score);
  for (int64_t type : words.types)
    digest.update(&type, sizeof type);
  for (const std::optional<int64_t> &id :
       {words.bos, words.eos, words.unknown, words.padding})
    digest.update(concat(id.value_or(-1), "\n"));
  for (const std::optional<bool> &is :
       {words.addBos, words.addEos, words.addSpacePrefix,
        words.removeExtraSpaces})
    digest.update(is ? (*is ? "1" : "0") : "-");
  digest.update(words.charsmap);
  return Status::success();
}

static Status addFile(Digest &digest, const std::string &path) {
  Expected<FileDigest> file = digestFile(path);
  if (!file)
    return file.takeError();
  digest.update(file->xxh3 + "\n");
  return Status::success();
}

static Status addTokenizer(Digest &digest, const std::string &path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return guessFileKind(path).isGguf ? addVocabulary(digest, path)
                                      : addFile(digest, path);
  std::vector<const char *> names = {"tokenizer.json", "tokenizer.model",
                                     "tokenizer_config.json"};
  // The other files count only where vocab.json and merges.txt are read.
  if (!fs::exists(fs::path(path) / names[0], ignored) &&
      !fs::exists(fs::path(path) / names[1], ignored))
    names.insert(names.end(), {"vocab.json", "merges.txt", "added_tokens.json",
                               "special_tokens_map.json", "config.json"});
  for (const char *name : names) {
    const fs::path file = fs::path(path) / name;
    digest.update(concat(name, "\n"));
    if (fs::exists(file, ignored))
      if (Status s = addFile(digest, file.string()); !s)
        return s;
  }
  return Status::success();
}

/// The form of a file depends on the ending of its name as well.
static Status addText(Digest &digest, const TextGroup &group) {
  digest.update(concat("group ", numberText(group.weight, 17), "\n"));
  for (const std::string &file : group.files) {
    digest.update(fs::path(file).extension().string() + "\n");
    if (Status s = addFile(digest, file); !s)
      return s;
  }
  return Status::success();
}

static Expected<std::string> keyOf(const std::vector<TextGroup> &groups,
                                   const TextTokenizer &text) {
  Digest digest;
  digest.update(concat(kTokensVersion, "\n", text.endOfText.value_or(-1), "\n",
                       int(text.findsSpecialTokens), "\n"));
  if (Status s = addTokenizer(digest, text.path); !s)
    return s.takeError();
  for (const TextGroup &group : groups)
    if (Status s = addText(digest, group); !s)
      return s.takeError();
  return digest.value128();
}

/// Whether the cache has the file. The modification time records the last use.
static bool isCached(const std::string &path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    return false;
  if (checkTokenDigest(path) != true) {
    warn(path + ": the cached tokens are damaged; tokenizing again");
    return false;
  }
  (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return true;
}

Expected<std::string> weft::cachedTokens(const std::vector<TextGroup> &groups,
                                         const TextTokenizer &text) {
  Expected<ProgramCache> cache = ProgramCache::openTokens();
  if (!cache)
    return cache.takeError();
  Expected<std::string> key = keyOf(groups, text);
  if (!key)
    return key.takeError();
  const std::string path = cache->pathOf(*key);
  if (isCached(path))
    return path;
  if (Status s = cache->prepare(); !s)
    return s.takeError();
  CacheLock lock = cache->lock(*key, "tokenizes this text");
  if (lock.waited() && isCached(path))
    return path;
  if (Status s = prepareTokens(groups, text, path); !s)
    return s.takeError();
  if (Status s = cache->trim(*key); !s)
    return s.takeError();
  return path;
}
