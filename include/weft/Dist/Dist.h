//===- Dist.h - The dist dialect --------------------------------*- C++ -*-===//

#ifndef WEFT_DIST_DIST_H
#define WEFT_DIST_DIST_H

#include "weft/Interfaces/Interfaces.h"
#include "weft/Interfaces/Ranks.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "weft/Dist/DistDialect.h.inc"
#include "weft/Dist/DistEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "weft/Dist/DistAttrs.h.inc"

namespace weft::dist {

/// The resource that collectives read and write.
struct Ranks : mlir::SideEffects::Resource::Base<Ranks> {
  llvm::StringRef getName() final { return "ranks"; }
};

} // namespace weft::dist

#define GET_OP_CLASSES
#include "weft/Dist/DistOps.h.inc"

namespace weft::dist {

/// The mesh of a module, or null: there is one rank.
MeshOp findMesh(mlir::ModuleOp module);

/// The groups of ranks that one collective joins: one group of all ranks, or
/// the ranks that differ only along `axis`, in its order. Without a mesh: rank
/// 0.
llvm::SmallVector<llvm::SmallVector<int64_t>> getGroups(MeshOp mesh,
                                                        mlir::StringAttr axis);

/// The layout of a weft.param or weft.state, or null.
LayoutAttr getLayout(mlir::Operation *state);

/// The rule of a weft.param, or null.
RuleAttr getRule(mlir::Operation *param);

/// Whether a rule keeps a weft.param whole at every stage.
bool isKeptWhole(mlir::Operation *param);

} // namespace weft::dist

#endif // WEFT_DIST_DIST_H
