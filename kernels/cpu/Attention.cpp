//===- Attention.cpp - weft_cpu_attention and its gradient ----------------===//
//
// Forward: one unit of work per batch row, head and tile of queries. Backward:
// one unit per batch row and key head, which sums over its query heads and
// tiles in order. Units write disjoint memory, so threads change no bits.
//
//===----------------------------------------------------------------------===//

#include "FloatRuns.h"
#include "RecordChecks.h"
#include "isa/AttentionScratch.h"
#include "weft/Abi/Philox.h"

#include <algorithm>

namespace weft {
namespace {

int64_t offsetOf(const WeftHeadStrides &strides, int64_t b, int64_t h) {
  return b * strides.batch + h * strides.head;
}

/// The record of the forward routine, which is part of the gradient's, its
/// variant, and the random numbers and documents of a call.
struct Attention : WeftAttentionRecord {
  WeftAttentionVariant variant;
  PhiloxKey key = {0, 0};
  uint64_t firstRow = 0;
  const int32_t *ids = nullptr;

  Attention(const WeftAttentionRecord &record,
            const WeftAttentionVariant &variant)
      : WeftAttentionRecord(record), variant(variant) {}

  void readRng(const void *rng) {
    const int64_t *numbers = static_cast<const int64_t *>(rng);
    key = philoxKey(static_cast<uint64_t>(numbers[0]),
                    static_cast<uint64_t>(opId));
    firstRow = static_cast<uint64_t>(numbers[1]);
  }

  FloatBuffer buffer(void *data) const { return {data, dtype}; }

