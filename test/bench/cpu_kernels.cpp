//===- cpu_kernels.cpp - Timings of the CPU library routines --------------===//
//
// usage: [ONEDNN_MAX_CPU_ISA=LEVEL] cpu_kernels_bench [THREADS] [f32|f16|bf16]
// Prints the shortest time of each routine (other programs may be running) at
// shapes of GPT-2 (one row of 512 tokens) and of a small model (8 rows of 128
// tokens, 4 heads of 32), on random data.
//
//===----------------------------------------------------------------------===//

#include "weft/Abi/CpuRoutineAbi.h"
#include "weft/Abi/CpuWorkspaces.h"
#include "weft/Base/Half.h"
#include "weft/Runtime/Execute/Context.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <time.h>
#include <vector>

using namespace weft;

namespace {

using Ints = std::vector<int64_t>;

struct Bench {
  WeftContext context;
  int64_t type; // of everything that may be low

  Bench(const ContextOptions &options, int64_t type)
      : context(options), type(type) {}

  std::vector<float> random(int64_t count) {
    std::mt19937 generator(static_cast<unsigned>(count));
    std::vector<float> values(count);
    for (float &value : values)
      value = static_cast<float>(static_cast<int32_t>(generator())) * 0x1p-31f;
    return values;
  }

  /// Numbers of the benchmark's type.
  std::vector<char> lows(int64_t count) {
    std::vector<float> values = random(count);
    std::vector<char> bytes(count * (type == WEFT_F32 ? 4 : 2));
    if (type == WEFT_F32)
      std::memcpy(bytes.data(), values.data(), bytes.size());
    else
      for (int64_t i = 0; i < count; ++i) {
        uint16_t bits =
            type == WEFT_F16 ? floatToHalf(values[i]) : floatToBf16(values[i]);
        std::memcpy(bytes.data() + 2 * i, &bits, 2);
      }
    return bytes;
  }
  int64_t elementBytes() const { return type == WEFT_F32 ? 4 : 2; }

  /// One thread is timed by its CPU time, several by the clock.
  double now() const {
    timespec time;
    clock_gettime(context.threads() == 1 ? CLOCK_THREAD_CPUTIME_ID
                                         : CLOCK_MONOTONIC,
                  &time);
    return static_cast<double>(time.tv_sec) + time.tv_nsec * 1e-9;
  }

