//===- MeshText.h - The ranks of a run as text ------------------*- C++ -*-===//

#ifndef WEFT_SHARDING_MESHTEXT_H
#define WEFT_SHARDING_MESHTEXT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace weft {

struct MeshAxis {
  std::string name;
  int64_t size = 1; // ranks
};

/// Axes, the last one fastest: what is sharded lies along the last one.
using MeshText = llvm::SmallVector<MeshAxis, 2>;

/// What a mesh may be, for messages.
inline constexpr llvm::StringLiteral kMeshRule =
    "dp:N or replica:R,shard:S of 1 to 100000 ranks";

/// Reads "dp:4" or "replica:2,shard:2"; nothing for other text.
std::optional<MeshText> parseMesh(llvm::StringRef text);

} // namespace weft

#endif // WEFT_SHARDING_MESHTEXT_H
