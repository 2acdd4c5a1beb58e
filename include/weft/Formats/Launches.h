//===- Launches.h - Launches of a program's kernels -------------*- C++ -*-===//
//
// The field `launches` of the metadata (docs/reference/executable.md), which the compiler
// writes for the kernels that it generates.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_LAUNCHES_H
#define WEFT_FORMATS_LAUNCHES_H

#include "weft/Formats/Json.h"

#include <map>
#include <string>

namespace weft {

struct LaunchSizes {
  int64_t blocks = 0;                 // of the grid
  int64_t threadsX = 0, threadsY = 0; // of a block
};

/// By kernel; empty where the metadata has no such field.
Expected<std::map<std::string, LaunchSizes>>
readLaunches(const JsonCursor &metadata);

} // namespace weft

#endif // WEFT_FORMATS_LAUNCHES_H
