//===- AttentionReference.h - Attention in f64, one by one ------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_CUDAKERNELS_ATTENTIONREFERENCE_H
#define WEFT_TEST_UNIT_CUDAKERNELS_ATTENTIONREFERENCE_H

#include "Emulated.h"
#include "weft/Abi/Philox.h"

#include <functional>

namespace weft {

/// An environment variable for the length of a test.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name); }

private:
  const char *name;
};

/// A call of attention. Tensors are [B, T, H, D] with `gap` elements behind
/// each head and `rowGap` more behind each row, or [B, H, T, D].
struct AttentionCase {
  int64_t b = 2, t = 5, s = 5, h = 2, hkv = 2, d = 8, causal = 1;
  double dropout = 0.0;
  int64_t dtype = WEFT_F32;
  int64_t gap = 0, rowGap = 0, headsFirst = 0;
  size_t shift = 0;
  float range = 1.0f; // of q and k

  double factor = 1.0; // of the usual scale

  int64_t window = 0;
  double softcap = 0.0;
  int64_t documents = 0; // of a batch row; scattered if below 0

  bool storesBits = false; // of dropout

  double scale() const { return factor / std::sqrt(d); }
  int32_t id(int64_t batch, int64_t i) const;
  bool sees(int64_t batch, int64_t i, int64_t j) const;
  WeftHeadStrides strides(int64_t rows, int64_t heads) const {
    int64_t width = d + gap;
    if (headsFirst)
      return {heads * rows * width, width, rows * width};
    int64_t row = heads * width + rowGap;
    return {rows * row, row, width};
  }
  WeftHeadStrides queryStrides() const { return strides(t, h); }
  WeftHeadStrides keyStrides() const { return strides(s, hkv); }
  WeftAttentionRecord record() const;
  WeftAttentionGradRecord gradRecord() const;
};

/// Numbers as dense [B, T, H, D].
struct AttentionInputs {
  Floats q, k, v, dout;
  explicit AttentionInputs(const AttentionCase &c);
};

struct AttentionResult {
  Doubles out, lse, dq, dk, dv;
  std::vector<uint32_t> bits; // if the case stores them
  /// Sums of squares of what dq and dk are sums of, before any of it cancels:
  /// only of attentionInF64.
  double dqTerms = 0.0, dkTerms = 0.0;
};

AttentionResult attentionInF64(const AttentionCase &c,
                               const AttentionInputs &inputs);

/// Runs a command with these buffers.
using AttentionCall = std::function<void(
    WeftCommandKind, const std::vector<const void *> &, const RecordBytes &)>;

/// The results of attention and of its gradient. All bytes outside of their
/// elements must be unchanged.
AttentionResult attentionOf(const AttentionCase &c,
                            const AttentionInputs &inputs,
                            const AttentionCall &call);
/// The same of our own kernels.
AttentionResult attentionOfCuda(const AttentionCase &c,
                                const AttentionInputs &inputs);

/// Whether dropout keeps a score.
bool keepsScore(const AttentionCase &c, int64_t batch, int64_t head,
                int64_t query, int64_t key);

/// |got - want| / |want| in the L2 norm; NaN if anything is.
double relativeError(const Doubles &got, const Doubles &want);

} // namespace weft

#endif // WEFT_TEST_UNIT_CUDAKERNELS_ATTENTIONREFERENCE_H
