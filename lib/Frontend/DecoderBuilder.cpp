//===- DecoderBuilder.cpp - Programs of a decoder-only model --------------===//

#include "DecoderBuilder.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Small values
//===----------------------------------------------------------------------===//

Value DecoderBuilder::number(double value) {
  return m.constant({}, {static_cast<float>(value)});
}

Value DecoderBuilder::scale(Value x, double factor) {
  return factor == 1.0 ? x : m.create<MulOp>("mul", x, number(factor));
}

Value DecoderBuilder::cap(Value x, double limit) {
  if (limit == 0.0)
    return x;
  Value factor = number(limit);
  Value small = m.create<DivOp>("div", x, factor);
  return m.create<MulOp>("mul", m.create<TanhOp>("tanh", small), factor);
}

Value DecoderBuilder::linear(const llvm::Twine &name, Value x, bool hasBias) {
  const std::string path = name.str();
  return hasBias
             ? m.linear(x, path + ".weight", names.outputsFirst, path + ".bias")
             : m.linear(x, path + ".weight", names.outputsFirst);
}

Value DecoderBuilder::normOf(const llvm::Twine &name, Value x) {
  const std::string path = name.str();
  FloatAttr epsilon = m.builder().getF64FloatAttr(spec.epsilon);
  Value weight = m.read(path + ".weight");
  if (spec.norm == NormKind::Layer) {
    Value bias = m.read(path + ".bias");
    return m.create<LayerNormOp>("layer_norm", x, weight, bias, epsilon)
        .getResult();
  }
  if (spec.norm == NormKind::OffsetRms)
    weight = m.add(weight, number(1.0));
  return m.create<RmsNormOp>("rms_norm", x, weight, epsilon).getResult();
}

Value DecoderBuilder::norm(llvm::StringRef path, llvm::StringRef name,
                           Value x) {
  return name.empty() ? x : normOf(path + "." + name, x);
}

