//===- OpenLibrary.h - Libraries opened by name -----------------*- C++ -*-===//
//
// What a program needs of a device's libraries it opens when it starts, so that
// it starts, and says what is missing, on a machine that has none of them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_OPENLIBRARY_H
#define WEFT_RUNTIME_DEVICES_OPENLIBRARY_H

#include "weft/Base/Error.h"

#include <string>
#include <vector>

namespace weft {

/// What a library is called, and where it may be.
struct LibraryName {
  std::string file; // "libcuda.so.1"
  std::string part; // what has it, for hints: "the NVIDIA driver"
  /// Folders beside those of the loader; `*` stands for any name in them.
  std::vector<std::string> places;
};

/// A library that stays open until the program ends.
class OpenLibrary {
public:
  /// The first one that the loader finds by itself (LD_LIBRARY_PATH, its cache)
  /// or that lies in one of the places. Those in folders called `stubs`, which
  /// programs are linked with and which do nothing, are none. Exit 9, with
  /// every place, where there is none.
  static Expected<OpenLibrary> open(const LibraryName &name);
  /// The address of an entry point; exit 9 where the library has none.
  Expected<void *> find(const char *symbol) const;
  /// The same into a pointer to a function of its type.
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

/// What a call of a library of a device came to that did not succeed: exit 4
/// with a hint where it found no memory, else exit 9.
Error failedCall(const std::string &entry, const std::string &got,
                 bool isOutOfMemory);

/// Success if all of them can be opened; else exit 9 with every one of those
/// that cannot, and where it was looked for.
Status findLibraries(const std::vector<LibraryName> &names);

/// Where CUDA's libraries may lie beside the loader's own folders: those of
/// WEFT_CUDA_HOME, of CUDA_HOME and of /usr/local/cuda, and the nvidia wheels
/// of the Pythons of this user and machine.
std::vector<std::string> cudaLibraryPlaces();

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_OPENLIBRARY_H
