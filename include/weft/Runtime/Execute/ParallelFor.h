//===- ParallelFor.h - A range over the threads of a team -------*- C++ -*-===//
//
// Runs a function over the parts of a range on libgomp's threads, the pool that
// oneDNN uses too: a second pool would fight it for the cores. How many threads
// there are is the business of ThreadTeam.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_PARALLELFOR_H
#define WEFT_RUNTIME_EXECUTE_PARALLELFOR_H

#include <cstdint>
#include <string>
#include <type_traits>

namespace weft {

/// A part [begin, end) of a range, and the number of the thread that runs it
/// (below the thread count; good for choosing scratch memory, never for
/// choosing how to compute: bits must not depend on it).
struct RangePart {
  int64_t begin;
  int64_t end;
  int worker;
};

/// Non-owning reference to a callable `void(RangePart)`.
class RangeBody {
public:
  template <typename Callable, typename = std::enable_if_t<!std::is_same_v<
                                   std::decay_t<Callable>, RangeBody>>>
  RangeBody(Callable &&callable)
      : object(const_cast<void *>(static_cast<const void *>(&callable))),
        function([](void *object, RangePart part) {
          (*static_cast<std::remove_reference_t<Callable> *>(object))(part);
        }) {}
  void operator()(RangePart part) const { function(object, part); }

private:
  void *object;
  void (*function)(void *, RangePart);
};

enum class Schedule {
  /// One part per thread, as even as multiples of the grain allow.
  Static,
  /// Parts of one grain, taken in order by whichever thread is free: for parts
  /// of unequal cost.
  Dynamic
};

/// Calls `body` on parts of [0, extent) that together cover it once; every part
/// begins at a multiple of `grain`. Runs inline, as one part (Static) or part
/// by part (Dynamic), when there is one thread, no more than one grain, or the
/// caller already is inside a parallel region (no nesting). A grain should be
/// work of some microseconds: waking the threads costs about that much.
void parallelFor(int threads, int64_t extent, int64_t grain, RangeBody body,
                 Schedule schedule = Schedule::Static);

//===- Teams of threads ---------------------------------------------------===//

// Our kernels and oneDNN share libgomp's thread pool. oneDNN plans a product
// for the number of threads that libgomp announces: if a region then has fewer,
// parts of the result are never written. The size of a region depends on
// per-thread settings that the environment presets (OMP_DYNAMIC,
// OMP_MAX_ACTIVE_LEVELS, OMP_THREAD_LIMIT), on stack sizes and on limits of the
// system. So the thread that runs a program forms its team here: it overrides
// the settings, tries to create the threads, and counts the members of a real
// region. Nothing else sets them.

struct ThreadTeam {
  int members = 1;
  /// Why there are fewer members than were asked for, or "".
  std::string shortage;
};

/// Makes the calling thread the owner of a team of at most `wanted` threads.
/// All later regions of the thread have exactly `members` threads, also in
/// libraries that it calls. Not from inside a region.
ThreadTeam formTeam(int wanted);

/// The same for a thread that may already have a team. Returns whether it now
/// has a team of `members`. Cheap if it already had one.
bool ensureTeam(int members);

/// The number of processors that the process may run on: the processors that it
/// was started with. If the environment sets places (OMP_PLACES, OMP_PROC_BIND,
/// GOMP_CPU_AFFINITY), only the processors in them.
int availableThreads();

/// Allows the calling thread all of these processors again. libgomp binds it to
/// one place at load time, and a program that the thread executes would inherit
/// that.
void unbindThread();

/// While it lives, libraries that the calling thread calls see `threads`
/// threads.
class LibraryThreads {
public:
  explicit LibraryThreads(int threads);
  ~LibraryThreads();
  LibraryThreads(const LibraryThreads &) = delete;
  LibraryThreads &operator=(const LibraryThreads &) = delete;

private:
  int old;
};

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_PARALLELFOR_H
