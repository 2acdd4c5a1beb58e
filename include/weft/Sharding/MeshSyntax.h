//===- MeshSyntax.h - The ranks of a run as text ----------------*- C++ -*-===//

#ifndef WEFT_SHARDING_MESHSYNTAX_H
#define WEFT_SHARDING_MESHSYNTAX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace weft {

struct MeshTextAxis {
  std::string name;
  int64_t size = 1; // ranks
};

/// The axes of a mesh. The last one varies fastest with the rank; shards are
/// along the last axis.
using MeshText = llvm::SmallVector<MeshTextAxis, 2>;

/// Valid meshes, for messages.
inline constexpr llvm::StringLiteral kMeshRule =
    "dp:N or replica:R,shard:S of 1 to 100000 ranks";

/// Reads "dp:4" or "replica:2,shard:2"; nothing for other text.
std::optional<MeshText> parseMesh(llvm::StringRef text);

} // namespace weft

#endif // WEFT_SHARDING_MESHSYNTAX_H
