//===- OpenLibrary.h - Libraries opened by name -----------------*- C++ -*-===//
//
// A program opens the libraries of a device at run time. So it starts on a
// machine without them, and reports the missing ones.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_OPENLIBRARY_H
#define WEFT_RUNTIME_DEVICES_OPENLIBRARY_H

#include "weft/Base/Results.h"

#include <string>
#include <vector>

namespace weft {

/// The file name of a library, and the folders to search.
struct LibraryName {
  std::string file; // "libcuda.so.1"
  std::string part; // its package, for hints: "the NVIDIA driver"
  /// Folders besides the loader's own; `*` matches any name in them.
  std::vector<std::string> places;
  /// The file of an older version that serves as well, or "".
  std::string older = "";

  /// "libcublasLt.so.13 or libcublasLt.so.12".
  std::string describe() const {
    return file + (older.empty() ? "" : " or " + older);
  }
};

/// A library that stays open until the program ends.
class OpenLibrary {
public:
  /// Opens the first one that the loader finds itself (LD_LIBRARY_PATH, its
  /// cache) or that is in one of the places. Ignores folders called `stubs`:
  /// their libraries serve linking and do nothing. An older version is searched
  /// if no place has the first one. Exit 9, with every place, if there is none.
  static Expected<OpenLibrary> open(const LibraryName &name);
  /// The address of an entry point; exit 9 if the library has none.
  Expected<void *> find(const char *symbol) const;
  /// The same for a pointer to a function of its type.
  template <typename Entry>
  Status find(const char *symbol, Entry *&entry) const {
    auto address = find(symbol);
    if (!address)
      return address.takeError();
    entry = reinterpret_cast<Entry *>(*address);
    return Status::success();
  }
  /// The file it was read from.
  const std::string &path() const { return file; }

private:
  OpenLibrary(void *handle, std::string file)
      : handle(handle), file(std::move(file)) {}
  void *handle;
  std::string file;
};

/// The error of a failed call of a device library: exit 4 with a hint if it ran
/// out of memory, else exit 9.
Error failedCall(const std::string &entry, const std::string &got,
                 bool isOutOfMemory);

/// Success if all of them can be opened; else exit 9 with all missing libraries
/// and the searched places.
Status findLibraries(const std::vector<LibraryName> &names);

/// Folders of CUDA's libraries besides the loader's own: the folders of
/// WEFT_CUDA_HOME, CUDA_HOME and /usr/local/cuda, and the nvidia wheels of the
/// Python installations of this user and machine.
std::vector<std::string> cudaLibraryPlaces();

//===- Calls of libraries -------------------------------------------------===//

/// "13.1.0" for 130100.
inline std::string versionText(size_t version) {
  return concat(version / 10000, ".", version / 100 % 100, ".", version % 100);
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

#endif // WEFT_RUNTIME_DEVICES_OPENLIBRARY_H
