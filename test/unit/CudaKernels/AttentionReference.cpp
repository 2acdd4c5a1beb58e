//===- AttentionReference.cpp - Attention in f64, one by one --------------===//

#include "AttentionReference.h"

#include "weft/Abi/DropoutBits.h"

using namespace weft;

namespace {

constexpr int64_t kOpId = 17;
const Ints kRng = {99, 1000};

/// Place of a head's row in dense [B, T, H, D].
int64_t denseRow(const AttentionCase &c, int64_t rows, int64_t heads, int64_t b,
                 int64_t i, int64_t h) {
  return ((b * rows + i) * heads + h) * c.d;
}

double dot(const float *a, const float *b, int64_t count) {
  double sum = 0.0;
  for (int64_t d = 0; d < count; ++d)
    sum += static_cast<double>(a[d]) * b[d];
  return sum;
}

/// One query of one head.
struct QueryRow {
  const AttentionCase &c;
  const AttentionInputs &in;
  int64_t b, i, h;
  std::vector<int64_t> seen; // keys
  Doubles p, slope, keep;
  double lse = -INFINITY;

  int64_t query() const { return denseRow(c, c.t, c.h, b, i, h); }
  int64_t key(int64_t j) const {
    return denseRow(c, c.s, c.hkv, b, j, h / (c.h / c.hkv));
  }

  QueryRow(const AttentionCase &c, const AttentionInputs &in, int64_t b,
           int64_t i, int64_t h)
      : c(c), in(in), b(b), i(i), h(h) {
    double most = -INFINITY, sum = 0.0;
    for (int64_t j = 0; j < c.s; ++j)
      if (c.sees(b, i, j)) {
        seen.push_back(j);
        addScore(dot(&in.q[query()], &in.k[key(j)], c.d) * c.scale());
        most = std::max(most, p.back());
      }
    for (double &x : p)
      sum += x = std::exp(x - most);
    for (double &x : p)
      x /= sum;
    if (!seen.empty())
      lse = most + std::log(sum);
    findKeep();
  }

  void addScore(double score) {
    double t = c.softcap == 0.0 ? 0.0 : std::tanh(score / c.softcap);
    p.push_back(c.softcap == 0.0 ? score : c.softcap * t);
    slope.push_back(1.0 - t * t);
  }

  void findKeep() {
    for (int64_t j : seen) {
      const bool keeps = keepsScore(c, b, h, i, j);
      keep.push_back(keeps && c.dropout < 1.0 ? 1.0 / (1.0 - c.dropout) : 0.0);
    }
  }

  void addTo(AttentionResult &r) const {
    r.lse[(b * c.h + h) * c.t + i] = lse;
    double delta = 0.0;
    for (size_t n = 0; n < seen.size(); ++n) {
      const int64_t j = seen[n];
      delta += p[n] * keep[n] * dot(&in.dout[query()], &in.v[key(j)], c.d);
      for (int64_t d = 0; d < c.d; ++d) {
        r.out[query() + d] += p[n] * keep[n] * in.v[key(j) + d];
        r.dv[key(j) + d] += p[n] * keep[n] * in.dout[query() + d];
      }
    }
    for (size_t n = 0; n < seen.size(); ++n) {
      const int64_t j = seen[n];
      double dp = keep[n] * dot(&in.dout[query()], &in.v[key(j)], c.d);
      double ds = p[n] * (dp - delta) * slope[n] * c.scale();
      for (int64_t d = 0; d < c.d; ++d) {
        r.dq[query() + d] += ds * in.k[key(j) + d];
        r.dk[key(j) + d] += ds * in.q[query() + d];
        double size = p[n] * (std::fabs(dp) + std::fabs(delta)) * c.scale();
        r.dqTerms += std::pow(size * in.k[key(j) + d], 2);
        r.dkTerms += std::pow(size * in.q[query() + d], 2);
      }
    }
  }
};

/// A tensor as the routine sees it: strided elements of the case's type.
class Strided {
public:
  Strided(const AttentionCase &c, int64_t rows, int64_t heads)
      : c(c), rows(rows), heads(heads), strides(c.strides(rows, heads)),
        bytes(c.dtype == WEFT_F32 ? 4 : 2),
        memory(c.b * strides.batch * bytes, c.shift * bytes) {}

