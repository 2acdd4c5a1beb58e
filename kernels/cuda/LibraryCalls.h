//===- LibraryCalls.h - Libraries of NVIDIA, opened by name -----*- C++ -*-===//

#ifndef WEFT_KERNELS_CUDA_LIBRARYCALLS_H
#define WEFT_KERNELS_CUDA_LIBRARYCALLS_H

#include "weft/Base/Error.h"

#include <string>

namespace weft {

/// "13.1.0" for 130100.
inline std::string versionText(size_t version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

/// A sequence of library calls. After a call fails, later calls are not made.
template <typename Library, typename Result> class LibraryCalls {
public:
  explicit LibraryCalls(const Library &library) : library(library) {}

  bool ok() const { return status.ok(); }
  /// The status of the first call that failed; may be taken once.
  Status take() { return std::move(status); }
  /// The result of the last call that was made.
  Result last() const { return lastResult; }
  /// Lets later calls run after a failure.
  void forgive() { status = Status::success(); }

protected:
  template <typename Entry, typename... Arguments>
  void make(const char *name, Entry entry, Arguments... arguments) {
    if (!status)
      return;
    lastResult = entry(arguments...);
    status = library.check(name, lastResult);
  }

  const Library &library;

private:
  Status status;
  Result lastResult = Result();
};

} // namespace weft

#endif // WEFT_KERNELS_CUDA_LIBRARYCALLS_H
