//===- Link.h - Object code becomes an executable ---------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_LINK_H
#define WEFT_PIPELINE_LINK_H

#include "weft/Formats/Error.h"

#include <string>
#include <vector>

namespace weft {

/// Links an object with the runtime into an executable at `output`, which
/// appears whole or not at all. The runtime's libraries are found beside the
/// running tool (../lib), the linker driver is $WEFT_CXX, else clang++-22,
/// c++, g++ or clang++ on the PATH. Equal inputs give equal bytes.
Status linkExecutable(const std::vector<char> &object,
                      const std::string &output);

/// The folder of the runtime's libraries.
Expected<std::string> runtimeFolder();

/// Digest over this tool and the runtime libraries: part of cache keys.
Expected<std::string> toolchainDigest();

} // namespace weft

#endif // WEFT_PIPELINE_LINK_H