  void *data() { return memory.data(); }

  void write(const Floats &dense) {
    forEach([&](int64_t at, int64_t place) {
      uint16_t low = toLow(dense[place], c.dtype);
      const void *element = &dense[place];
      memory.write(at * bytes,
                   static_cast<const uint8_t *>(bytes == 4 ? element : &low),
                   bytes);
    });
  }

  /// The elements; all between them must be untouched.
  Doubles read() {
    Doubles dense(c.b * rows * heads * c.d);
    std::vector<uint8_t> all = memory.take();
    forEach([&](int64_t at, int64_t place) {
      float wide;
      uint16_t low;
      std::memcpy(&wide, &all[at * bytes], bytes);
      std::memcpy(&low, &all[at * bytes], 2);
      dense[place] = c.dtype == WEFT_F32 ? wide : fromLow(low, c.dtype);
      std::fill_n(&all[at * bytes], bytes, 0xff);
    });
    EXPECT_EQ(all, std::vector<uint8_t>(all.size(), 0xff));
    return dense;
  }

private:
  template <typename Body> void forEach(Body body) {
    for (int64_t b = 0; b < c.b; ++b)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t d = 0; d < c.d; ++d)
            body(b * strides.batch + i * strides.row + h * strides.head + d,
                 denseRow(c, rows, heads, b, i, h) + d);
  }

  const AttentionCase &c;
  int64_t rows, heads;
  WeftHeadStrides strides;
  int64_t bytes;
  Guarded<uint8_t> memory;
};

} // namespace

bool weft::keepsScore(const AttentionCase &c, int64_t batch, int64_t head,
                      int64_t query, int64_t key) {
  PhiloxKey philox = philoxKey(static_cast<uint64_t>(kRng[0]), kOpId);
  uint64_t element = static_cast<uint64_t>((head * c.t + query) * c.s + key);
  return philoxKeeps(philoxNumber(philox, kRng[1] + batch, element),
                     philoxDropThreshold(c.dropout));
}

int32_t AttentionCase::id(int64_t batch, int64_t i) const {
  return static_cast<int32_t>(documents < 0
                                  ? (i * i + i / 5 + batch) % -documents
                                  : i * documents / t - batch);
}

bool AttentionCase::sees(int64_t batch, int64_t i, int64_t j) const {
  const int64_t place = i + s - t;
  if ((causal && j > place) ||
      (window && (j <= place - window || j >= place + window)))
    return false;
  return !documents || id(batch, i) == id(batch, j);
}

/// A record of the case, with its variant if it has one.
template <typename Record>
static RecordBytes withVariant(const AttentionCase &c, const Record &record) {
  const WeftAttentionVariant variant = {c.window, c.documents != 0, c.softcap};
  if (isVariant(variant))
    return {record, std::vector{variant}};
  return record;
}

WeftAttentionRecord AttentionCase::record() const {
  return {b,
          t,
          s,
          h,
          hkv,
          d,
          causal,
          kOpId,
          dtype,
          scale(),
          dropout,
          queryStrides(),
          keyStrides(),
          keyStrides(),
          queryStrides(),
          storesBits};
}

WeftAttentionGradRecord AttentionCase::gradRecord() const {
  return {record(), queryStrides(), queryStrides(), keyStrides(), keyStrides()};
}

AttentionInputs::AttentionInputs(const AttentionCase &c)
    : q(randomFloats(c.b * c.t * c.h * c.d, 1)),
      k(randomFloats(c.b * c.s * c.hkv * c.d, 2)),
      v(randomFloats(c.b * c.s * c.hkv * c.d, 3)),
      dout(randomFloats(c.b * c.t * c.h * c.d, 4)) {
  for (Floats *some : {&q, &k})
    for (float &x : *some)
      x *= c.range;
  for (Floats *some : {&q, &k, &v, &dout})
    *some = rounded(*some, c.dtype);
}