  AttentionHead head(void *qData, void *kData, void *vData, int64_t b,
                     int64_t index) const {
    int64_t group = index / (heads / keyHeads);
    AttentionHead head;
    head.dtype = static_cast<int>(dtype);
    head.q = buffer(qData).at(offsetOf(q, b, index));
    head.k = buffer(kData).at(offsetOf(k, b, group));
    head.v = buffer(vData).at(offsetOf(v, b, group));
    head.qRow = q.row, head.kRow = k.row, head.vRow = v.row;
    head.queries = queries, head.keys = keys, head.width = headSize;
    head.scale = static_cast<float>(scale);
    head.causal = causal != 0;
    head.window = std::min(variant.window, keys);
    head.softcap = static_cast<float>(variant.softcap);
    head.ids = ids ? ids + b * queries : nullptr;
    head.dropout = dropout > 0.0;
    head.keepScale = philoxKeepScale(dropout);
    head.threshold = philoxDropThreshold(dropout);
    head.keyLow = key.low, head.keyHigh = key.high;
    head.row = firstRow + static_cast<uint64_t>(b);
    head.elementBase = static_cast<uint64_t>(index * queries) * keys;
    return head;
  }
};

static_assert(kQueryTile == kAttentionTile && kKeyTile == kAttentionTile &&
                  kKeepRow == kAttentionNumbers &&
                  kMostLanes == kAttentionLanes &&
                  kScratchRows == kAttentionRows &&
                  kScratchDepth == kAttentionDepth,
              "workspaces are laid out for other tiles");

/// The pieces of the workers, each of `work.bytes`, or null.
char *workersOf(WeftContext &context, const WeftCommand &command,
                void *const *buffers, const AttentionWork &work) {
  int64_t workers = std::min<int64_t>(context.threads(), work.units);
  return workspaceOf(context, command, buffers, workers * work.bytes);
}

void runForward(WeftContext &context, const WeftCommand &command,
                const Attention &a, void *const *buffers) {
  const Loops &loops = loopsOf(context);
  int64_t tiles = countPieces(a.queries, kQueryTile);
  AttentionWork work(a, /*gradient=*/false);
  char *pieces = workersOf(context, command, buffers, work);
  if (!pieces)
    return;
  context.parallelFor(
      work.units, 1,
      [&](RangePart part) {
        int64_t tile = part.begin % tiles;
        int64_t index = part.begin / tiles % a.heads;
        int64_t batch = part.begin / tiles / a.heads;
        AttentionHead head =
            a.head(buffers[0], buffers[1], buffers[2], batch, index);
        AttentionOutput output = {
            a.buffer(buffers[3]).at(offsetOf(a.out, batch, index)), a.out.row,
            as<float>(buffers[4]) + (batch * a.heads + index) * a.queries};
        loops.attentionForward(
            head, output, tile * kQueryTile,
            reinterpret_cast<float *>(pieces + part.worker * work.bytes));
      },
      Schedule::Dynamic);
}

/// All query heads of one key head, then the key head's own gradients.
void runKeyHead(const Loops &loops, const Attention &a,
                const WeftAttentionGradRecord &record, void *const *buffers,
                int64_t batch, int64_t group, float *scratch) {
  int64_t heads = a.heads / a.keyHeads;
  for (int64_t i = 0; i < heads; ++i) {
    int64_t index = group * heads + i;
    AttentionHead head =
        a.head(buffers[1], buffers[2], buffers[3], batch, index);
    AttentionGradients gradients = {
        a.buffer(buffers[0]).at(offsetOf(record.dout, batch, index)),
        a.buffer(buffers[4]).at(offsetOf(a.out, batch, index)),
        record.dout.row,
        a.out.row,
        as<float>(buffers[5]) + (batch * a.heads + index) * a.queries,
        a.buffer(buffers[6]).at(offsetOf(record.dq, batch, index)),
        record.dq.row};
    loops.attentionBackward(head, gradients, /*firstOfGroup=*/i == 0, scratch);
  }
  loops.attentionWriteKeys(
      static_cast<int>(a.dtype), a.keys, a.headSize,
      a.buffer(buffers[7]).at(offsetOf(record.dk, batch, group)), record.dk.row,
      a.buffer(buffers[8]).at(offsetOf(record.dv, batch, group)), record.dv.row,
      scratch);
}

void runBackward(WeftContext &context, const WeftCommand &command,
                 const Attention &a, const WeftAttentionGradRecord &record,
                 void *const *buffers) {
  const Loops &loops = loopsOf(context);
  AttentionWork work(a, /*gradient=*/true);
  char *pieces = workersOf(context, command, buffers, work);
  if (!pieces)
    return;
  context.parallelFor(
      work.units, 1,
      [&](RangePart part) {
        runKeyHead(
            loops, a, record, buffers, part.begin / a.keyHeads,
            part.begin % a.keyHeads,
            reinterpret_cast<float *>(pieces + part.worker * work.bytes));
      },
      Schedule::Dynamic);
}

/// Checks the arguments and reads rng and ids, which lie behind `numBuffers`
/// others.
bool prepare(WeftContext &context, const WeftCommand &command,
             void *const *buffers, int64_t numBuffers, Attention &attention) {
  if (!checkBuffers(context, command, numBuffers) ||
      !checkAttention(context, command, attention, attention.variant) ||
      !checkRange(context, command, "hasBits", attention.hasBits, 0, 0))
    return false;
  const bool drops = attention.dropout > 0.0;
  const int64_t hasIds = attention.variant.hasSegments;
  if (!checkBuffers(context, command, numBuffers + drops + hasIds))
    return false;
  if (drops)
    attention.readRng(buffers[numBuffers]);
  if (hasIds)
    attention.ids = as<int32_t>(buffers[numBuffers + drops]);
  return true;
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_attention(WeftContext *context,
                                   const WeftCommand *command,
                                   void *const *buffers) {
  const auto *record = recordOf<WEFT_ATTENTION>(*context, *command);
  if (!record)
    return;
  Attention attention(*record, variantOf(*record, command->recordBytes));
  if (prepare(*context, *command, buffers, 5, attention))
    runForward(*context, *command, attention, buffers);
}

extern "C" void weft_cpu_attention_grad(WeftContext *context,
                                        const WeftCommand *command,
                                        void *const *buffers) {
  const auto *record = recordOf<WEFT_ATTENTION_GRAD>(*context, *command);
  if (!record)
    return;
  Attention attention(record->forward,
                      variantOf(*record, command->recordBytes));
  if (prepare(*context, *command, buffers, 9, attention))
    runBackward(*context, *command, attention, *record, buffers);
}
