//===- cpu_attention_masks.cpp - Timings of masked attention --------------===//
//
// usage: cpu_attention_masks_bench [LENGTH] [ROUNDS]
// Times causal attention without and with a mask in turns, forward and backward
// on one thread, and prints the medians, their ratio, and the ratio of tiles
// with a visible pair.
//
//===----------------------------------------------------------------------===//

#include "weft/Abi/CpuRoutineAbi.h"
#include "weft/Abi/CpuWorkspaces.h"
#include "weft/Runtime/Execute/Context.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <time.h>
#include <vector>

using namespace weft;

namespace {

constexpr int64_t kHeads = 4, kWidth = 64;

/// A mask on top of the causal one.
struct Mask {
  const char *name;
  int64_t window, documents;
  double softcap;
};

class Bench {
public:
  explicit Bench(int64_t length)
      : context(oneThread()), length(length), lse(kHeads * length),
        ids(length) {
    std::mt19937 generator(1);
    for (auto *some : {&q, &k, &v, &out, &dout, &dq, &dk, &dv}) {
      some->resize(length * kHeads * kWidth);
      for (float &x : *some)
        x = static_cast<float>(static_cast<int32_t>(generator())) * 0x1p-31f;
    }
  }

  /// Seconds of a call, forward or backward.
  double time(const Mask &mask, bool backward) {
    for (int64_t i = 0; i < length; ++i)
      ids[i] = static_cast<int32_t>(mask.documents * i / length);
    struct {
      WeftAttentionRecord record;
      WeftAttentionVariant variant;
    } forward = {record(), {mask.window, mask.documents > 0, mask.softcap}};
    struct {
      WeftAttentionGradRecord record;
      WeftAttentionVariant variant;
    } gradient = {{record(), strides(), strides(), strides(), strides()},
                  forward.variant};
    const bool varies = isVariant(forward.variant);
    std::vector<void *> buffers = {q.data(), k.data(), v.data(), out.data(),
                                   lse.data()};
    if (backward)
      buffers = {dout.data(), q.data(),  k.data(),  v.data(), out.data(),
                 lse.data(),  dq.data(), dk.data(), dv.data()};
    if (mask.documents)
      buffers.push_back(ids.data());
    if (backward)
      return call(WEFT_ATTENTION_GRAD, weft_cpu_attention_grad, &gradient,
                  varies ? sizeof gradient : sizeof gradient.record, buffers);
    return call(WEFT_ATTENTION, weft_cpu_attention, &forward,
                varies ? sizeof forward : sizeof forward.record, buffers);
  }

  /// Tiles with a visible pair.
  double countTiles(const Mask &mask) const {
    auto id = [&](int64_t i) { return mask.documents * i / length; };
    double tiles = 0;
    for (int64_t i = 0; i < length; i += kAttentionTile)
      for (int64_t j = 0; j <= i; j += kAttentionTile) {
        const int64_t lastKey = std::min(j + kAttentionTile, length) - 1;
        const bool isNear = !mask.window || lastKey > i - mask.window;
        tiles += isNear && (!mask.documents || id(lastKey) >= id(i));
      }
    return tiles;
  }

private:
  static ContextOptions oneThread() {
    ContextOptions options;
    options.threads = 1;
    return options;
  }

  WeftHeadStrides strides() const {
    return {length * kHeads * kWidth, kHeads * kWidth, kWidth};
  }
  WeftAttentionRecord record() const {
    return {1,         length,    length,    kHeads,       kHeads, kWidth,
            1,         0,         WEFT_F32,  0.125,        0.0,    strides(),
            strides(), strides(), strides(), /*hasBits=*/0};
  }

  double call(WeftCommandKind kind, WeftLibraryFn routine, const void *record,
              size_t bytes, std::vector<void *> buffers) {
    WeftCommand command = {};
    command.name = "bench";
    command.kind = kind;
    command.record = record;
    command.recordBytes = static_cast<int64_t>(bytes);
    command.workspaceBytes = workspaceBytes(kind, record, context.threads());
    workspace.resize(command.workspaceBytes + kWorkspaceAlignment);
    void *aligned = workspace.data();
    size_t room = workspace.size();
    buffers.push_back(
        std::align(kWorkspaceAlignment, command.workspaceBytes, aligned, room));
    command.numBuffers = static_cast<int32_t>(buffers.size());
    const double start = now();
    routine(&context, &command, buffers.data());
    const double seconds = now() - start;
    if (context.failed()) {
      std::fprintf(stderr, "%s\n", context.message().c_str());
      std::exit(1);
    }
    return seconds;
  }

  static double now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + time.tv_nsec * 1e-9;
  }

  WeftContext context;
  int64_t length;
  std::vector<float> q, k, v, out, dout, dq, dk, dv, lse;
  std::vector<int32_t> ids;
  std::vector<char> workspace;
};

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
  const int64_t length = argc > 1 ? std::atoi(argv[1]) : 2048;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  Bench bench(length);
  const Mask causal = {"causal", 0, 0, 0.0};
  const Mask masks[] = {{"window of an eighth", length / 8, 0, 0.0},
                        {"8 documents", 0, 8, 0.0},
                        {"1 document", 0, 1, 0.0},
                        {"softcap", 0, 0, 50.0}};
  for (const Mask &mask : masks)
    for (bool backward : {false, true}) {
      std::vector<double> plain, masked;
      for (int round = 0; round < rounds; ++round) {
        // The backward pass needs the results of the forward pass.
        bench.time(causal, false);
        plain.push_back(bench.time(causal, backward));
        bench.time(mask, false);
        masked.push_back(bench.time(mask, backward));
      }
      const double before = medianOf(plain), after = medianOf(masked);
      std::printf("%-20s %-8s %9.3f ms, causal %9.3f ms: %.3f, tiles %.3f\n",
                  mask.name, backward ? "backward" : "forward", after * 1e3,
                  before * 1e3, after / before,
                  bench.countTiles(mask) / bench.countTiles(causal));
    }
  return 0;
}
