//===- ElementFlops.cpp - Arithmetic of the ops of kernels ----------------===//

#include "weft/Analysis/CommandNames.h"

#include "weft/Weft/Weft.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {

// In units of one vector addition. Special functions count their polynomial and
// range reduction. The values are chosen so that one rate reproduces times
// measured on a Zen 5 for gelu, its gradient, sigmoid, silu, the gradient of
// cross-entropy and dropout. The others are counted, not measured.
static constexpr double kDivision = 4, kExp = 12, kLog = 14, kErf = 20;
static constexpr double kSigmoid = 13, kTanh = 26;
static constexpr double kPhilox = 40; // ten rounds for four numbers

std::optional<double> getElementFlops(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case<CompareOp, SelectOp>([](auto) { return 0; })
      .Case<DivOp, ReciprocalOp, SqrtOp>([](auto) { return kDivision; })
      .Case<RsqrtOp>([](auto) { return 2 * kDivision; })
      .Case<ExpOp>([](auto) { return kExp; })
      .Case<LogOp, Log1pOp>([](auto) { return kLog; })
      .Case<PowOp>([](auto) { return kExp + kLog; })
      .Case<ErfOp, SinOp, CosOp>([](auto) { return kErf; })
      .Case<TanhOp>([](auto) { return kTanh; })
      .Case<SigmoidOp>([](auto) { return kSigmoid; })
      .Case<SiluOp>([](auto) { return kSigmoid + 1; })
      .Case<SoftplusOp>([](auto) { return kExp + kLog; })
      .Case<GeluOp>([](auto) { return kTanh + 8; })
      .Case<GeluGradOp>([](auto) { return kTanh + 16; })
      .Case<SoftmaxOp, LogSoftmaxOp>([](auto) { return kExp + kDivision + 2; })
      .Case<CrossEntropyOp, CrossEntropyGradOp>([](auto) { return kExp + 4; })
      .Case<BceOp, BceWithLogitsOp>([](auto) { return kExp + kLog + 4; })
      .Case<LayerNormOp>([](auto) { return 8; })
      .Case<RmsNormOp>([](auto) { return 5; })
      .Case<DropoutOp, RandomUniformOp>([](auto) { return kPhilox; })
      .Case<PhiloxOp>([](PhiloxOp op) {
        return kPhilox + (op.getKind() == PhiloxKind::Normal ? kLog + kErf : 0);
      })
      .Case<RandomNormalOp, RandomSliceOp>(
          [](auto) { return kPhilox + kLog + kErf; })
      .Case<AdamWOp, AdamOp>([](auto) { return 12 + 2 * kDivision; })
      .Case<SgdOp>([](auto) { return 6; })
      .Case<NegOp, AbsOp, SignOp, ReluOp, ReluGradOp>([](auto) { return 1; })
      .Case<AddOp, SubOp, MulOp, MaxOp, MinOp>([](auto) { return 1; })
      .Case<AndOp, OrOp, NotOp, ReduceOp>([](auto) { return 1; })
      .Default(std::nullopt);
}

} // namespace weft
