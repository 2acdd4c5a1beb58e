//===- Temporaries.cpp - Making, locking and removing temporaries ---------===//

#include "weft/Base/Temporaries.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace fs = std::filesystem;

using namespace weft;

//===----------------------------------------------------------------------===//
// Files that a signal handler removes
//===----------------------------------------------------------------------===//

// A signal handler gets no context: paths are in a table of fixed size. The
// code that takes a path out of its slot owns it. A process with more
// temporaries than slots leaves the others to a later process.
static constexpr int numSlots = 64;
static std::atomic<char *> slots[numSlots];
static std::atomic<pid_t> helperGroup{0};
// While a helper starts, its group is not known: a signal at that time is
// deferred. 0: none starts; kStarting; or the number of that signal.
static constexpr int kStarting = -1;
static std::atomic<int> start{0};

static int enroll(const std::string &path) {
  char *copy = ::strdup(path.c_str());
  for (int i = 0; copy && i < numSlots; ++i) {
    char *empty = nullptr;
    if (slots[i].compare_exchange_strong(empty, copy))
      return i;
  }
  std::free(copy);
  return -1;
}

static void strike(int slot) {
  if (slot >= 0)
    std::free(slots[slot].exchange(nullptr));
}

/// Removes the contents of a folder, down to `depth` levels of subfolders.
/// opendir would allocate, which a signal handler must not.
static void removeContents(int parent, const char *folder, int depth) {
  const int fd =
      ::openat(parent, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return;
  alignas(dirent64) char entries[4096];
  long bytes;
  while ((bytes = ::syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0)
    for (long at = 0; at < bytes;) {
      auto *entry = reinterpret_cast<dirent64 *>(entries + at);
      at += entry->d_reclen;
      const char *name = entry->d_name;
      const bool isUp =
          name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
      if (isUp || ::unlinkat(fd, name, 0) == 0 || errno != EISDIR || depth == 0)
        continue;
      removeContents(fd, name, depth - 1);
      ::unlinkat(fd, name, AT_REMOVEDIR);
    }
  ::close(fd);
}

/// Removes a folder. A helper's own helper was killed, but nobody here can wait
/// for it: the file that it was just making may come late.
static void removeFolder(const char *path) {
  constexpr int kMostDeep = 16; // mpirun makes three in each other
  const timespec pause = {0, 1000000};
  for (int tries = 0; tries < 1000; ++tries) {
    removeContents(AT_FDCWD, path, kMostDeep);
    if (::rmdir(path) == 0 || errno != ENOTEMPTY)
      return;
    ::nanosleep(&pause, nullptr);
  }
}

void weft::removeTemporaries() {
  if (pid_t group = helperGroup.exchange(0)) {
    ::kill(-group, SIGKILL);
    while (::waitpid(-group, nullptr, 0) > 0 || errno == EINTR)
      ;
  }
  for (std::atomic<char *> &slot : slots)
    if (char *path = slot.exchange(nullptr))
      if (::unlink(path) != 0 && errno == EISDIR)
        removeFolder(path);
}

/// Whether the signal is kept until a helper has started.
static bool keepSignal(int number) {
  int expected = kStarting;
  return start.compare_exchange_strong(expected, number) || expected != 0;
}

static void onSignal(int number) {
  if (keepSignal(number))
    return;
  removeTemporaries();
  ::_exit(128 + number);
}

void weft::startHelper() { start = kStarting; }

void weft::setHelperGroup(pid_t group) {
  helperGroup = group;
  if (int number = start.exchange(0); number > 0)
    onSignal(number);
}

void weft::removeTemporariesOnSignals() {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action = {}, before = {};
    action.sa_handler = onSignal;
    sigfillset(&action.sa_mask);
    if (::sigaction(number, nullptr, &before) == 0 &&
        before.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
  }
}

//===----------------------------------------------------------------------===//
// Temporary
//===----------------------------------------------------------------------===//

static bool isNumber(const std::string &text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

/// The stem of "STEM-PID-N"; empty for other names.
static std::string stemOf(const std::string &name) {
  size_t last = name.rfind('-');
  size_t first =
      last == 0 || last == name.npos ? name.npos : name.rfind('-', last - 1);
  if (first == name.npos || !isNumber(name.substr(last + 1)) ||
      !isNumber(name.substr(first + 1, last - first - 1)))
    return "";
  return name.substr(0, first);
}

/// Removes one left-over of ours: nobody holds its lock.
static void removeIfStale(const std::string &path) {
  Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file)
    return;
  struct stat info;
  std::error_code ignored;
  if (::fstat(file.get(), &info) == 0 && info.st_uid == ::geteuid() &&
      (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) &&
      ::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
    fs::remove_all(path, ignored);
}

/// Removes the left-overs in a folder whose stem `matches`.
template <typename Matches>
static void removeStaleIn(const fs::path &folder, Matches matches) {
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end;
       !error && it != end; it.increment(error)) {
    std::string stem = stemOf(it->path().filename().string());
    if (!stem.empty() && matches(stem))
      removeIfStale(it->path().string());
  }
}

void weft::removeStaleTemporaries(const std::string &folder) {
  removeStaleIn(folder, [](const std::string &stem) {
    return fs::path(stem).extension() == ".tmp";
  });
}

static void removeStale(const fs::path &prefix) {
  removeStaleIn(prefix.parent_path(), [&](const std::string &stem) {
    return stem == prefix.filename();
  });
}

static int openNew(const std::string &path, bool isFolder) {
  if (isFolder &&
      withoutInterrupts([&] { return ::mkdir(path.c_str(), 0700); }) != 0)
    return -1;
  const int flags =
      isFolder ? O_RDONLY | O_DIRECTORY : O_WRONLY | O_CREAT | O_EXCL;
  int fd = withoutInterrupts(
      [&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
  if (fd < 0 && isFolder) {
    // Gone already: one that cleans up was quicker. The next name, then.
    const int number = errno == ENOENT ? EEXIST : errno;
    ::rmdir(path.c_str());
    errno = number;
  }
  return fd;
}

Expected<Temporary> Temporary::make(const std::string &prefix, bool isFolder) {
  static std::atomic<int> counter{0};
  removeStale(prefix);
  for (;;) {
    std::string path = prefix + "-" + std::to_string(::getpid()) + "-" +
                       std::to_string(counter++);
    // Enrolled first: a signal may come as soon as it is there.
    int slot = enroll(path);
    Descriptor opened(openNew(path, isFolder));
    const int number = errno;
    // One that cleans up may be quicker than the lock. Without locks (some
    // network file systems) left-overs stay.
    auto lock = [&] { return ::flock(opened.get(), LOCK_EX); };
    if (opened &&
        (withoutInterrupts(lock) != 0 || !isGone(opened.get(), path))) {
      Temporary made;
      made.name = path;
      made.opened = std::move(opened);
      made.slot = slot;
      return made;
    }
    strike(slot);
    // EEXIST: taken by a process of that number in another container.
    if (!opened && number != EEXIST)
      return storageError("cannot create: " + errnoText(number)).at(path);
  }
}

Expected<Temporary> Temporary::file(const std::string &prefix) {
  return make(prefix, /*isFolder=*/false);
}

Expected<Temporary> Temporary::folder(const std::string &prefix) {
  return make(prefix, /*isFolder=*/true);
}

Temporary &Temporary::operator=(Temporary &&other) noexcept {
  std::swap(name, other.name);
  std::swap(opened, other.opened);
  std::swap(slot, other.slot);
  return *this;
}

Temporary::~Temporary() {
  if (!opened)
    return;
  std::error_code ignored;
  fs::remove_all(name, ignored);
  release();
}

void Temporary::release() {
  strike(slot);
  opened.close();
  slot = -1;
}
