//===- PassUses.h - Uses of parameters in both passes -----------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_PASSUSES_H
#define WEFT_LIB_SHARDING_PASSUSES_H

#include "weft/Weft/Weft.h"

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

/// The uses of a state by ops other than views, through views. Each pass
/// gathers the state for its own uses.
struct PassUses {
  llvm::SmallVector<mlir::OpOperand *> forward, backward;
};

/// The op that computes the loss of a program with a backward pass, or null.
mlir::Operation *findLoss(ProgramOp program);

/// Splits the uses at `loss`: later ops are the backward pass. With a null
/// `loss`, all uses are in the forward pass.
PassUses splitUses(ReadOp read, mlir::Operation *loss);

/// Splits the uses of each read like splitUses. All uses of a read are in the
/// forward pass if `reshard` does not free it, or if the last unit of the
/// forward pass uses it: the backward pass begins with that unit.
llvm::SmallVector<PassUses> findPassUses(llvm::ArrayRef<ReadOp> reads,
                                         mlir::Operation *loss,
                                         const Reshard &reshard);

} // namespace weft

#endif // WEFT_LIB_SHARDING_PASSUSES_H