AttentionResult weft::attentionInF64(const AttentionCase &c,
                                     const AttentionInputs &in) {
  AttentionResult r;
  r.out.resize(in.q.size());
  r.dq.resize(in.q.size());
  r.dk.resize(in.k.size());
  r.dv.resize(in.k.size());
  r.lse.resize(c.b * c.h * c.t);
  for (int64_t b = 0; b < c.b; ++b)
    for (int64_t i = 0; i < c.t; ++i)
      for (int64_t h = 0; h < c.h; ++h)
        QueryRow(c, in, b, i, h).addTo(r);
  return r;
}

static int64_t countBitWords(const AttentionCase &c) {
  return c.b * c.h * bitQueryTiles(c.t) * bitKeyTiles(c.s) * kBitWords;
}

AttentionResult weft::attentionOf(const AttentionCase &c,
                                  const AttentionInputs &in,
                                  const AttentionCall &call) {
  Strided q(c, c.t, c.h), k(c, c.s, c.hkv), v(c, c.s, c.hkv);
  Strided dout(c, c.t, c.h), out(c, c.t, c.h);
  Strided dq(c, c.t, c.h), dk(c, c.s, c.hkv), dv(c, c.s, c.hkv);
  q.write(in.q), k.write(in.k), v.write(in.v), dout.write(in.dout);
  Guarded<float> lse(c.b * c.h * c.t);
  Guarded<int64_t> rng(kRng, 0);
  std::vector<const void *> forward = {q.data(), k.data(), v.data(), out.data(),
                                       lse.data()};
  std::vector<const void *> backward = {dout.data(), q.data(),   k.data(),
                                        v.data(),    out.data(), lse.data(),
                                        dq.data(),   dk.data(),  dv.data()};
  if (c.dropout > 0.0)
    forward.push_back(rng.data());
  if (c.dropout > 0.0 && !c.storesBits)
    backward.push_back(rng.data());
  std::vector<int32_t> list;
  for (int64_t n = 0; n < c.b * c.t; ++n)
    list.push_back(c.id(n / c.t, n % c.t));
  Guarded<int32_t> ids(list, 0);
  if (c.documents)
    forward.push_back(ids.data()), backward.push_back(ids.data());
  Guarded<uint32_t> bits(c.storesBits ? countBitWords(c) : 0);
  if (c.storesBits)
    forward.push_back(bits.data()), backward.push_back(bits.data());
  call(WEFT_ATTENTION, forward, withVariant(c, c.record()));
  call(WEFT_ATTENTION_GRAD, backward, withVariant(c, c.gradRecord()));
  Floats statistics = lse.take();
  return {out.read(), Doubles(statistics.begin(), statistics.end()),
          dq.read(),  dk.read(),
          dv.read(),  bits.take()};
}

AttentionResult weft::attentionOfCuda(const AttentionCase &c,
                                      const AttentionInputs &in) {
  return attentionOf(
      c, in,
      [](WeftCommandKind kind, const std::vector<const void *> &buffers,
         const RecordBytes &record) {
        callCudaOk(kind,
                   kind == WEFT_ATTENTION ? weft_cuda_attention
                                          : weft_cuda_attention_grad,
                   buffers, record);
      });
}

double weft::relativeError(const Doubles &got, const Doubles &want) {
  EXPECT_EQ(got.size(), want.size());
  double error = 0.0, norm = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    double difference = got[i] == want[i] ? 0.0 : got[i] - want[i];
    error += difference * difference;
    norm += std::isinf(want[i]) ? 0.0 : want[i] * want[i];
  }
  return norm == 0.0 ? std::sqrt(error) : std::sqrt(error / norm);
}
