//===- Harness.h - Calling library routines from tests ----------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_KERNELS_HARNESS_H
#define WEFT_TEST_UNIT_KERNELS_HARNESS_H

#include "weft/Runtime/Context.h"
#include "weft/Runtime/Library.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace weft {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;
using Doubles = std::vector<double>;

/// Uniform numbers in [-1, 1), the same on every machine.
inline Floats randomFloats(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Floats values(count);
  for (float &value : values)
    value = static_cast<float>(static_cast<int32_t>(generator())) * 0x1p-31f;
  return values;
}

/// Bitwise equality, so that NaNs compare and signs of zero count.
template <typename T>
bool sameBits(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Largest |got - want| / (1 + |want|).
template <typename Got>
double largestError(const std::vector<Got> &got, const Doubles &want) {
  EXPECT_EQ(got.size(), want.size());
  double worst = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    double error = std::fabs(got[i] - want[i]) / (1.0 + std::fabs(want[i]));
    worst = error <= worst ? worst : error; // keeps a NaN
  }
  return worst;
}

/// A context of that many threads and at most that instruction set.
struct TestContext : WeftContext {
  explicit TestContext(int threads = 2, CpuIsa isa = CpuIsa::Avx512)
      : WeftContext(options(threads, isa)) {}
  static ContextOptions options(int threads, CpuIsa isa) {
    ContextOptions options;
    options.threads = threads;
    options.isa = isa;
    return options;
  }
};

/// Runs a routine; leaves errors in the context.
inline void call(WeftContext &context, WeftLibraryFn routine,
                 const std::vector<const void *> &buffers, const Ints &ints,
                 const Doubles &floats) {
  std::vector<void *> addresses;
  for (const void *buffer : buffers)
    addresses.push_back(const_cast<void *>(buffer));
  WeftCommand command = {};
  command.name = "routine";
  command.scope = "h.3";
  command.library = routine;
  command.ints = ints.data();
  command.floats = floats.data();
  command.numBuffers = static_cast<int32_t>(buffers.size());
  command.numInts = static_cast<int32_t>(ints.size());
  command.numFloats = static_cast<int32_t>(floats.size());
  routine(&context, &command, addresses.data());
}

/// Runs a routine that must succeed.
inline void callOk(WeftContext &context, WeftLibraryFn routine,
                   const std::vector<const void *> &buffers, const Ints &ints,
                   const Doubles &floats) {
  call(context, routine, buffers, ints, floats);
  ASSERT_FALSE(context.failed()) << context.message();
}

/// Runs a routine that must report `message` with `code`.
inline void expectError(int code, const std::string &message,
                        WeftLibraryFn routine,
                        const std::vector<const void *> &buffers,
                        const Ints &ints, const Doubles &floats) {
  TestContext context(1);
  call(context, routine, buffers, ints, floats);
  EXPECT_EQ(context.error(), code);
  EXPECT_EQ(context.message(), "routine in h.3: " + message);
}

constexpr CpuIsa kAllIsas[] = {CpuIsa::Baseline, CpuIsa::Avx2, CpuIsa::Avx512};

} // namespace weft

#endif // WEFT_TEST_UNIT_KERNELS_HARNESS_H
