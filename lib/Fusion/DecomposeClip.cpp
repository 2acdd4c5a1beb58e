//===- DecomposeClip.cpp - Formula of the clip coefficient ----------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/FormulaBuilder.h"

using namespace mlir;
using namespace weft;

/// min(1, max_norm / (norm + 1e-6)), 1 without a limit or a finite norm; times
/// 1 / scale. A scale that has underflowed gives an infinite factor.
static FailureOr<SmallVector<Value>> decomposeClip(ClipCoefficientOp clip,
                                                   FormulaBuilder &f) {
  Type single = getElementTypeOrSelf(clip.getType());
  Value norm = clip.getNorm(), limit = clip.getMaxNorm();
  Value one = f.constant(1.0, norm);
  Value factor = f.div(limit, f.add(norm, f.constant(1e-6, norm)));
  Value isLimited = f.compare(Predicate::GT, limit, f.constant(0.0, limit));
  Value clips = f.logicalAnd(f.logicalAnd(isLimited, f.isFinite(norm)),
                             f.compare(Predicate::LT, factor, one));
  Value result = f.cast(f.select(clips, factor, one), single);
  if (Value scale = clip.getScale()) {
    Value wide = f.cast(scale, getElementTypeOrSelf(norm.getType()));
    result = f.mul(result, f.cast(f.div(one, wide), single));
  }
  return SmallVector<Value>{result};
}

void weft::registerClipFormula(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    addFormula<ClipCoefficientOp, decomposeClip>(context);
  });
}
