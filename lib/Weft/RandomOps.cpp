//===- RandomOps.cpp - Ops that draw random numbers in training -----------===//

#include "Parsing.h"
#include "weft/Weft/Weft.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Every op answers
//===----------------------------------------------------------------------===//

template <typename OpT, typename = void> static constexpr bool takesRng = false;
template <typename OpT>
static constexpr bool
    takesRng<OpT, std::void_t<decltype(std::declval<OpT>().getRng())>> = true;

/// An op with cast rules may stand in a model.
template <typename OpT> static constexpr bool answers() {
  return !takesRng<OpT> || !OpT::template hasTrait<HasCastRules>() ||
         OpT::template hasTrait<RandomOpInterface::Trait>();
}

template <typename... OpTs> static constexpr bool allAnswer() {
  return (answers<OpTs>() && ...);
}

static_assert(allAnswer<
#define GET_OP_LIST
#include "weft/Weft/WeftOps.cpp.inc"
                  >(),
              "an op of models with an operand `rng` has RandomOpInterface");

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static std::optional<int64_t> keyOf(const APFloat &p, uint64_t opId) {
  if (p.isZero())
    return std::nullopt;
  return static_cast<int64_t>(opId);
}

std::optional<int64_t> DropoutOp::getRandomKey() {
  return keyOf(getP(), getOpId());
}

void DropoutOp::makeDeterministic() {
  getResult().replaceAllUsesWith(getOperand());
  erase();
}

std::optional<int64_t> LayerDropOp::getRandomKey() {
  return keyOf(getP(), getOpId());
}

void LayerDropOp::makeDeterministic() {
  getResult().replaceAllUsesWith(getLayer());
  if (!getDropped().use_empty()) {
    OpBuilder builder(*this);
    auto never =
        cast<ElementsAttr>(builder.getZeroAttr(getDropped().getType()));
    getDropped().replaceAllUsesWith(
        ConstantOp::create(builder, getLoc(), never).getResult());
  }
  erase();
}

LogicalResult LayerDropOp::verify() {
  return verifyRandom(*this, getRng(), getP().convertToDouble());
}

std::optional<int64_t> AttentionOp::getRandomKey() {
  return keyOf(getDropout(), getOpId());
}

void AttentionOp::makeDeterministic() {
  AttentionOp op = getStoresBits() ? replaceStoresBits(false) : *this;
  op.setDropout(APFloat(0.0));
  op.setOpId(0);
  op.getRngMutable().clear();
}
