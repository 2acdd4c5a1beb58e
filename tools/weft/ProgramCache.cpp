//===- ProgramCache.cpp - Checked entries, locks, and a bound -------------===//

#include "ProgramCache.h"

#include "weft/Base/Descriptor.h"
#include "weft/Base/Durable.h"
#include "weft/Base/Flags.h"
#include "weft/Base/OutputFile.h"
#include "weft/Base/Temporaries.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/SaveLocks.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

static constexpr size_t kSealBytes = 64;
static constexpr size_t kNoticeSizeBytes = 32;
static constexpr int64_t kDefaultLimit = int64_t(1) << 30;

//===----------------------------------------------------------------------===//
// Place and size
//===----------------------------------------------------------------------===//

static Expected<fs::path> cacheFolder() {
  // A relative path is no place, says the XDG specification.
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base == '/')
    return fs::path(base) / "weft";
  if (const char *home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "weft";
  return usageError("found no folder for compiled programs")
      .hint("set HOME or XDG_CACHE_HOME, or use weft compile -o FILE");
}

static Expected<int64_t> cacheLimit() {
  const char *text = std::getenv("WEFT_CACHE_SIZE");
  int64_t bytes = kDefaultLimit;
  if (text && *text && !parseByteCount(text, bytes))
    return usageError("WEFT_CACHE_SIZE expects a number of bytes such as 512M, "
                      "1.5G or 2GB, but got " +
                      inQuotes(text));
  return bytes;
}

Expected<ProgramCache> ProgramCache::open() {
  Expected<fs::path> folder = cacheFolder();
  if (!folder)
    return folder.takeError();
  Expected<int64_t> limit = cacheLimit();
  if (!limit)
    return limit.takeError();
  ProgramCache cache;
  cache.folder = *folder;
  cache.mostBytes = *limit;
  return cache;
}

Expected<ProgramCache> ProgramCache::openTokens() {
  Expected<ProgramCache> cache = open();
  if (cache)
    cache->folder /= "token-files";
  return cache;
}

static Error elsewhere(Error error) {
  return error.hint(
      "XDG_CACHE_HOME chooses another place; weft compile -o FILE "
      "needs none");
}

