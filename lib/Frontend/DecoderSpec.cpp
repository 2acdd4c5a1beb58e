//===- DecoderSpec.cpp - The facts of a decoder-only model ----------------===//

#include "DecoderSpec.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace weft;

double DecoderSpec::embeddingFactor() const {
  return scaleBySqrtWidth ? embeddingScale * std::sqrt(double(width))
                          : embeddingScale;
}

double DecoderSpec::attentionScale(int64_t layer) const {
  if (attentionMultiplier != 0.0)
    return attentionMultiplier;
  const double scalar = queryScalar != 0.0 ? queryScalar : double(headWidth);
  double scale = scaleByWidth ? 1.0 / std::sqrt(scalar) : 1.0;
  if (scaleByLayer)
    scale /= double(layer + 1);
  return scale;
}

int64_t DecoderSpec::context() const {
  return std::max(positions, rope.stretchedContext(positions));
}

int64_t DecoderSpec::widest() const {
  const int64_t queries = heads * headWidth;
  const int64_t fused =
      names.qkv.empty() ? queries : queries + 2 * groups * headWidth;
  const int64_t hidden = names.gateUp.empty() ? inner : 2 * inner;
  return std::max({vocab, width, tokenWidth, hidden, fused});
}

bool DecoderSpec::usesRope(RopeUse use) const {
  return llvm::any_of(
      layers, [&](const LayerSpec &layer) { return layer.rope == use; });
}

std::string weft::layerScope(const DecoderSpec &spec, int64_t layer) {
  return spec.names.layers.str() + "." + std::to_string(layer);
}
