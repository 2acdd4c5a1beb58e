//===- Attention.cpp - weft_cpu_attention and its gradient ----------------===//
//
// Forward: one unit of work per batch row, head and tile of queries. Backward:
// one unit per batch row and key head, which sums over its query heads and
// tiles in order. Units write disjoint memory, so threads change no bits.
//
//===----------------------------------------------------------------------===//

#include "FloatRuns.h"
#include "isa/AttentionScratch.h"
#include "weft/Runtime/Philox.h"

#include <algorithm>

namespace weft {
namespace {

struct Strides {
  int64_t batch, row, head;
  int64_t offset(int64_t b, int64_t h) const { return b * batch + h * head; }
};

/// The ints and floats of both routines.
struct Attention {
  int64_t b, t, s, h, hkv, d, causal, opId, dtype;
  Strides q, k, v, out;
  Strides dout, dq, dk, dv; // gradient only
  double scale, dropout;
  PhiloxKey key = {0, 0};
  uint64_t firstRow = 0;

  explicit Attention(const WeftCommand &command, bool gradient) {
    const int64_t *ints = command.ints;
    b = ints[0], t = ints[1], s = ints[2], h = ints[3], hkv = ints[4];
    d = ints[5], causal = ints[6], opId = ints[7];
    Strides *const all[] = {&q, &k, &v, &out, &dout, &dq, &dk, &dv};
    for (int i = 0; i < (gradient ? 8 : 4); ++i)
      *all[i] = {ints[8 + 3 * i], ints[9 + 3 * i], ints[10 + 3 * i]};
    dtype = ints[gradient ? 32 : 20];
    scale = command.floats[0], dropout = command.floats[1];
  }

  void readRng(const void *rng) {
    const int64_t *numbers = static_cast<const int64_t *>(rng);
    key = philoxKey(static_cast<uint64_t>(numbers[0]),
                    static_cast<uint64_t>(opId));
    firstRow = static_cast<uint64_t>(numbers[1]);
  }

  FloatBuffer buffer(void *data) const { return {data, dtype}; }