  /// Seconds of the fastest call.
  template <typename Record>
  double time(WeftCommandKind kind, WeftLibraryFn routine,
              std::vector<void *> buffers, const Record &record) {
    WeftCommand command = {};
    command.name = "bench";
    command.kind = kind;
    command.record = &record;
    command.recordBytes = sizeof record;
    command.workspaceBytes = workspaceBytes(kind, &record, context.threads());
    std::vector<char> workspace(command.workspaceBytes + kWorkspaceAlignment);
    if (command.workspaceBytes > 0) {
      void *aligned = workspace.data();
      size_t room = workspace.size();
      buffers.push_back(std::align(kWorkspaceAlignment, command.workspaceBytes,
                                   aligned, room));
    }
    command.numBuffers = static_cast<int32_t>(buffers.size());
    std::vector<double> seconds;
    double total = 0.0;
    while (seconds.size() < 5 || (total < 0.3 && seconds.size() < 300)) {
      double start = now();
      routine(&context, &command, buffers.data());
      seconds.push_back(now() - start);
      total += seconds.back();
    }
    if (context.failed()) {
      std::fprintf(stderr, "%s\n", context.message().c_str());
      std::exit(1);
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds.front();
  }

  void report(const std::string &name, double seconds, double flops,
              double bytes) {
    std::printf("%-46s %9.3f ms", name.c_str(), seconds * 1e3);
    if (flops > 0)
      std::printf(" %8.1f GFLOP/s", flops / seconds * 1e-9);
    if (bytes > 0)
      std::printf(" %8.1f GB/s", bytes / seconds * 1e-9);
    std::printf("\n");
  }

  /// `wide`: the result is f32, as for the gradient of a weight.
  void gemm(int64_t m, int64_t n, int64_t k, int64_t transA, int64_t transB,
            bool wide = false) {
    auto a = lows(m * k), b = lows(k * n);
    std::vector<float> c(m * n);
    int64_t typeC = wide ? static_cast<int64_t>(WEFT_F32) : type;
    WeftGemmRecord record = {};
    record.batch = 1, record.m = m, record.n = n, record.k = k;
    record.transA = transA, record.transB = transB;
    record.lda = transA ? m : k, record.ldb = transB ? k : n, record.ldc = n;
    record.accumulate = WEFT_OVERWRITE, record.epilogue = WEFT_EPILOGUE_NONE;
    record.dtype = type, record.dtypeC = typeC;
    double seconds =
        time(WEFT_GEMM, weft_cpu_gemm, {a.data(), b.data(), c.data()}, record);
    report("gemm " + std::to_string(m) + "x" + std::to_string(n) + "x" +
               std::to_string(k) + (transA ? " A^T" : "") +
               (transB ? " B^T" : "") + (wide ? " to f32" : ""),
           seconds, 2.0 * m * n * k, 0);
  }

  void attention(int64_t b, int64_t t, int64_t h, int64_t d, double dropout) {
    int64_t row = 3 * h * d, outRow = h * d;
    auto qkv = lows(b * t * row), out = lows(b * t * outRow);
    auto dout = lows(b * t * outRow), dqkv = lows(b * t * row);
    auto lse = random(b * h * t);
    Ints rng = {1, 2};
    const WeftHeadStrides slice = {t * row, row, d};
    const WeftHeadStrides dense = {t * outRow, outRow, d};
    const WeftAttentionRecord record = {b,
                                        t,
                                        t,
                                        h,
                                        h,
                                        d,
                                        /*causal=*/1,
                                        /*opId=*/3,
                                        type,
                                        1.0 / std::sqrt(double(d)),
                                        dropout,
                                        slice,
                                        slice,
                                        slice,
                                        dense,
                                        /*hasBits=*/0};
    char *q = qkv.data(), *dq = dqkv.data();
    int64_t next = outRow * elementBytes(); // from q to k and from k to v
    // Causal: half of the score matrix.
    double product = 2.0 * b * h * d * t * (t + 1) / 2;
    std::string shape = std::to_string(b) + "x" + std::to_string(t) + "x" +
                        std::to_string(h) + "x" + std::to_string(d) +
                        (dropout > 0 ? " dropout" : "");
    report("attention " + shape,
           time(WEFT_ATTENTION, weft_cpu_attention,
                {q, q + next, q + 2 * next, out.data(), lse.data(), rng.data()},
                record),
           2 * product, 0);
    report("attention_grad " + shape,
           time(WEFT_ATTENTION_GRAD, weft_cpu_attention_grad,
                {dout.data(), q, q + next, q + 2 * next, out.data(), lse.data(),
                 dq, dq + next, dq + 2 * next, rng.data()},
                WeftAttentionGradRecord{record, dense, slice, slice, slice}),
           5 * product, 0);
  }
};

} // namespace

int main(int argc, char **argv) {
  ContextOptions options;
  if (argc > 1)
    options.threads = std::atoi(argv[1]);
  std::string name = argc > 2 ? argv[2] : "f32";
  Bench bench(options, name == "bf16"  ? WEFT_BF16
                       : name == "f16" ? WEFT_F16
                                       : WEFT_F32);
  std::printf("%d threads, %s, %s\n", bench.context.threads(),
              cpuLevel().c_str(), name.c_str());
  bench.gemm(512, 2304, 768, 0, 0);
  bench.gemm(512, 768, 768, 0, 0);
  bench.gemm(512, 3072, 768, 0, 0);
  bench.gemm(512, 768, 3072, 0, 0);
  bench.gemm(512, 50257, 768, 0, 1);
  bench.gemm(512, 768, 50257, 0, 0);
  bench.gemm(50257, 768, 512, 1, 0, /*wide=*/true);
  bench.gemm(768, 2304, 512, 1, 0, /*wide=*/true);
  bench.gemm(512, 768, 2304, 0, 1);
  bench.gemm(768, 3072, 512, 1, 0, /*wide=*/true);
  bench.gemm(1024, 1024, 1024, 0, 0);
  bench.gemm(1024, 384, 128, 0, 0);
  bench.gemm(128, 512, 1024, 1, 0, /*wide=*/true);
  bench.attention(1, 512, 12, 64, 0.0);
  bench.attention(1, 512, 12, 64, 0.1);
  bench.attention(8, 128, 4, 32, 0.0);
  bench.attention(1, 2048, 12, 64, 0.0);
  return 0;
}