Value DecoderBuilder::addResidual(Value x, Value update) {
  return m.add(x, scale(update, spec.residualScale));
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

Value DecoderBuilder::positions(Value words, int64_t seq) {
  Value places = m.read(names.root + names.positions + ".weight");
  if (spec.positionOffset != 0 || seq < spec.positions)
    places = m.slice(places, /*dim=*/0, spec.positionOffset, seq);
  return m.add(words, places);
}

DecoderBuilder::Tables DecoderBuilder::rotary(const RotaryConfig &config,
                                              llvm::StringRef scope,
                                              int64_t seq) {
  ModelBuilder::Scope inRotary(m, scope);
  RotaryTables tables = rotaryTables(config, spec.headWidth, seq);
  const int64_t pairs = config.rotaryWidth(spec.headWidth) / 2;
  Value cos = m.constant({seq, pairs}, tables.cos);
  return {cos, m.constant({seq, pairs}, tables.sin)};
}

Value DecoderBuilder::embed(Value tokens) {
  const int64_t seq = ModelBuilder::shapeOf(tokens)[1];
  Value x;
  {
    ModelBuilder::Scope inTable(
        m, names.embeddingScope.empty() ? names.tokens : names.embeddingScope);
    x = m.embedding(m.read(names.root + names.tokens + ".weight"), tokens);
    x = scale(x, spec.embeddingFactor());
    if (spec.isProjected())
      x = linear(names.root + names.projectIn, x, /*hasBias=*/false);
    if (!names.positions.empty())
      x = positions(x, seq);
    x = drop(x, spec.embeddingDrop);
  }
  if (spec.usesRope(RopeUse::Global))
    globalTables = rotary(spec.rope, "rotary_emb", seq);
  if (spec.usesRope(RopeUse::Local))
    localTables = rotary(spec.localRope, "rotary_emb_local", seq);
  return x;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Value DecoderBuilder::rotate(Value x, RopeUse use) {
  if (use == RopeUse::None)
    return x;
  const Tables &tables = use == RopeUse::Local ? localTables : globalTables;
  const RotaryConfig &config =
      use == RopeUse::Local ? spec.localRope : spec.rope;
  const int64_t rotated = config.rotaryWidth(spec.headWidth);
  if (rotated == spec.headWidth)
    return m.create<RopeOp>("rope", x, tables.cos, tables.sin);
  Value front = m.create<RopeOp>("rope", m.slice(x, /*dim=*/3, 0, rotated),
                                 tables.cos, tables.sin);
  Value rest = m.slice(x, /*dim=*/3, rotated, spec.headWidth - rotated);
  return m.concat({front, rest}, /*dim=*/3);
}

Value DecoderBuilder::toHeads(const AttentionSite &site, Part part, Value y) {
  const llvm::StringRef normName = part == Query ? names.qNorm : names.kNorm;
  const bool hasNorm =
      part != ValuePart && spec.queryKeyNorm != QueryKeyNorm::None;
  if (hasNorm && spec.queryKeyNorm == QueryKeyNorm::Projection)
    y = norm(site.path, normName, y);
  ArrayRef<int64_t> shape = ModelBuilder::shapeOf(y);
  if (shape.size() == 3)
    y = m.reshape(
        y, {shape[0], shape[1], shape[2] / spec.headWidth, spec.headWidth});
  if (hasNorm && spec.queryKeyNorm == QueryKeyNorm::Head)
    y = norm(site.path, normName, y);
  return part == ValuePart ? y : rotate(y, site.layer.rope);
}

std::array<Value, 3> DecoderBuilder::projectFused(const AttentionSite &site,
                                                  Value x) {
  ArrayRef<int64_t> shape = ModelBuilder::shapeOf(x);
  const int64_t counts[] = {spec.heads, spec.groups, spec.groups};
  Value fused = linear(site.path + "." + names.qkv, x, spec.qkvBias);
  if (spec.qkvByHead)
    fused =
        m.reshape(fused, {shape[0], shape[1], spec.heads, 3 * spec.headWidth});
  std::array<Value, 3> parts;
  int64_t begin = 0;
  for (Part part : {Query, Key, ValuePart}) {
    const int64_t size = spec.headWidth * (spec.qkvByHead ? 1 : counts[part]);
    Value y = m.slice(fused, /*dim=*/spec.qkvByHead ? 3 : 2, begin, size);
    parts[part] = toHeads(site, part, y);
    begin += size;
  }
  return parts;
}

std::array<Value, 3> DecoderBuilder::project(const AttentionSite &site,
                                             Value x) {
  if (!names.qkv.empty())
    return projectFused(site, x);
  const llvm::StringRef modules[] = {names.q, names.k, names.v};
  std::array<Value, 3> parts;
  for (Part part : {Query, Key, ValuePart})
    parts[part] = toHeads(
        site, part, linear(site.path + "." + modules[part], x, spec.qkvBias));
  return parts;
}

Value DecoderBuilder::attention(int64_t index, Value x) {
  ModelBuilder::Scope inAttention(m, names.attention);
  const AttentionSite site = {modulePath(layerPath(index), names.attention),
                              spec.layers[index]};
  ArrayRef<int64_t> shape = ModelBuilder::shapeOf(x);
  auto [query, key, value] = project(site, x);
  // A window of the whole row hides nothing.
  const int64_t window = site.layer.window < shape[1] ? site.layer.window : 0;
  Value attended = m.attention(query, key, value, spec.attentionScale(index),
                               training ? spec.attentionDrop : 0.0, window,
                               spec.attentionCap);
  Value joined =
      m.reshape(attended, {shape[0], shape[1], spec.heads * spec.headWidth});
  Value y = linear(site.path + "." + names.out, joined, spec.outBias);
  return drop(y, spec.residualDrop);
}

//===----------------------------------------------------------------------===//
// Feed-forward and layers
//===----------------------------------------------------------------------===//

Value DecoderBuilder::gatedUp(const std::string &path, Value x) {
  if (names.gateUp.empty()) {
    Value gate = linear(path + "." + names.gate, x, spec.mlpBias);
    gate = buildActivation(m, spec.activation, gate);
    Value up = linear(path + "." + names.up, x, spec.mlpBias);
    return m.create<MulOp>("mul", gate, up);
  }
  Value fused = linear(path + "." + names.gateUp, x, spec.mlpBias);
  Value gate = m.slice(fused, /*dim=*/2, 0, spec.inner);
  gate = buildActivation(m, spec.activation, gate);
  Value up = m.slice(fused, /*dim=*/2, spec.inner, spec.inner);
  return m.create<MulOp>("mul", gate, up);
}

Value DecoderBuilder::feedForward(int64_t index, Value x) {
  ModelBuilder::Scope inMlp(m, names.mlp);
  const std::string path = modulePath(layerPath(index), names.mlp);
  Value h;
  if (spec.isGated()) {
    h = gatedUp(path, x);
  } else {
    h = linear(path + "." + names.up, x, spec.mlpBias);
    h = buildActivation(m, spec.activation, h);
  }
  Value y = linear(path + "." + names.down, h, spec.mlpBias);
  return drop(y, spec.residualDrop);
}

/// Without a norm of its own the feed-forward shares the attention's.
Value DecoderBuilder::parallelLayer(int64_t index, Value x) {
  const std::string path = layerPath(index);
  Value normed = norm(path, names.attentionNorm, x);
  Value attended = attention(index, normed);
  if (spec.hasMlpNorm())
    normed = norm(path, names.mlpNorm, x);
  Value update = m.add(feedForward(index, normed), attended);
  return addResidual(x, update);
}

Value DecoderBuilder::layer(int64_t index, Value x) {
  ModelBuilder::Scope inLayer(m, layerScope(spec, index));
  if (spec.parallel)
    return parallelLayer(index, x);
  const std::string path = layerPath(index);
  auto before = [&](llvm::StringRef name, Value y) {
    return spec.normBefore ? norm(path, name, y) : y;
  };
  auto afterAdd = [&](llvm::StringRef name, Value y) {
    return spec.normBefore ? y : norm(path, name, y);
  };
  Value attended = attention(index, before(names.attentionNorm, x));
  attended = norm(path, names.afterAttentionNorm, attended);
  x = afterAdd(names.attentionNorm, addResidual(x, attended));
  Value fed = feedForward(index, before(names.mlpNorm, x));
  fed = norm(path, names.afterMlpNorm, fed);
  return afterAdd(names.mlpNorm, addResidual(x, fed));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Value DecoderBuilder::hidden(Value tokens, bool isTraining) {
  training = isTraining;
  Value x = embed(tokens);
  for (int64_t index = 0; index < spec.layerCount; ++index)
    x = layer(index, x);
  if (spec.hasFinalNorm()) {
    ModelBuilder::Scope inNorm(m, names.finalNorm);
    x = normOf(names.root + names.finalNorm, x);
  }
  if (!spec.isProjected())
    return x;
  ModelBuilder::Scope inProjection(m, names.projectOut);
  return linear(names.root + names.projectOut, x, /*hasBias=*/false);
}

Value DecoderBuilder::logits(Value states) {
  ModelBuilder::Scope inHead(m, names.head);
  const std::string weight = (names.head + ".weight").str();
  Value scores = spec.headBias ? m.linear(states, weight, /*transposed=*/true,
                                          names.head + ".bias")
                               : m.linear(states, weight, /*transposed=*/true);
  if (spec.logitDivisor != 1.0)
    scores = m.create<DivOp>("div", scores, number(spec.logitDivisor));
  return cap(scores, spec.logitCap);
}

LogicalResult DecoderBuilder::build(const LanguageModelSizes &sizes) {
  declareParams(spec, m);
  // Ops that read an invalid parameter would have no type.
  if (failed(m.verifyParams()))
    return failure();
  m.lossProgram(sizes, [&](Value tokens) {
    return logits(hidden(tokens, /*isTraining=*/true));
  });
  m.logitsProgram(
      sizes, [&](Value tokens) { return hidden(tokens, /*isTraining=*/false); },
      [&](Value states) { return logits(states); });
  return success();
}
