//===- Reshard.h - Parameters freed after the forward pass ------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_RESHARD_H
#define WEFT_LIB_SHARDING_RESHARD_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace weft {

/// The modules whose parameters are gathered again for the backward pass.
struct Reshard {
  bool isOn = true;
  /// Paths of these modules. Empty: all modules.
  llvm::ArrayRef<std::string> scopes = {};

  /// Whether a module is at `path` or inside of the module there.
  static bool isInside(llvm::StringRef module, llvm::StringRef path) {
    return module.consume_front(path) &&
           (module.empty() || module.front() == '.');
  }
  bool frees(llvm::StringRef module) const {
    return isOn && (scopes.empty() ||
                    llvm::any_of(scopes, [&](const std::string &path) {
                      return isInside(module, path);
                    }));
  }
};

} // namespace weft

#endif // WEFT_LIB_SHARDING_RESHARD_H
