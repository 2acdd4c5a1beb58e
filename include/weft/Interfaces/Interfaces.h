//===- Interfaces.h - Interfaces of ops -------------------------*- C++ -*-===//

#ifndef WEFT_INTERFACES_INTERFACES_H
#define WEFT_INTERFACES_INTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"

#include "weft/Interfaces/CastPolicy.h"
#include "weft/Interfaces/Optimizer.h"
#include "weft/Interfaces/RowFlow.h"
#include "weft/Interfaces/Segments.h"
#include "weft/Layout/Layout.h"

#include "weft/Interfaces/Enums.h.inc"

namespace weft {

struct OpCall;

/// Whether each step writes states of that kind anew: its first micro-batch
/// writes them without reading them.
inline bool isMadeByStep(StateKind kind) {
  return kind == StateKind::Gradient || kind == StateKind::Accumulator ||
         kind == StateKind::Presence || kind == StateKind::Denominator;
}

/// Whether states of that kind are written before they are read, in each step
/// or sample: program init does not write them, and checkpoints lack them.
inline bool isScratch(StateKind kind) {
  return isMadeByStep(kind) || kind == StateKind::Cache;
}

template <typename ConcreteType>
class HasCommandKind
    : public mlir::OpTrait::TraitBase<ConcreteType, HasCommandKind> {};

} // namespace weft

#include "weft/Interfaces/Interfaces.h.inc"

#endif // WEFT_INTERFACES_INTERFACES_H
