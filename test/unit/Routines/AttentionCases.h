//===- AttentionCases.h - Attention of any shape and type -------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_KERNELS_ATTENTIONCASES_H
#define WEFT_TEST_UNIT_KERNELS_ATTENTIONCASES_H

#include "Harness.h"

namespace weft::attention {

/// Shapes and variant of one attention.
struct Case {
  int64_t b = 2, t = 5, s = 5, h = 2, hkv = 2, d = 8, causal = 1;
  double dropout = 0.0;
  int64_t window = 0;
  double softcap = 0.0;
  int64_t documents = 0; // of a batch row; scattered if below 0
  double scaleFactor = 1.0;
  double scale() const { return scaleFactor / std::sqrt(d); }
  int64_t qRow() const { return (h + 2 * hkv) * d; } // one qkv tensor

  int32_t id(int64_t b, int64_t i) const {
    return static_cast<int32_t>(documents < 0 ? (i * i + i / 5 + b) % -documents
                                              : i * documents / t - b);
  }
  bool sees(int64_t b, int64_t i, int64_t j) const {
    int64_t place = i + s - t;
    if ((causal && j > place) ||
        (window && (j <= place - window || j >= place + window)))
      return false;
    return !documents || id(b, i) == id(b, j);
  }
  std::vector<int32_t> ids() const {
    std::vector<int32_t> all;
    for (int64_t n = 0; n < b * t; ++n)
      all.push_back(id(n / t, n % t));
    return all;
  }
  /// A record of the case, with its variant if it has one.
  template <typename Record> RecordBytes bytes(const Record &record) const {
    if (!window && softcap == 0.0 && !documents)
      return record;
    WeftAttentionVariant variant = {window, documents != 0, softcap};
    return {record, std::vector{variant}};
  }
};

constexpr int64_t kOpId = 17;
inline const Ints kRng = {99, 1000};

/// Inputs as slices of one buffer [B, max(T, S), (H + 2 Hkv) D].
struct Data {
  Floats qkv, dout;
  explicit Data(const Case &c)
      : qkv(randomFloats(c.b * std::max(c.t, c.s) * c.qRow(), 1)),
        dout(randomFloats(c.b * c.t * c.h * c.d, 2)) {
    for (float &x : qkv)
      x *= 2.0f;
  }
};

/// `dq`: the gradients of the whole qkv tensor.
struct Result {
  Floats out, lse, dq;
};

/// Slices of one qkv tensor, and of one tensor of gradients.
inline WeftHeadStrides sliceStrides(const Case &c) {
  return {std::max(c.t, c.s) * c.qRow(), c.qRow(), c.d};
}
inline WeftHeadStrides outStrides(const Case &c) {
  return {c.t * c.h * c.d, c.h * c.d, c.d};
}

inline WeftAttentionRecord makeRecord(const Case &c, int64_t type = WEFT_F32) {
  WeftHeadStrides slice = sliceStrides(c);
  return {c.b,      c.t,   c.s,           c.h,          c.hkv,     c.d,
          c.causal, kOpId, type,          c.scale(),    c.dropout, slice,
          slice,    slice, outStrides(c), /*hasBits=*/0};
}

inline WeftAttentionGradRecord makeGradRecord(const Case &c,
                                              int64_t type = WEFT_F32) {
  WeftHeadStrides slice = sliceStrides(c);
  return {makeRecord(c, type), outStrides(c), slice, slice, slice};
}

/// Both directions on elements of `type`; the first `shift` elements of qkv are
/// no part of it.
inline Result run(const Case &c, WeftContext &context, int64_t type = WEFT_F32,
                  int64_t shift = 0) {
  Data data(c);
  Floats all(shift, 0.0f);
  all.insert(all.end(), data.qkv.begin(), data.qkv.end());
  Elements qkv(all, type), dout(data.dout, type);
  Elements out(Floats(c.b * c.t * c.h * c.d, NAN), type);
  Elements dqkv(Floats(all.size(), 0.0f), type);
  const int64_t k = shift + c.h * c.d, v = k + c.hkv * c.d;
  Result r;
  r.lse.assign(c.b * c.h * c.t, NAN);
  std::vector<int32_t> ids = c.ids();
  std::vector<const void *> more;
  if (c.dropout > 0.0)
    more.push_back(kRng.data());
  if (c.documents)
    more.push_back(ids.data());
  std::vector<const void *> forward = {qkv.at(shift), qkv.at(k), qkv.at(v),
                                       out.data(), r.lse.data()};
  forward.insert(forward.end(), more.begin(), more.end());
  callOk(context, weft_cpu_attention, forward, c.bytes(makeRecord(c, type)));
  std::vector<const void *> backward = {
      dout.data(),  qkv.at(shift),  qkv.at(k),  qkv.at(v), out.data(),
      r.lse.data(), dqkv.at(shift), dqkv.at(k), dqkv.at(v)};
  backward.insert(backward.end(), more.begin(), more.end());
  callOk(context, weft_cpu_attention_grad, backward,
         c.bytes(makeGradRecord(c, type)));
  r.out = out.values();
  Floats gradients = dqkv.values();
  r.dq.assign(gradients.begin() + shift, gradients.end());
  return r;
}

} // namespace weft::attention

#endif // WEFT_TEST_UNIT_KERNELS_ATTENTIONCASES_H
