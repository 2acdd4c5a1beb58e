//===- Version.h - Version of the compiler ----------------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_METADATA_VERSION_H
#define WEFT_PIPELINE_METADATA_VERSION_H

namespace weft {

/// Same as the project's version in CMakeLists.txt.
constexpr const char *kVersion = WEFT_VERSION;

} // namespace weft

#endif // WEFT_PIPELINE_METADATA_VERSION_H
