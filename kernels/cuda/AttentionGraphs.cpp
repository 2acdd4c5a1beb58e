//===- AttentionGraphs.cpp - Attention as graphs of cuDNN -----------------===//

#include "AttentionGraphs.h"

#include "weft/Abi/Executable.h"

using namespace weft;
using namespace weft::cuda;

namespace {

/// The tensors of a record; sizes are batch, head, row, element.
class AttentionGraph : public CudnnGraph {
public:
  AttentionGraph(const Cudnn &library, const WeftAttentionRecord &record)
      : CudnnGraph(library), s(record),
        type(s.dtype == WEFT_F16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16) {}

  Tensor queries(int64_t id, const WeftHeadStrides &at) {
    return memory(id, type, {s.batch, s.heads, s.queries, s.headSize},
                  {at.batch, at.head, at.row, 1});
  }
  Tensor keys(int64_t id, const WeftHeadStrides &at) {
    return memory(id, type, {s.batch, s.keyHeads, s.keys, s.headSize},
                  {at.batch, at.head, at.row, 1});
  }
  /// With rows as columns.
  Tensor turnedKeys(int64_t id, const WeftHeadStrides &at) {
    return memory(id, type, {s.batch, s.keyHeads, s.headSize, s.keys},
                  {at.batch, at.head, 1, at.row});
  }
  Tensor rows(int64_t id) {
    return memory(id, CUDNN_DATA_FLOAT, {s.batch, s.heads, s.queries, 1},
                  {s.heads * s.queries, s.queries, 1, 1});
  }
  Tensor rowsBetween() {
    return between(CUDNN_DATA_FLOAT, {s.batch, s.heads, s.queries, 1});
  }
  Tensor scores(cudnnDataType_t of = CUDNN_DATA_FLOAT) {
    return between(of, {s.batch, s.heads, s.queries, s.keys});
  }
  /// Gradients of queries, of which the engine adds one element in many
  /// blocks. It clears them itself since cuDNN 9.6.
  Tensor querySums() {
    const int64_t head = s.queries * s.headSize;
    return memory(kQuerySums, CUDNN_DATA_FLOAT,
                  {s.batch, s.heads, s.queries, s.headSize},
                  {s.heads * head, head, s.headSize, 1});
  }
  /// Scores with rows as columns, in the type of the heads.
  Tensor turned(Tensor x) {
    Tensor y =
        between(type, {s.batch, s.heads, s.keys, s.queries},
                {s.heads * s.queries * s.keys, s.queries * s.keys, 1, s.keys});
    reshape(x, y);
    return y;
  }

  Tensor apply(cudnnPointwiseMode_t mode, Tensor x, Tensor b = nullptr) {
    Tensor y = scores();
    CudnnGraph::apply(mode, y, x, b);
    return y;
  }
  /// In causal attention, elements whose key the query does not see become the
  /// number kMasked.
  Tensor mask(Tensor x) {
    if (!s.causal)
      return x;
    Tensor row = scores(CUDNN_DATA_INT32), column = scores(CUDNN_DATA_INT32);
    index(x, row, 2);
    index(x, column, 3);
    Tensor sees = scores(CUDNN_DATA_BOOLEAN), y = scores();
    CudnnGraph::apply(CUDNN_POINTWISE_CMP_GE, sees, row, column, nullptr,
                      CUDNN_DATA_BOOLEAN);
    CudnnGraph::apply(CUDNN_POINTWISE_BINARY_SELECT, y, x, number(kMasked),
                      sees);
    return y;
  }
  /// y = x b, where the heads of b may be fewer.
  Tensor product(Tensor a, Tensor b) {
    Tensor y = scores();
    multiply(a, b, y);
    return y;
  }
  /// Gradients of keys or values: of every query head, then summed.
  void keyGradient(Tensor scores, Tensor rows, int64_t id,
                   const WeftHeadStrides &at) {
    if (s.keyHeads == s.heads)
      return multiply(scores, rows, keys(id, at));
    Tensor all = between(type, {s.batch, s.heads, s.keys, s.headSize});
    multiply(scores, rows, all);
    reduce(CUDNN_REDUCE_TENSOR_ADD, all, keys(id, at));
  }

  /// Gradients of queries: the product ds k, in its order.
  void queryGradient(Tensor ds, Tensor k, Tensor to, CudnnOrder order) {
    if (order == CudnnOrder::Fixed)
      return multiply(ds, k, to);
    Tensor sums = querySums();
    multiply(ds, k, sums);
    CudnnGraph::apply(CUDNN_POINTWISE_IDENTITY, to, sums);
  }

  const WeftAttentionRecord &s;
  const cudnnDataType_t type;
};

} // namespace

static std::string describe(const WeftAttentionRecord &s, const char *what) {
  return concat(what, s.batch, " x ", s.heads, " x ", s.queries, " x ", s.keys,
                " x ", s.headSize, " (batch, heads, queries, keys, elements)");
}

