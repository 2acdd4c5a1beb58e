//===- ParallelFor.cpp - A range over the threads of a team ---------------===//
//
// Regions are opened with libgomp's own entry point GOMP_parallel, because
// clang's -fopenmp would bring libomp, whose pool fights libgomp's.
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Execute/ParallelFor.h"

#include <algorithm>
#include <atomic>

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

namespace weft {
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

void parallelFor(int threads, int64_t extent, int64_t grain, RangeBody body,
                 Schedule schedule) {
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

} // namespace weft
