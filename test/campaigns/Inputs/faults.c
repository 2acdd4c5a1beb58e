/*===- faults.c - System calls that fail on purpose -----------------------===//

  Preloaded into a program, it counts the calls that concern files under
  FAULTS_UNDER, writes each to FAULTS_LOG, and lets some of them fail:

    FAULTS_AT=N          the N-th call, counted from 1
    FAULTS_MODE=once     only that one
                burst    that and the next two calls of the same name
                forever  that and all later ones of the same name
                all      that and all later ones of any name
                torn     that write does half, all later writes fail
                kill     it ends the process before that call
    FAULTS_ERROR=NUMBER  with this errno value; a write does half when it is 0
    FAULTS_NAME=CALL     counts and fails calls of this name only

  A line of the log is "NUMBER CALL RESULT PATH PATH2", divided by tabs; RESULT
  is 0 or an errno value, for a write the number of bytes or minus errno.

//===----------------------------------------------------------------------===*/

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *under, *mode, *onlyName;
static int logFile = -1, number, failAt, failWith;
static char failedName[32];

__attribute__((constructor)) static void start(void) {
  under = getenv("FAULTS_UNDER");
  mode = getenv("FAULTS_MODE");
  onlyName = getenv("FAULTS_NAME");
  const char *at = getenv("FAULTS_AT"), *error = getenv("FAULTS_ERROR");
  failAt = at ? atoi(at) : 0;
  failWith = error ? atoi(error) : 0;
  mode = mode ? mode : "once";
  const char *log = getenv("FAULTS_LOG");
  if (log)
    logFile = (int)syscall(SYS_openat, AT_FDCWD, log,
                           O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/* The absolute path of a name in an open directory. */
static const char *pathAt(int dir, const char *name, char *out) {
  char link[64], base[PATH_MAX] = "";
  if (name && name[0] == '/') {
    snprintf(out, PATH_MAX, "%s", name);
    return out;
  }
  if (dir == AT_FDCWD)
    snprintf(link, sizeof link, "/proc/self/cwd");
  else
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
  long size = syscall(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1);
  base[size > 0 ? size : 0] = 0;
  if (name && *name)
    snprintf(out, PATH_MAX, "%.2000s/%.2000s", base, name);
  else
    snprintf(out, PATH_MAX, "%s", base);
  return out;
}

static int concerns(const char *path) {
  return under && strncmp(path, under, strlen(under)) == 0;
}

/* Counts a call; its number, or 0 if it does not concern us. */
static int count(const char *call, const char *path) {
  if (!concerns(path) || (onlyName && strcmp(onlyName, call) != 0))
    return 0;
  return __atomic_add_fetch(&number, 1, __ATOMIC_SEQ_CST);
}

/* Whether the call with this number fails. */
static int fails(int at, const char *call) {
  if (!at || !failAt || at < failAt)
    return 0;
  if (at == failAt) {
    if (strcmp(mode, "kill") == 0)
      raise(SIGKILL);
    snprintf(failedName, sizeof failedName, "%s", call);
    return 1;
  }
  if (strcmp(mode, "all") == 0)
    return 1;
  int same = strcmp(call, failedName) == 0;
  if (strcmp(mode, "burst") == 0)
    return same && at <= failAt + 2;
  return same && (strcmp(mode, "forever") == 0 || strcmp(mode, "torn") == 0);
}

static void record(int at, const char *call, long result, const char *path,
                   const char *path2) {
  if (!at || logFile < 0)
    return;
  int before = errno;
  char line[2 * PATH_MAX + 100];
  int size = snprintf(line, sizeof line, "%d\t%s\t%ld\t%s\t%s\n", at, call,
                      result, path, path2 ? path2 : "");
  (void)!syscall(SYS_write, logFile, line, (size_t)size);
  errno = before;
}

#define REAL(name)                                                             \
  static __typeof__(&name) real;                                               \
  if (!real)                                                                   \
    real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);

/* One wrapper: counts, fails or calls, records. */
#define WRAP(result, bad, call, path, path2, ...)                              \
  int at = count(call, path);                                                  \
  if (fails(at, call)) {                                                       \
    record(at, call, failWith, path, path2);                                   \
    errno = failWith;                                                          \
    return bad;                                                                \
  }                                                                            \
  result value = real(__VA_ARGS__);                                            \
  record(at, call, value == bad ? errno : 0, path, path2);                     \
  return value;

/*===----------------------------------------------------------------------===//
  Calls with a path
//===----------------------------------------------------------------------===*/

static const char *openName(int flags) {
  return flags & O_CREAT ? "create" : "open";
}

#define OPEN(name)                                                             \
  int name(const char *file, int flags, ...) {                                 \
    REAL(name)                                                                 \
    va_list list;                                                              \
    va_start(list, flags);                                                     \
    unsigned bits = flags & O_CREAT ? va_arg(list, unsigned) : 0;              \
    va_end(list);                                                              \
    char buffer[PATH_MAX];                                                     \
    const char *path = pathAt(AT_FDCWD, file, buffer);                         \
    WRAP(int, -1, openName(flags), path, 0, file, flags, bits)                 \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                           \
  int name(int dir, const char *file, int flags, ...) {                        \
    REAL(name)                                                                 \
    va_list list;                                                              \
    va_start(list, flags);                                                     \
    unsigned bits = flags & O_CREAT ? va_arg(list, unsigned) : 0;              \
    va_end(list);                                                              \
    char buffer[PATH_MAX];                                                     \
    const char *path = pathAt(dir, file, buffer);                              \
    WRAP(int, -1, openName(flags), path, 0, dir, file, flags, bits)            \
  }
OPENAT(openat)
OPENAT(openat64)

DIR *opendir(const char *file) {
  REAL(opendir)
  char buffer[PATH_MAX];
  const char *path = pathAt(AT_FDCWD, file, buffer);
  WRAP(DIR *, NULL, "opendir", path, 0, file)
}

#define READDIR(name, type)                                                    \
  struct type *name(DIR *dir) {                                                \
    REAL(name)                                                                 \
    char buffer[PATH_MAX];                                                     \
    const char *path = pathAt(dirfd(dir), NULL, buffer);                       \
    int at = count("readdir", path);                                           \
    if (fails(at, "readdir")) {                                                \
      record(at, "readdir", failWith, path, 0);                                \
      errno = failWith;                                                        \
      return NULL;                                                             \
    }                                                                          \
    record(at, "readdir", 0, path, 0);                                         \
    return real(dir);                                                          \
  }
READDIR(readdir, dirent)
READDIR(readdir64, dirent64)

int mkdir(const char *file, mode_t bits) {
  REAL(mkdir)
  char buffer[PATH_MAX];
  const char *path = pathAt(AT_FDCWD, file, buffer);
  WRAP(int, -1, "mkdir", path, 0, file, bits)
}

int rmdir(const char *file) {
  REAL(rmdir)
  char buffer[PATH_MAX];
  const char *path = pathAt(AT_FDCWD, file, buffer);
  WRAP(int, -1, "rmdir", path, 0, file)
}

int unlink(const char *file) {
  REAL(unlink)
  char buffer[PATH_MAX];
  const char *path = pathAt(AT_FDCWD, file, buffer);
  WRAP(int, -1, "unlink", path, 0, file)
}

int unlinkat(int dir, const char *file, int flags) {
  REAL(unlinkat)
  char buffer[PATH_MAX];
  const char *path = pathAt(dir, file, buffer);
  WRAP(int, -1, "unlinkat", path, 0, dir, file, flags)
}

int rename(const char *from, const char *to) {
  REAL(rename)
  char first[PATH_MAX], second[PATH_MAX];
  const char *path = pathAt(AT_FDCWD, from, first);
  const char *path2 = pathAt(AT_FDCWD, to, second);
  WRAP(int, -1, "rename", path, path2, from, to)
}

int renameat2(int dir, const char *from, int dir2, const char *to,
              unsigned flags) {
  REAL(renameat2)
  char first[PATH_MAX], second[PATH_MAX];
  const char *path = pathAt(dir, from, first);
  const char *path2 = pathAt(dir2, to, second);
  WRAP(int, -1, "renameat2", path, path2, dir, from, dir2, to, flags)
}

int stat(const char *file, struct stat *info) {
  REAL(stat)
  char buffer[PATH_MAX];
  const char *path = pathAt(AT_FDCWD, file, buffer);
  WRAP(int, -1, "stat", path, 0, file, info)
}

int lstat(const char *file, struct stat *info) {
  REAL(lstat)
  char buffer[PATH_MAX];
  const char *path = pathAt(AT_FDCWD, file, buffer);
  WRAP(int, -1, "lstat", path, 0, file, info)
}

int statvfs(const char *file, struct statvfs *info) {
  REAL(statvfs)
  char buffer[PATH_MAX];
  const char *path = pathAt(AT_FDCWD, file, buffer);
  WRAP(int, -1, "statvfs", path, 0, file, info)
}

/*===----------------------------------------------------------------------===//
  Calls with a descriptor
//===----------------------------------------------------------------------===*/

int fstat(int fd, struct stat *info) {
  REAL(fstat)
  char buffer[PATH_MAX];
  const char *path = pathAt(fd, NULL, buffer);
  WRAP(int, -1, "fstat", path, 0, fd, info)
}

int fsync(int fd) {
  REAL(fsync)
  char buffer[PATH_MAX];
  const char *path = pathAt(fd, NULL, buffer);
  WRAP(int, -1, "fsync", path, 0, fd)
}

int fdatasync(int fd) {
  REAL(fdatasync)
  char buffer[PATH_MAX];
  const char *path = pathAt(fd, NULL, buffer);
  WRAP(int, -1, "fsync", path, 0, fd)
}

int flock(int fd, int operation) {
  REAL(flock)
  char buffer[PATH_MAX];
  const char *path = pathAt(fd, NULL, buffer);
  WRAP(int, -1, "flock", path, 0, fd, operation)
}

#define FTRUNCATE(name, type)                                                  \
  int name(int fd, type size) {                                                \
    REAL(name)                                                                 \
    char buffer[PATH_MAX];                                                     \
    const char *path = pathAt(fd, NULL, buffer);                               \
    WRAP(int, -1, "ftruncate", path, 0, fd, size)                              \
  }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

/* The descriptor is closed in any case, as Linux does it. */
int close(int fd) {
  REAL(close)
  char buffer[PATH_MAX];
  const char *path = pathAt(fd, NULL, buffer);
  int at = count("close", path), failed = fails(at, "close");
  int value = real(fd);
  if (failed) {
    errno = failWith;
    value = -1;
  }
  record(at, "close", value == 0 ? 0 : errno, path, 0);
  return value;
}

ssize_t read(int fd, void *data, size_t bytes) {
  REAL(read)
  char buffer[PATH_MAX];
  const char *path = pathAt(fd, NULL, buffer);
  WRAP(ssize_t, -1, "read", path, 0, fd, data, bytes)
}

#define PREAD(name, type)                                                      \
  ssize_t name(int fd, void *data, size_t bytes, type place) {                 \
    REAL(name)                                                                 \
    char buffer[PATH_MAX];                                                     \
    const char *path = pathAt(fd, NULL, buffer);                               \
    WRAP(ssize_t, -1, "read", path, 0, fd, data, bytes, place)                 \
  }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

#define MMAP(name, type)                                                       \
  void *name(void *address, size_t bytes, int access, int flags, int fd,       \
             type place) {                                                     \
    REAL(name)                                                                 \
    char buffer[PATH_MAX] = "";                                                \
    const char *path = fd >= 0 ? pathAt(fd, NULL, buffer) : buffer;            \
    WRAP(void *, MAP_FAILED, "mmap", path, 0, address, bytes, access, flags,   \
         fd, place)                                                            \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

/* Bytes to write: all, half, or -1 for none. */
static ssize_t allowed(int at, size_t bytes) {
  if (!fails(at, "write"))
    return (ssize_t)bytes;
  int half = failWith == 0 || (strcmp(mode, "torn") == 0 && at == failAt);
  return half && bytes > 1 ? (ssize_t)(bytes / 2) : failWith == 0 ? 1 : -1;
}

#define WRITE(name, ...)                                                       \
  REAL(name)                                                                   \
  char buffer[PATH_MAX];                                                       \
  const char *path = pathAt(fd, NULL, buffer);                                 \
  int at = count("write", path);                                               \
  ssize_t part = bytes ? allowed(at, bytes) : 0;                               \
  if (part < 0)                                                                \
    errno = failWith;                                                          \
  ssize_t value = part < 0 ? -1 : real(fd, data, (size_t)part, ##__VA_ARGS__); \
  record(at, "write", value < 0 ? -errno : value, path, 0);                    \
  return value;

ssize_t write(int fd, const void *data, size_t bytes){WRITE(write)} ssize_t
    pwrite(int fd, const void *data, size_t bytes,
           off_t place){WRITE(pwrite, place)} ssize_t
    pwrite64(int fd, const void *data, size_t bytes, off64_t place) {
  WRITE(pwrite64, place)
}
