//===- ParallelFor.h - A range over the threads of a team -------*- C++ -*-===//
//
// Runs a function over the parts of a range on libgomp's threads, the pool that
// oneDNN uses too: a second pool would fight it for the cores. How many threads
// there are is the business of ThreadTeam.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_PARALLELFOR_H
#define WEFT_RUNTIME_EXECUTE_PARALLELFOR_H

#include <cstdint>
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

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_PARALLELFOR_H
