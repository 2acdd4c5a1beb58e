//===- ThreadTeam.h - Teams of libgomp's threads ----------------*- C++ -*-===//
//
// Our kernels and oneDNN share libgomp's thread pool. oneDNN plans a product
// for the number of threads that libgomp announces: if a region then has fewer,
// parts of the result are never written. The size of a region depends on
// per-thread settings that the environment presets (OMP_DYNAMIC,
// OMP_MAX_ACTIVE_LEVELS, OMP_THREAD_LIMIT), on stack sizes and on limits of the
// system. So the thread that runs a program forms its team here: it overrides
// the settings, tries to create the threads, and counts the members of a real
// region. Nothing else sets them.
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

#endif // WEFT_RUNTIME_EXECUTE_THREADTEAM_H
