//===- FloatRuns.h - Elements of any float type as f32 ----------*- C++ -*-===//

#ifndef WEFT_KERNELS_CPU_FLOATRUNS_H
#define WEFT_KERNELS_CPU_FLOATRUNS_H

#include "Arguments.h"
#include "isa/Loops.h"

#include "weft/Runtime/Execute/Context.h"

#include <algorithm>

namespace weft {

inline const Loops &loopsOf(const WeftContext &context) {
  switch (context.isa()) {
  case CpuIsa::Amx:
    return amx::loops;
  case CpuIsa::Avx512Bf16:
    return avx512bf16::loops;
  case CpuIsa::Avx512:
    return avx512::loops;
  case CpuIsa::Avx2:
    return avx2::loops;
  case CpuIsa::Baseline:
    break;
  }
  return baseline::loops;
}

/// Elements per part of a loop bound by memory: some microseconds of work.
constexpr int64_t kElementGrain = 16384;

/// Elements that are widened at once: they stay in the first-level cache.
constexpr int64_t kRunLength = 1024;

/// A buffer of f32, f16 or bf16.
struct FloatBuffer {
  void *data;
  int64_t dtype;
  bool isWide() const { return dtype == WEFT_F32; }
  void *at(int64_t index) const {
    return static_cast<char *>(data) + index * floatBytes(dtype);
  }
};

/// Part of a buffer as f32: the elements themselves or, for low ones, a copy of
/// at most kRunLength of them.
class FloatRun {
public:
  FloatRun(const Loops &loops, FloatBuffer buffer)
      : loops(loops), buffer(buffer) {}

  /// Elements [at, at + count) to be read.
  float *read(int64_t at, int64_t count) {
    if (buffer.isWide())
      return as<float>(buffer.at(at));
    loops.widen(static_cast<int>(buffer.dtype), count, buffer.at(at), scratch);
    return scratch;
  }
  /// The same to be overwritten; write() follows.
  float *target(int64_t at) {
    return buffer.isWide() ? as<float>(buffer.at(at)) : scratch;
  }
  void write(int64_t at, int64_t count) {
    if (!buffer.isWide())
      loops.narrow(static_cast<int>(buffer.dtype), count, scratch,
                   buffer.at(at));
  }

private:
  const Loops &loops;
  FloatBuffer buffer;
  float scratch[kRunLength];
};

/// Calls body(at, count) for runs of [begin, end).
template <typename Body>
void forEachRun(int64_t begin, int64_t end, Body body) {
  for (int64_t at = begin; at < end; at += kRunLength)
    body(at, std::min(kRunLength, end - at));
}

} // namespace weft

#endif // WEFT_KERNELS_CPU_FLOATRUNS_H
