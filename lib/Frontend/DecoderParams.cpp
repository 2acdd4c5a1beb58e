//===- DecoderParams.cpp - Parameters of a decoder-only model -------------===//

#include "DecoderBuilder.h"

#include <cmath>

using namespace mlir;
using namespace weft;

namespace {
class ParamWriter {
public:
  ParamWriter(const DecoderSpec &spec, ModelBuilder &m)
      : spec(spec), names(spec.names), m(m) {}

  void write();

private:
  using Shape = llvm::ArrayRef<int64_t>;

  void writeTables();
  void table(llvm::StringRef name, int64_t rows, int64_t columns);
  void layer(int64_t index);
  void attention(const std::string &layerPath);
  void queryKeyNorms(const std::string &path);
  void mlp(const std::string &layerPath);
  void head();
  /// Nothing if `name` is empty.
  void norm(const std::string &path, llvm::StringRef name, int64_t width);
  void linear(const std::string &path, llvm::StringRef name, int64_t in,
              int64_t out, bool hasBias, double std);

  const DecoderSpec &spec;
  const TensorNames &names;
  ModelBuilder &m;
};
} // namespace

void ParamWriter::norm(const std::string &path, llvm::StringRef name,
                       int64_t width) {
  if (name.empty())
    return;
  const std::string full = path + name.str();
  m.param(full + ".weight", {width},
          spec.norm == NormKind::OffsetRms ? m.zeros() : m.ones());
  if (spec.norm == NormKind::Layer)
    m.param(full + ".bias", {width}, m.zeros());
}

void ParamWriter::linear(const std::string &path, llvm::StringRef name,
                         int64_t in, int64_t out, bool hasBias, double std) {
  const std::string full = path + name.str();
  const int64_t rows = names.outputsFirst ? out : in;
  const int64_t columns = names.outputsFirst ? in : out;
  m.param(full + ".weight", {rows, columns}, m.normal(std));
  if (hasBias)
    m.param(full + ".bias", {out}, m.zeros());
}

void ParamWriter::table(llvm::StringRef name, int64_t rows, int64_t columns) {
  ModelBuilder::Scope inTable(m, name);
  m.param(names.root + name + ".weight", {rows, columns},
          m.normal(spec.initRange));
}

void ParamWriter::writeTables() {
  table(names.tokens, spec.vocab,
        spec.isProjected() ? spec.tokenWidth : spec.width);
  if (!names.positions.empty())
    table(names.positions, spec.positions + spec.positionOffset, spec.width);
  const std::string root = names.root.str();
  if (spec.isProjected()) {
    linear(root, names.projectOut, spec.width, spec.tokenWidth, false,
           spec.initRange);
    linear(root, names.projectIn, spec.tokenWidth, spec.width, false,
           spec.initRange);
  }
}

/// Standard deviation of new weights of a projection into the residual stream.
static double residualStd(const DecoderSpec &spec) {
  return spec.scaledResidualInit
             ? spec.initRange / std::sqrt(2.0 * double(spec.layerCount))
             : spec.initRange;
}

void ParamWriter::queryKeyNorms(const std::string &path) {
  if (spec.queryKeyNorm == QueryKeyNorm::None)
    return;
  const bool isWhole = spec.queryKeyNorm == QueryKeyNorm::Projection;
  norm(path, names.qNorm, spec.headWidth * (isWhole ? spec.heads : 1));
  norm(path, names.kNorm, spec.headWidth * (isWhole ? spec.groups : 1));
}

void ParamWriter::attention(const std::string &layerPath) {
  ModelBuilder::Scope inAttention(m, names.attention);
  const std::string path = layerPath + names.attention.str() + ".";
  const int64_t queries = spec.heads * spec.headWidth;
  const int64_t keys = spec.groups * spec.headWidth;
  if (!names.qkv.empty()) {
    linear(path, names.qkv, spec.width, queries + 2 * keys, spec.qkvBias,
           spec.initRange);
  } else {
    linear(path, names.q, spec.width, queries, spec.qkvBias, spec.initRange);
    linear(path, names.k, spec.width, keys, spec.qkvBias, spec.initRange);
    linear(path, names.v, spec.width, keys, spec.qkvBias, spec.initRange);
  }
  linear(path, names.out, queries, spec.width, spec.outBias, residualStd(spec));
  queryKeyNorms(path);
}

void ParamWriter::mlp(const std::string &layerPath) {
  ModelBuilder::Scope inMlp(m, names.mlp);
  std::string path = layerPath;
  if (!names.mlp.empty())
    path += names.mlp.str() + ".";
  auto up = [&](llvm::StringRef name, int64_t out) {
    if (!name.empty())
      linear(path, name, spec.width, out, spec.mlpBias, spec.initRange);
  };
  up(names.gateUp, 2 * spec.inner);
  up(names.gate, spec.inner);
  up(names.up, spec.inner);
  linear(path, names.down, spec.inner, spec.width, spec.mlpBias,
         residualStd(spec));
}

void ParamWriter::layer(int64_t index) {
  ModelBuilder::Scope inLayer(m, layerScope(spec, index));
  const std::string path = names.root.str() + layerScope(spec, index) + ".";
  const llvm::StringRef mlpNorm = spec.hasMlpNorm() ? names.mlpNorm : "";
  if (names.normsInOrder)
    norm(path, names.attentionNorm, spec.width);
  attention(path);
  if (names.normsInOrder)
    norm(path, mlpNorm, spec.width);
  mlp(path);
  if (!names.normsInOrder) {
    norm(path, names.attentionNorm, spec.width);
    norm(path, mlpNorm, spec.width);
  }
  norm(path, names.afterAttentionNorm, spec.width);
  norm(path, names.afterMlpNorm, spec.width);
}

void ParamWriter::head() {
  ModelBuilder::Scope inHead(m, names.head);
  const std::string table = (names.root + names.tokens + ".weight").str();
  const int64_t width = spec.isProjected() ? spec.tokenWidth : spec.width;
  m.param(names.head + ".weight", {spec.vocab, width}, m.normal(spec.initRange),
          spec.tied ? table : "");
  if (spec.headBias)
    m.param(names.head + ".bias", {spec.vocab}, m.zeros());
}

void ParamWriter::write() {
  writeTables();
  for (int64_t index = 0; index < spec.layerCount; ++index)
    layer(index);
  if (spec.hasFinalNorm()) {
    ModelBuilder::Scope inNorm(m, names.finalNorm);
    norm(names.root.str(), names.finalNorm, spec.width);
  }
  head();
}

void weft::declareParams(const DecoderSpec &spec, ModelBuilder &m) {
  ParamWriter(spec, m).write();
}
