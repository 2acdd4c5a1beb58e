//===- ThreadTeam.h - Who owns libgomp's threads ----------------*- C++ -*-===//
//
// Our kernels and oneDNN share one pool, libgomp's, and oneDNN plans a product
// for the threads that libgomp announces: if a region then has fewer, parts of
// the result are never written. What a region gets depends on settings that
// every thread has for itself and that the environment presets (OMP_DYNAMIC,
// OMP_MAX_ACTIVE_LEVELS, OMP_THREAD_LIMIT), on stacks and on limits of the
// system. So the thread that runs a program forms its team here: it takes over
// the settings, tries whether the system gives the threads, and counts the
// members of a real region. Nothing else sets them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_THREADTEAM_H
#define WEFT_RUNTIME_EXECUTE_THREADTEAM_H

#include <string>

namespace weft {

struct ThreadTeam {
  int members = 1;
  /// Why there are fewer members than were asked for, or "".
  std::string shortage;
};

/// Makes the calling thread the owner of a team of at most `wanted` threads:
/// from now on its regions, and those of libraries that it calls, have exactly
/// `members`. Not from inside a region.
ThreadTeam formTeam(int wanted);

/// The same for a thread that may have a team already: whether it has one of
/// `members` now. Cheap when it had.
bool ensureTeam(int members);

/// Processors that the process may run on: what it was started with, and, where
/// the environment sets places (OMP_PLACES, OMP_PROC_BIND, GOMP_CPU_AFFINITY),
/// those that are in them.
int availableThreads();

/// Gives the calling thread all these processors again. libgomp binds it to one
/// place when it is loaded, which a program that is started next would inherit.
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

#endif // WEFT_RUNTIME_EXECUTE_THREADTEAM_H