Status ProgramCache::prepare() const {
  if (Status status = makeDirectories(folder.string()); !status)
    return elsewhere(status.takeError());
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static std::string sealOf(const std::string &digest, int64_t bytes) {
  return "\nweft-cache-2 " + digest + " " +
         hex64(static_cast<uint64_t>(bytes)) + "\n";
}

/// The line behind the notices.
static std::string noticeSizeOf(size_t bytes) {
  return "\nweft-notices: " + hex64(bytes) + "\n";
}

/// Whether the seal at the end of the file matches the bytes before it.
static bool isWhole(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      !(info.st_mode & S_IXUSR) ||
      info.st_size < off_t(kSealBytes + kNoticeSizeBytes))
    return false;
  const off_t size = info.st_size - off_t(kSealBytes);
  Digest digest;
  std::vector<char> buffer(1 << 20);
  for (off_t at = 0; at < size;) {
    size_t most = std::min<size_t>(buffer.size(), size_t(size - at));
    ssize_t n = ::pread(fd, buffer.data(), most, at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    digest.update(buffer.data(), size_t(n));
    at += n;
  }
  char seal[kSealBytes];
  return ::pread(fd, seal, kSealBytes, size) == ssize_t(kSealBytes) &&
         std::string_view(seal, kSealBytes) == sealOf(digest.value128(), size);
}

Descriptor ProgramCache::find(const std::string &key) const {
  const std::string path = pathOf(key);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    return Descriptor();
  if (!isWhole(file.get())) {
    warn(path + ": the cached program is damaged; compiling again");
    return Descriptor();
  }
  // The modification time records the last use.
  (void)::futimens(file.get(), nullptr);
  return file;
}

std::string ProgramCache::readNotices(const Descriptor &file) {
  const off_t end = ::lseek(file.get(), 0, SEEK_END) - off_t(kSealBytes);
  std::string line(kNoticeSizeBytes, '\0');
  if (::pread(file.get(), line.data(), line.size(), end - off_t(line.size())) !=
      ssize_t(line.size()))
    return "";
  const off_t size = off_t(std::strtoull(line.c_str() + 15, nullptr, 16));
  // The digest of find() covers the line, unless the file changed since.
  if (size < 0 || size > end - off_t(line.size()) ||
      line != noticeSizeOf(size_t(size)))
    return "";
  std::string notices(size_t(size), '\0');
  const ssize_t count = ::pread(file.get(), notices.data(), notices.size(),
                                end - off_t(line.size()) - size);
  return count == ssize_t(notices.size()) ? notices : "";
}

Status ProgramCache::store(const std::string &key, std::string_view program,
                           std::string_view notices) const {
  std::string sealed(program);
  sealed += notices;
  sealed += noticeSizeOf(notices.size());
  sealed += sealOf(digest128(sealed), int64_t(sealed.size()));
  if (Status status = writeFile(pathOf(key), sealed, FileMode::Executable);
      !status)
    return elsewhere(status.takeError());
  return trim(key);
}

static bool isKey(const std::string &name) {
  return name.size() == 32 &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<CacheEntry> ProgramCache::entries() const {
  std::vector<CacheEntry> list;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    struct stat info;
    std::string path = it->path().string();
    if (isKey(it->path().filename().string()) &&
        ::lstat(path.c_str(), &info) == 0)
      list.push_back({path, int64_t(info.st_size), info.st_mtim});
  }
  std::sort(list.begin(), list.end(),
            [](const CacheEntry &a, const CacheEntry &b) {
              return std::tie(b.lastUse.tv_sec, b.lastUse.tv_nsec, b.path) <
                     std::tie(a.lastUse.tv_sec, a.lastUse.tv_nsec, a.path);
            });
  return list;
}

Status ProgramCache::remove(const CacheEntry &entry) const {
  if (::unlink(entry.path.c_str()) != 0 && errno != ENOENT)
    return storageError("cannot remove: " + errnoText(errno)).at(entry.path);
  return Status::success();
}

void ProgramCache::removeLeftovers() const {
  removeStaleTemporaries(folder.string());
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const fs::path &path = it->path();
    if (path.extension() != ".lock" || !isKey(path.stem().string()))
      continue;
    // Whoever waits for it sees that it is gone, and makes another.
    if (auto lock = FileLock::take(path.string()); lock && lock->holds())
      ::unlink(path.c_str());
  }
}

Status ProgramCache::trim(const std::string &keep) const {
  removeLeftovers();
  int64_t total = 0;
  for (const CacheEntry &entry : entries()) {
    total += entry.bytes;
    if (total > mostBytes && entry.path != pathOf(keep))
      if (Status status = remove(entry); !status)
        return status;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Lock
//===----------------------------------------------------------------------===//

CacheLock ProgramCache::lock(const std::string &key, const char *makes) const {
  const std::string path = pathOf(key) + ".lock";
  for (bool waited = false;;) {
    Descriptor file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    // Where locks do not work, programs are compiled more than once.
    if (!file)
      return CacheLock(Descriptor(), "");
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK && !waited)
        std::fprintf(stderr, "weft: another process %s; waiting\n", makes);
      waited = true;
      if (withoutInterrupts([&] { return ::flock(file.get(), LOCK_EX); }) != 0)
        return CacheLock(std::move(file), "");
    }
    // Its last holder removes it.
    if (isGone(file.get(), path))
      continue;
    CacheLock lock(std::move(file), path);
    lock.hadToWait = waited;
    return lock;
  }
}

CacheLock::~CacheLock() {
  if (file && !path.empty())
    ::unlink(path.c_str());
}
