//===- OpenLibrary.h - Libraries opened by name -----------------*- C++ -*-===//
//
// What a program needs of a device's libraries it opens when it starts, so that
// it starts, and says what is missing, on a machine that has none of them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_OPENLIBRARY_H
#define WEFT_RUNTIME_DEVICES_OPENLIBRARY_H

#include "weft/Formats/Error.h"

#include <string>
#include <vector>

namespace weft {

/// A library that stays open until the program ends.
class OpenLibrary {
public:
  /// The first `name` that the loader finds by itself (LD_LIBRARY_PATH, its
  /// cache) or that lies in one of `places`, folders in which `*` stands for
  /// any name. Exit 9, with every place, where there is none.
  static Expected<OpenLibrary> open(const std::string &name,
                                    const std::vector<std::string> &places);
  /// The address of an entry point; exit 9 where the library has none.
  Expected<void *> find(const char *symbol) const;
  /// The file it was read from.
  const std::string &path() const { return file; }

private:
  OpenLibrary(void *handle, std::string file)
      : handle(handle), file(std::move(file)) {}
  void *handle;
  std::string file;
};

/// Where CUDA's libraries may lie beside the loader's own folders: those of
/// WEFT_CUDA_HOME, of CUDA_HOME and of /usr/local/cuda, and the nvidia wheels
/// of the Pythons of this user and machine.
std::vector<std::string> cudaLibraryPlaces();

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_OPENLIBRARY_H
