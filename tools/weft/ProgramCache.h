//===- ProgramCache.h - Programs that weft train compiled -------*- C++ -*-===//
//
// One file per program, `KEY`: the program, the warnings and remarks of its
// compilation, 32 bytes with their size, and 64 bytes with a digest and a size
// of all before. An entry appears complete, by a rename. It is checked before
// it runs; a damaged program is compiled again. When the cache exceeds its
// limit, the least recently used programs are removed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMCACHE_H
#define WEFT_TOOLS_WEFT_PROGRAMCACHE_H

#include "weft/Base/Descriptor.h"
#include "weft/Base/Error.h"

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <vector>

namespace weft {

/// The right to compile a program, which one process has at a time.
class CacheLock {
public:
  CacheLock(Descriptor file, std::string path)
      : file(std::move(file)), path(std::move(path)) {}
  CacheLock(CacheLock &&) = default;
  CacheLock(const CacheLock &) = delete;
  ~CacheLock();
  /// Another process had it first, and may have made the program.
  bool waited() const { return hadToWait; }

private:
  friend class ProgramCache;
  Descriptor file;
  std::string path;
  bool hadToWait = false;
};

struct CacheEntry {
  std::string path;
  int64_t bytes = 0;
  timespec lastUse = {};
};

class ProgramCache {
public:
  /// $XDG_CACHE_HOME/weft, else ~/.cache/weft; at most $WEFT_CACHE_SIZE bytes.
  static Expected<ProgramCache> open();
  /// The subfolder `token-files`, with the same limit. Its entries are token
  /// files (TokenFiles.h), for which lock(), entries(), remove() and trim()
  /// work.
  static Expected<ProgramCache> openTokens();
  /// Makes the folder, where there is none, before something is stored.
  Status prepare() const;

  std::string pathOf(const std::string &key) const {
    return (folder / key).string();
  }
  /// The entry, checked and open for execution; closed where there is none or a
  /// damaged one, of which a warning tells. Counts as a use.
  Descriptor find(const std::string &key) const;
  /// Waits until no other process makes this entry. A message says that
  /// another one `makes` it.
  CacheLock lock(const std::string &key,
                 const char *makes = "compiles this model") const;
  /// The warnings and remarks of the compilation of an entry of find().
  static std::string readNotices(const Descriptor &file);
  /// Adds a program with the warnings and remarks of its compilation and
  /// removes the ones used longest ago if there are too many bytes now.
  Status store(const std::string &key, std::string_view program,
               std::string_view notices) const;

  /// Removes the entries used longest ago if there are too many bytes.
  Status trim(const std::string &keep) const;

  /// Most recently used first.
  std::vector<CacheEntry> entries() const;
  Status remove(const CacheEntry &entry) const;
  /// Removes what processes that were killed have left: temporaries and locks
  /// that nobody holds.
  void removeLeftovers() const;
  const std::filesystem::path &path() const { return folder; }
  int64_t limit() const { return mostBytes; }

private:
  std::filesystem::path folder;
  int64_t mostBytes = 0;
};

} // namespace weft

#endif // WEFT_TOOLS_WEFT_PROGRAMCACHE_H
