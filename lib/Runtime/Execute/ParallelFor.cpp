//===- ParallelFor.cpp - A range over the threads of a team ---------------===//
//
// Regions are opened with libgomp's own entry point GOMP_parallel, because
// clang's -fopenmp would bring libomp, whose pool fights libgomp's.
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Execute/ParallelFor.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

// Functions of libgomp (its header belongs to GCC).
extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads,
                   unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_in_parallel(void);
}

// libgomp is not instrumented: tell the thread sanitizer that a region begins
// after what its caller wrote and that its caller continues after the region.
// Beginning and end are two addresses, since with one of them a worker that
// starts late would seem to run after the workers that are done, and a race
// between their parts would stay hidden.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define WEFT_TSAN 1
#endif
#ifdef WEFT_TSAN
extern "C" void __tsan_acquire(void *address);
extern "C" void __tsan_release(void *address);
#else
static void __tsan_acquire(void *) {}
static void __tsan_release(void *) {}
#endif

// Functions of libgomp (its header belongs to GCC).
extern "C" {
int omp_get_max_threads(void);
int omp_get_max_active_levels(void);
int omp_get_thread_limit(void);
int omp_get_num_places(void);
int omp_get_place_num_procs(int place);
void omp_get_place_proc_ids(int place, int *ids);
void omp_set_num_threads(int threads);
void omp_set_dynamic(int dynamic);
void omp_set_max_active_levels(int levels);
}

using namespace weft;

namespace {

struct Region {
  int64_t extent;
  int64_t grain;
  int64_t units;
  const RangeBody *body;
  Schedule schedule;
  std::atomic<int64_t> next{0};

  void *beginning() { return &extent; }
  void *end() { return &units; }
};

RangePart unitsToPart(const Region &region, int64_t first, int64_t last,
                      int worker) {
  return {first * region.grain, std::min(last * region.grain, region.extent),
          worker};
}

/// The work of one thread of a region.
void runWorker(void *data) {
  Region &region = *static_cast<Region *>(data);
  __tsan_acquire(region.beginning());
  int worker = omp_get_thread_num();
  int workers = omp_get_num_threads();
  if (region.schedule == Schedule::Static) {
    int64_t first = region.units * worker / workers;
    int64_t last = region.units * (worker + 1) / workers;
    if (first < last)
      (*region.body)(unitsToPart(region, first, last, worker));
  } else {
    for (int64_t unit; (unit = region.next.fetch_add(
                            1, std::memory_order_relaxed)) < region.units;)
      (*region.body)(unitsToPart(region, unit, unit + 1, worker));
  }
  __tsan_release(region.end());
}

} // namespace

void weft::parallelFor(int threads, int64_t extent, int64_t grain,
                       RangeBody body, Schedule schedule) {
  if (extent <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  int64_t units = (extent - 1) / grain + 1;
  Region region{extent, grain, units, &body, schedule, {}};
  if (threads > 1 && units > 1 && !omp_in_parallel()) {
    unsigned workers = static_cast<unsigned>(std::min<int64_t>(threads, units));
    __tsan_release(region.beginning());
    GOMP_parallel(runWorker, &region, workers, /*flags=*/0);
    __tsan_acquire(region.end());
    return;
  }
  if (schedule == Schedule::Static)
    return body({0, extent, /*worker=*/0});
  for (int64_t unit = 0; unit < units; ++unit)
    body(unitsToPart(region, unit, unit + 1, /*worker=*/0));
}

//===- Teams of threads ---------------------------------------------------===//

namespace {

/// Bytes of stack that kernels and oneDNN need, with a margin.
constexpr size_t kLeastStack = 256 * 1024;

/// Members of the largest team that this thread has counted.
thread_local int countedMembers = 0;

/// Sets up the calling thread so that a region may have `threads` members.
void takeSettings(int threads) {
  omp_set_dynamic(0);
  if (omp_get_max_active_levels() < 1)
    omp_set_max_active_levels(1);
  omp_set_num_threads(threads);
}

//===----------------------------------------------------------------------===//
// Limits of the system
//===----------------------------------------------------------------------===//

/// The size that a variable sets for the stacks of libgomp's threads, read as
/// libgomp reads it (a number of KiB, or with a unit); 0 if it sets none.
size_t stackSizeOf(const char *variable) {
  const char *text = std::getenv(variable);
  if (!text)
    return 0;
  char *end = nullptr;
  errno = 0;
  unsigned long value = std::strtoul(text, &end, 10);
  if (errno != 0 || end == text)
    return 0;
  while (std::isspace(static_cast<unsigned char>(*end)))
    ++end;
  int shift = 10;
  if (*end != '\0') {
    const char *units = "bkmg";
    const char *unit =
        std::strchr(units, std::tolower(static_cast<unsigned char>(*end)));
    if (!unit)
      return 0;
    shift = 10 * static_cast<int>(unit - units);
  }
  return value > (ULONG_MAX >> shift) ? 0 : value << shift;
}

/// Threads that wait until the object is destroyed.
class Trial {
public:
  /// Starts up to `count` threads and returns their number. `error` is the
  /// reason why there are not more.
  int start(int count, int &error) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    size_t stack = stackSizeOf("OMP_STACKSIZE");
    if (stack == 0)
      stack = stackSizeOf("GOMP_STACKSIZE");
    if (stack != 0)
      pthread_attr_setstacksize(&attributes, stack); // else the default stays
    error = 0;
    for (pthread_t thread; static_cast<int>(threads.size()) < count;) {
      error = pthread_create(&thread, &attributes, &Trial::wait, this);
      if (error != 0)
        break;
      threads.push_back(thread);
    }
    pthread_attr_destroy(&attributes);
    return static_cast<int>(threads.size());
  }

  ~Trial() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isOver = true;
    }
    over.notify_all();
    for (pthread_t thread : threads)
      pthread_join(thread, nullptr);
  }

