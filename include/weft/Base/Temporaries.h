//===- Temporaries.h - Files that nobody should find later ------*- C++ -*-===//
//
// A temporary file or folder `PREFIX-PID-N` is removed when its owner is done
// with it, when a signal ends the process, and, after a crash, by the next
// process that makes one with the same prefix: it is locked while its owner
// lives, so that a left-over can be told from work in progress.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_TEMPORARIES_H
#define WEFT_BASE_TEMPORARIES_H

#include "weft/Base/Descriptor.h"
#include "weft/Base/Error.h"

#include <string>
#include <sys/types.h>

namespace weft {

class Temporary {
public:
  Temporary() = default;
  Temporary(Temporary &&other) noexcept { *this = std::move(other); }
  Temporary &operator=(Temporary &&other) noexcept;
  /// Removes the file, or the folder with everything inside.
  ~Temporary();

  /// An empty file, or a folder that only its owner may enter.
  static Expected<Temporary> file(const std::string &prefix);
  static Expected<Temporary> folder(const std::string &prefix);

  const std::string &path() const { return name; }
  /// Of the file, for writing. It stays open until the temporary is gone.
  int descriptor() const { return opened.get(); }
  explicit operator bool() const { return bool(opened); }
  /// It was renamed: nothing is removed any more.
  void release();

private:
  static Expected<Temporary> make(const std::string &prefix, bool isFolder);

  std::string name;
  Descriptor opened;
  int slot = -1;
};

/// Removes what crashed processes left of temporaries `NAME.tmp-PID-N` in a
/// folder that holds nothing else of such a name.
void removeStaleTemporaries(const std::string &folder);

/// Removes every temporary of this process, after an end of the process group
/// that works in one. Safe in a signal handler.
void removeTemporaries();

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT end it with 128 + N once its temporaries
/// are gone. What was ignored at the start (nohup) stays ignored.
void removeTemporariesOnSignals();

/// A helper that works in a temporary is about to start: signals wait until
/// setHelperGroup says what to end, or nobody would end it.
void startHelper();

/// The process group that a signal ends first; 0 for none.
void setHelperGroup(pid_t group);

} // namespace weft

#endif // WEFT_BASE_TEMPORARIES_H