  AttentionHead head(void *qData, void *kData, void *vData, int64_t batch,
                     int64_t index) const {
    int64_t group = index / (h / hkv);
    AttentionHead head;
    head.dtype = static_cast<int>(dtype);
    head.q = buffer(qData).at(q.offset(batch, index));
    head.k = buffer(kData).at(k.offset(batch, group));
    head.v = buffer(vData).at(v.offset(batch, group));
    head.qRow = q.row, head.kRow = k.row, head.vRow = v.row;
    head.queries = t, head.keys = s, head.width = d;
    head.scale = static_cast<float>(scale);
    head.causal = causal != 0;
    head.dropout = dropout > 0.0;
    head.keepScale = philoxKeepScale(dropout);
    head.threshold = philoxDropThreshold(dropout);
    head.keyLow = key.low, head.keyHigh = key.high;
    head.row = firstRow + static_cast<uint64_t>(batch);
    head.elementBase = static_cast<uint64_t>(index * t) * s;
    return head;
  }
};

bool checkShape(WeftContext &context, const WeftCommand &command,
                const Attention &a) {
  constexpr int64_t most = int64_t(1) << 30; // key numbers are 32 bit
  auto inRange = [&](const char *name, int64_t value) {
    return checkRange(context, command, name, value, 1, most);
  };
  if (!inRange("B", a.b) || !inRange("T", a.t) || !inRange("S", a.s) ||
      !inRange("H", a.h) || !inRange("Hkv", a.hkv) || !inRange("D", a.d))
    return false;
  if (a.h % a.hkv != 0) {
    failCommand(context, command, kInternalError,
                "expects Hkv that divides H " + std::to_string(a.h) +
                    ", but got " + std::to_string(a.hkv));
    return false;
  }
  return checkFloatType(context, command, "q, k, v and out", a.dtype) &&
         checkProbability(context, command, "dropout", a.dropout);
}

/// What one worker needs. The widest vectors pad the most, so this holds for
/// every instruction set.
int64_t scratchBytes(int64_t keys, int64_t width, bool gradient) {
  int64_t row = (width + kMostLanes - 1) / kMostLanes * kMostLanes;
  int64_t floats = gradient ? layBackward(nullptr, keys, width, row).floats
                            : layForward(nullptr, width).floats;
  return floats * static_cast<int64_t>(sizeof(float));
}

void runForward(WeftContext &context, const Attention &a,
                void *const *buffers) {
  const Loops &loops = loopsOf(context);
  int64_t tiles = (a.t + kQueryTile - 1) / kQueryTile;
  int64_t units = a.b * a.h * tiles;
  int workers = static_cast<int>(std::min<int64_t>(context.threads(), units));
  if (!context.reserveScratch(workers, scratchBytes(a.s, a.d, false)))
    return;
  context.parallelFor(
      units, 1,
      [&](RangePart part) {
        int64_t tile = part.begin % tiles, index = part.begin / tiles % a.h;
        int64_t batch = part.begin / tiles / a.h;
        AttentionHead head =
            a.head(buffers[0], buffers[1], buffers[2], batch, index);
        AttentionOutput output = {
            a.buffer(buffers[3]).at(a.out.offset(batch, index)), a.out.row,
            as<float>(buffers[4]) + (batch * a.h + index) * a.t};
        loops.attentionForward(
            head, output, tile * kQueryTile,
            reinterpret_cast<float *>(context.scratch(part.worker)));
      },
      Schedule::Dynamic);
}

/// All query heads of one key head, then the key head's own gradients.
void runKeyHead(const Loops &loops, const Attention &a, void *const *buffers,
                int64_t batch, int64_t group, float *scratch) {
  int64_t heads = a.h / a.hkv;
  for (int64_t i = 0; i < heads; ++i) {
    int64_t index = group * heads + i;
    AttentionHead head =
        a.head(buffers[1], buffers[2], buffers[3], batch, index);
    AttentionGradients gradients = {
        a.buffer(buffers[0]).at(a.dout.offset(batch, index)),
        a.buffer(buffers[4]).at(a.out.offset(batch, index)),
        a.dout.row,
        a.out.row,
        as<float>(buffers[5]) + (batch * a.h + index) * a.t,
        a.buffer(buffers[6]).at(a.dq.offset(batch, index)),
        a.dq.row};
    loops.attentionBackward(head, gradients, /*firstOfGroup=*/i == 0, scratch);
  }
  loops.attentionWriteKeys(
      static_cast<int>(a.dtype), a.s, a.d,
      a.buffer(buffers[7]).at(a.dk.offset(batch, group)), a.dk.row,
      a.buffer(buffers[8]).at(a.dv.offset(batch, group)), a.dv.row, scratch);
}

void runBackward(WeftContext &context, const Attention &a,
                 void *const *buffers) {
  const Loops &loops = loopsOf(context);
  int64_t units = a.b * a.hkv;
  int workers = static_cast<int>(std::min<int64_t>(context.threads(), units));
  if (!context.reserveScratch(workers, scratchBytes(a.s, a.d, true)))
    return;
  context.parallelFor(
      units, 1,
      [&](RangePart part) {
        runKeyHead(loops, a, buffers, part.begin / a.hkv, part.begin % a.hkv,
                   reinterpret_cast<float *>(context.scratch(part.worker)));
      },
      Schedule::Dynamic);
}

/// Reads and checks the arguments, then runs one of the two.
void runAttention(WeftContext &context, const WeftCommand &command,
                  void *const *buffers, bool gradient) {
  int64_t numBuffers = gradient ? 9 : 5;
  if (!checkCounts(context, command, numBuffers, gradient ? 33 : 21, 2))
    return;
  Attention attention(command, gradient);
  if (!checkShape(context, command, attention))
    return;
  if (attention.dropout > 0.0) {
    if (!checkCounts(context, command, numBuffers + 1, 0, 0))
      return;
    attention.readRng(buffers[numBuffers]);
  }
  if (gradient)
    runBackward(context, attention, buffers);
  else
    runForward(context, attention, buffers);
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_attention(WeftContext *context,
                                   const WeftCommand *command,
                                   void *const *buffers) {
  runAttention(*context, *command, buffers, /*gradient=*/false);
}

extern "C" void weft_cpu_attention_grad(WeftContext *context,
                                        const WeftCommand *command,
                                        void *const *buffers) {
  runAttention(*context, *command, buffers, /*gradient=*/true);
}

extern "C" void weft_cpu_attention_scratch_bytes(const int64_t *ints,
                                                 bool gradient, int64_t *bytes,
                                                 int32_t threads) {
  int64_t units = gradient
                      ? ints[0] * ints[4]
                      : ints[0] * ints[3] * ((ints[1] - 1) / kQueryTile + 1);
  raiseScratch(bytes, std::min<int64_t>(threads, units),
               scratchBytes(ints[2], ints[5], gradient));
}