private:
  static void *wait(void *data) {
    Trial &trial = *static_cast<Trial *>(data);
    std::unique_lock<std::mutex> lock(trial.mutex);
    trial.over.wait(lock, [&] { return trial.isOver; });
    return nullptr;
  }

  std::vector<pthread_t> threads;
  std::mutex mutex;
  std::condition_variable over;
  bool isOver = false;
};

int countTasks() {
  std::error_code failure;
  int count = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/task", failure),
       end;
       !failure && entry != end; entry.increment(failure))
    ++count;
  return failure ? 0 : count;
}

/// How many of `wanted` threads the system allows this process. libgomp ends
/// the process when it cannot create a thread, so this tries first.
int tryThreads(int wanted, std::string &shortage) {
  int before = countTasks(), error = 0, started = 0;
  {
    Trial trial;
    started = trial.start(wanted - 1, error);
  }
  // A thread that was joined counts against limits until the system has removed
  // it.
  for (int wait = 0; wait < 1000 && countTasks() > before; ++wait)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (error != 0)
    shortage = std::string("the system does not create another one (") +
               std::strerror(error) + ")";
  return started + 1;
}

//===----------------------------------------------------------------------===//
// Members of a region
//===----------------------------------------------------------------------===//

size_t ownStackSize() {
  pthread_attr_t attributes;
  size_t size = SIZE_MAX;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
  }
  return size;
}

/// Members of a real region of the calling thread, 1 if their stacks are too
/// small to compute on.
int countMembers(int threads, std::string &shortage) {
  std::atomic<int> members{0};
  std::atomic<size_t> leastStack{SIZE_MAX}; // of the threads besides the owner
  // One part for every member.
  parallelFor(threads, threads, /*grain=*/1, [&](RangePart part) {
    ++members;
    size_t size = part.worker == 0 ? SIZE_MAX : ownStackSize();
    for (size_t old = leastStack;
         size < old && !leastStack.compare_exchange_weak(old, size);)
      ;
  });
  if (leastStack < kLeastStack) {
    shortage = "their stacks have " + std::to_string(leastStack / 1024) +
               " KiB of at least " + std::to_string(kLeastStack / 1024) +
               " (OMP_STACKSIZE, ulimit -s)";
    return 1;
  }
  return members;
}

} // namespace

ThreadTeam weft::formTeam(int wanted) {
  ThreadTeam team;
  int limit = omp_get_thread_limit();
  if (wanted > limit)
    team.shortage = "OMP_THREAD_LIMIT is " + std::to_string(limit);
  int threads = std::max(std::min(wanted, limit), 1);
  if (threads > 1)
    threads = tryThreads(threads, team.shortage);
  takeSettings(threads);
  if (threads > 1)
    threads = countMembers(threads, team.shortage);
  if (threads < wanted && team.shortage.empty())
    team.shortage = "libgomp gives no more";
  takeSettings(threads);
  countedMembers = threads;
  team.members = threads;
  return team;
}

bool weft::ensureTeam(int members) {
  if (members > countedMembers)
    return formTeam(members).members == members;
  takeSettings(members);
  return true;
}

/// The processors in libgomp's places or, without places, the affinity of the
/// calling thread.
static bool readProcessors(cpu_set_t &set) {
  CPU_ZERO(&set);
  int places = omp_get_num_places();
  for (int place = 0; place < places; ++place) {
    std::vector<int> ids(
        static_cast<size_t>(std::max(omp_get_place_num_procs(place), 0)));
    omp_get_place_proc_ids(place, ids.data());
    for (int id : ids)
      if (id >= 0 && id < CPU_SETSIZE)
        CPU_SET(id, &set);
  }
  if (CPU_COUNT(&set) > 0)
    return true;
  return sched_getaffinity(0, sizeof set, &set) == 0;
}

int weft::availableThreads() {
  cpu_set_t set;
  return readProcessors(set) ? std::max(CPU_COUNT(&set), 1) : 1;
}

void weft::unbindThread() {
  cpu_set_t set;
  if (omp_get_num_places() > 0 && readProcessors(set))
    sched_setaffinity(0, sizeof set, &set);
}

LibraryThreads::LibraryThreads(int threads) : old(omp_get_max_threads()) {
  omp_set_num_threads(threads);
}
LibraryThreads::~LibraryThreads() { omp_set_num_threads(old); }
