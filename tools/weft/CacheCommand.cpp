//===- CacheCommand.cpp - weft cache --------------------------------------===//

#include "CommandHelp.h"
#include "ProgramCache.h"
#include "ToolCommands.h"

#include "weft/Base/CountText.h"
#include "weft/Base/Flags.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Temporaries.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Reports/Progress.h"

#include <cstdio>

using namespace weft;

static const CommandHelp kCacheHelp = {
    {"weft cache ls", "weft cache clear"},
    {"XDG_CACHE_HOME (default ~/.cache) names their folder, WEFT_CACHE_SIZE "
     "(default 1G) limits their size"},
    {{"ls", "the programs and tokens that weft train keeps"},
     {"clear", "remove them"}}};

static std::string fieldOf(const Json &meta, const char *name) {
  const Json *value = meta.find(name);
  return !value ? "" : value->isString() ? value->asString() : value->compact();
}

/// "gpt2-mini, cpu, batch 8, seq 128".
static std::string describe(const CacheEntry &entry) {
  Expected<Json> meta = readMetadata(entry.path);
  if (!meta)
    return "damaged";
  std::string text = fieldOf(*meta, "name") + ", " + fieldOf(*meta, "target") +
                     ", batch " + fieldOf(*meta, "batch");
  if (meta->find("seq"))
    text += ", seq " + fieldOf(*meta, "seq");
  return text;
}

static std::string dateOf(const CacheEntry &entry) {
  char text[32] = "";
  tm local = {};
  if (localtime_r(&entry.lastUse.tv_sec, &local))
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
  return text;
}

static std::string countOfPrograms(int64_t programs) {
  return countText(programs, "program");
}

static std::string countOfTokens(int64_t files) {
  return countText(files, "token file");
}

static void printTokens(const ProgramCache &cache) {
  int64_t total = 0;
  const std::vector<CacheEntry> entries = cache.entries();
  for (const CacheEntry &entry : entries) {
    total += entry.bytes;
    printEscaped(dateOf(entry) + "  " + humanBytes(entry.bytes) + "  " +
                 std::filesystem::path(entry.path).filename().string() +
                 "  tokens\n");
  }
  if (!entries.empty())
    printEscaped(countOfTokens(int64_t(entries.size())) + ", " +
                 humanBytes(total) + " of at most " +
                 humanBytes(cache.limit()) + ", in " + cache.path().string() +
                 "\n");
}

static void printEntries(const ProgramCache &cache) {
  int64_t total = 0;
  std::vector<CacheEntry> entries = cache.entries();
  for (const CacheEntry &entry : entries) {
    total += entry.bytes;
    printEscaped(dateOf(entry) + "  " + humanBytes(entry.bytes) + "  " +
                 std::filesystem::path(entry.path).filename().string() + "  " +
                 describe(entry) + "\n");
  }
  printEscaped(countOfPrograms(int64_t(entries.size())) + ", " +
               humanBytes(total) + " of at most " + humanBytes(cache.limit()) +
               ", in " + cache.path().string() + "\n");
}

static Status clear(const ProgramCache &cache,
                    std::string (*countEntries)(int64_t)) {
  cache.removeLeftovers();
  int64_t total = 0, count = 0;
  for (const CacheEntry &entry : cache.entries()) {
    if (Status status = cache.remove(entry); !status)
      return status;
    total += entry.bytes;
    ++count;
  }
  printEscaped("removed " + countEntries(count) + ", " + humanBytes(total) +
               "\n");
  return Status::success();
}

Expected<ExitCode> weft::cacheCommand(const Arguments &args) {
  FlagTable table({helpFlag(DriverFlag)});
  FlagParseOptions options;
  options.program = "weft cache";
  options.maxPositionals = 1;
  Expected<FlagValues> flags = table.parse(args, options);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printCommandHelp(kCacheHelp, {table});
    return ExitCode::Ok;
  }
  const std::string verb =
      flags->positionals().empty() ? "" : flags->positionals()[0];
  if (verb != "ls" && verb != "clear")
    return usageError("expects ls or clear, but got ",
                      verb.empty() ? "none" : inQuotes(verb))
        .hint("weft cache --help");
  Expected<ProgramCache> cache = ProgramCache::open();
  if (!cache)
    return cache.takeError();
  Expected<ProgramCache> tokens = ProgramCache::openTokens();
  if (!tokens)
    return tokens.takeError();
  if (verb == "ls") {
    printEntries(*cache);
    printTokens(*tokens);
    return ExitCode::Ok;
  }
  if (Status status = clear(*cache, countOfPrograms); !status)
    return status.takeError();
  if (!tokens->entries().empty())
    if (Status status = clear(*tokens, countOfTokens); !status)
      return status.takeError();
  return ExitCode::Ok;
}
