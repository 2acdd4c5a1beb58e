//===- Link.h - Object code becomes an executable ---------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_DRIVER_LINK_H
#define WEFT_PIPELINE_DRIVER_LINK_H

#include "weft/Base/Error.h"

#include <string>
#include <vector>

namespace weft {

class FlagValues;
class Target;

/// The inputs that decide which libraries a program links.
struct Linkage {
  const Target &target;
  bool usesMpi; // its ranks may be processes of MPI

  static Linkage of(const Target &target, const FlagValues &flags);
};

/// The bytes of relocatable objects.
using Objects = std::vector<std::vector<char>>;

/// Links objects and returns the bytes of the result. The linker driver is
/// $WEFT_CXX, else clang++-22, c++, g++ or clang++ on the PATH; it gets
/// `arguments` after the objects. `hint` is part of an error about a file that
/// it does not find. Equal inputs give equal bytes.
Expected<std::string> linkObjects(const Objects &objects,
                                  const std::vector<std::string> &arguments,
                                  const std::string &hint);

/// Links objects with the runtime and the libraries of its target. The
/// runtime's libraries are in ../lib relative to the running tool.
Expected<std::string> linkProgram(const Linkage &linkage,
                                  const Objects &objects);

/// The same into an executable at `output`, which appears whole or not at all.
Status linkExecutable(const Linkage &linkage, const Objects &objects,
                      const std::string &output);

/// Names of the archives that an executable links, in link order: each may use
/// later ones.
std::vector<std::string> runtimeArchives(const Linkage &linkage);

/// Digest over the running tool and these archives: part of cache keys.
Expected<std::string> toolchainDigest(const Linkage &linkage);

/// The running tool and the archives that it links.
Expected<std::vector<std::string>> toolchainFiles(const Linkage &linkage);

} // namespace weft

#endif // WEFT_PIPELINE_DRIVER_LINK_H