Expected<CudnnPlan> weft::cuda::planForward(const Cudnn &library,
                                            const WeftAttentionRecord &s,
                                            int64_t mostBytes) {
  AttentionGraph g(library, s);
  CudnnGraph::Tensor q = g.queries(kQuery, s.q);
  CudnnGraph::Tensor products = g.product(q, g.turnedKeys(kKey, s.k));
  CudnnGraph::Tensor scaled =
      g.apply(CUDNN_POINTWISE_MUL, products, g.number(kScale));
  CudnnGraph::Tensor scores = g.mask(scaled);
  CudnnGraph::Tensor most = g.rowsBetween(), sum = g.rowsBetween();
  g.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, most);
  CudnnGraph::Tensor shifted = g.apply(CUDNN_POINTWISE_SUB, scores, most);
  CudnnGraph::Tensor powers = g.apply(CUDNN_POINTWISE_EXP, shifted);
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, powers, sum);
  CudnnGraph::Tensor logarithm = g.rowsBetween();
  g.CudnnGraph::apply(CUDNN_POINTWISE_LOG, logarithm, sum);
  g.CudnnGraph::apply(CUDNN_POINTWISE_ADD, g.rows(kStatistics), most,
                      logarithm);
  CudnnGraph::Tensor probabilities = g.scores(g.type);
  g.CudnnGraph::apply(CUDNN_POINTWISE_DIV, probabilities, powers, sum);
  g.multiply(probabilities, g.keys(kValue, s.v), g.queries(kOut, s.out));
  return g.plan(describe(s, "attention of "), mostBytes, /*repeatsBits=*/true,
                nullptr);
}

/// On sm_100 the order of the library does not say which engine adds the
/// gradients of queries in one order: that one, in two stages. Its knobs have
/// other names from 9.23 on.
static CudnnEngine orderedEngine(size_t version) {
  if (version < 92300)
    return {5, {{CUDNN_KNOB_TYPE_KERNEL_CFG, 31}, {CUDNN_KNOB_TYPE_STAGES, 2}}};
  return {5,
          {{CUDNN_KNOB_TYPE_TILE_M, 3},
           {CUDNN_KNOB_TYPE_TILE_N, 2},
           {CUDNN_KNOB_TYPE_KERNEL_CFG, 2},
           {CUDNN_KNOB_TYPE_STREAM_K, 0},
           {CUDNN_KNOB_TYPE_TILE_CGA_M, 0},
           {CUDNN_KNOB_TYPE_STAGES, 2}}};
}

Expected<CudnnPlan>
weft::cuda::planBackward(const Cudnn &library,
                         const WeftAttentionGradRecord &record,
                         int64_t mostBytes, int64_t chip, CudnnOrder order) {
  const WeftAttentionRecord &s = record.forward;
  AttentionGraph g(library, s);
  CudnnGraph::Tensor q = g.queries(kQuery, s.q);
  CudnnGraph::Tensor dout = g.queries(kGradOut, record.dout);
  CudnnGraph::Tensor scale = g.number(kScale);
  // The sum of dout * out of each row.
  CudnnGraph::Tensor both =
      g.between(CUDNN_DATA_FLOAT, {s.batch, s.heads, s.queries, s.headSize});
  g.CudnnGraph::apply(CUDNN_POINTWISE_MUL, both, dout, g.queries(kOut, s.out));
  CudnnGraph::Tensor sums = g.rowsBetween(), rowSums = g.rows(kRowSums);
  g.reduce(CUDNN_REDUCE_TENSOR_ADD, both, sums);
  g.CudnnGraph::apply(CUDNN_POINTWISE_MUL, rowSums, sums, g.number(kOne));
  // P again, and from it dV.
  CudnnGraph::Tensor k = g.turnedKeys(kKey, s.k);
  CudnnGraph::Tensor scaled =
      g.apply(CUDNN_POINTWISE_MUL, g.product(q, k), scale);
  CudnnGraph::Tensor shifted =
      g.apply(CUDNN_POINTWISE_SUB, scaled, g.rows(kStatistics));
  CudnnGraph::Tensor p = g.apply(CUDNN_POINTWISE_EXP, g.mask(shifted));
  g.keyGradient(g.turned(p), dout, kGradValue, record.dv);
  // dS = P * (dout V^T - sums) * scale, and from it dK and dQ.
  CudnnGraph::Tensor dp = g.product(dout, g.turnedKeys(kValue, s.v));
  CudnnGraph::Tensor difference = g.apply(CUDNN_POINTWISE_SUB, dp, rowSums);
  CudnnGraph::Tensor unscaled = g.apply(CUDNN_POINTWISE_MUL, difference, p);
  CudnnGraph::Tensor ds = g.apply(CUDNN_POINTWISE_MUL, unscaled, scale);
  g.keyGradient(g.turned(ds), q, kGradKey, record.dk);
  CudnnGraph::Tensor straight =
      g.between(CUDNN_DATA_FLOAT, {s.batch, s.keyHeads, s.keys, s.headSize},
                {s.k.batch, s.k.head, s.k.row, 1});
  g.reshape(k, straight);
  g.queryGradient(ds, straight, g.queries(kGradQuery, record.dq), order);
  const bool isFixed = order == CudnnOrder::Fixed;
  const CudnnEngine ordered = orderedEngine(library.version());
  return g.plan(describe(s, "gradients of attention of "), mostBytes, isFixed,
                isFixed && chip / 10 == 10 ? &ordered : nullptr);
}
