//===- GradientNorm.cpp - Norm, check, clip coefficient, step counter -----===//

#include "FloatRuns.h"

#include <cmath>

namespace weft {
namespace {

constexpr int64_t kBlock = kNormBlock;
static_assert(sizeof(NormBlock) == kNormBlockBytes, "a sum of another size");

/// Where the blocks of one gradient begin in the list of all blocks.
struct Segment {
  FloatBuffer data;
  int64_t count, firstBlock;
};

std::vector<Segment> listSegments(const WeftNormAndCheckRecord &record,
                                  void *const *buffers) {
  const auto *parts = entriesOf<WeftNormPart>(record);
  std::vector<Segment> segments;
  int64_t blocks = 0;
  for (int64_t i = 0; i < record.count; ++i) {
    segments.push_back(
        {{buffers[i], parts[i].dtype}, parts[i].elements, blocks});
    blocks += (parts[i].elements + kBlock - 1) / kBlock;
  }
  segments.push_back({{nullptr, WEFT_F32}, 0, blocks});
  return segments;
}

/// Sums of the blocks [begin, end) of the list. `room` is for one block.
void sumBlocks(const Loops &loops, const std::vector<Segment> &segments,
               double p, int64_t begin, int64_t end, float *room,
               NormBlock *results) {
  size_t segment = 0;
  for (int64_t block = begin; block < end; ++block) {
    while (segments[segment + 1].firstBlock <= block)
      ++segment;
    const Segment &s = segments[segment];
    int64_t first = (block - s.firstBlock) * kBlock;
    int64_t count = std::min(kBlock, s.count - first);
    const float *values = as<float>(s.data.at(first));
    if (!s.data.isWide()) {
      loops.widen(static_cast<int>(s.data.dtype), count, s.data.at(first),
                  room);
      values = room;
    }
    results[block] = loops.normBlock(values, count, p);
  }
}

/// All blocks in order.
NormBlock combine(const NormBlock *results, int64_t count, double p) {
  NormBlock total = {0.0, false};
  for (int64_t i = 0; i < count; ++i) {
    double partial = results[i].partial;
    total.nonFinite |= results[i].nonFinite;
    if (!std::isinf(p))
      total.partial += partial;
    else if (partial > total.partial || std::isnan(partial))
      total.partial = partial;
  }
  return total;
}

double takeRoot(double sum, double p) {
  if (p == 1.0 || std::isinf(p))
    return sum;
  if (p == 2.0)
    return std::sqrt(sum);
  return p == 3.0 ? std::cbrt(sum) : std::pow(sum, 1.0 / p);
}

bool checkArguments(WeftContext &context, const WeftCommand &command,
                    const WeftNormAndCheckRecord &record) {
  if (!checkRange(context, command, "number of gradients", record.count, 0,
                  INT32_MAX - 2) ||
      !checkBuffers(context, command, record.count + 2))
    return false;
  const auto *parts = entriesOf<WeftNormPart>(record);
  for (int64_t i = 0; i < record.count; ++i)
    if (!checkRange(context, command, "elements", parts[i].elements, 0) ||
        !checkFloatType(context, command, "gradients", parts[i].dtype))
      return false;
  if (record.p > 0.0)
    return true;
  failCommand(context, command, kInternalError,
              "expects p above 0, but got " + std::to_string(record.p));
  return false;
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_norm_and_check(WeftContext *context,
                                        const WeftCommand *command,
                                        void *const *buffers) {
  const auto *record = recordOf<WEFT_NORM_AND_CHECK>(*context, *command);
  if (!record || !checkArguments(*context, *command, *record))
    return;
  const Loops &loops = loopsOf(*context);
  std::vector<Segment> segments = listSegments(*record, buffers);
  int64_t blocks = segments.back().firstBlock;
  NormWork work(*record);
  char *workspace =
      workspaceOf(*context, *command, buffers,
                  work.resultBytes + context->threads() * work.blockBytes);
  if (!workspace)
    return;
  NormBlock *results = reinterpret_cast<NormBlock *>(workspace);
  context->parallelFor(blocks, 1, [&](RangePart part) {
    char *room = workspace + work.resultBytes + part.worker * work.blockBytes;
    sumBlocks(loops, segments, record->p, part.begin, part.end,
              reinterpret_cast<float *>(room), results);
  });
  NormBlock total = combine(results, blocks, record->p);
  *as<double>(buffers[record->count]) = takeRoot(total.partial, record->p);
  *as<uint8_t>(buffers[record->count + 1]) = total.nonFinite;
}

// torch.nn.utils.clip_grad_norm_: clip_coef = max_norm / (total_norm + 1e-6),
// clamped to 1. GradScaler.unscale_: the f64 reciprocal of the scale, rounded.
extern "C" void weft_cpu_clip_coefficient(WeftContext *context,
                                          const WeftCommand *command,
                                          void *const *buffers) {
  const auto *record = recordOf<WEFT_CLIP_COEFFICIENT>(*context, *command);
  if (!record || !checkBuffers(*context, *command, 3 + (record->hasScale != 0)))
    return;
  double norm = scalar<double>(buffers[0]), limit = scalar<double>(buffers[1]);
  double coef = limit / (norm + 1e-6);
  bool clips = limit > 0.0 && std::isfinite(norm) && coef < 1.0;
  float result = clips ? static_cast<float>(coef) : 1.0f;
  if (record->hasScale) {
    double scale = static_cast<double>(scalar<float>(buffers[3]));
    float inverse = static_cast<float>(1.0 / scale);
    if (!std::isfinite(inverse) && std::isfinite(norm))
      return failCommand(*context, *command, kNumericsError,
                         "expects a loss scale with a finite inverse, but the "
                         "scale has underflowed");
    result *= inverse;
  }
  *as<float>(buffers[2]) = result;
}

extern "C" void weft_cpu_step_increment(WeftContext *context,
                                        const WeftCommand *command,
                                        void *const *buffers) {
  if (!recordOf<WEFT_STEP_INCREMENT>(*context, *command) ||
      !checkBuffers(*context, *command, 3))
    return;
  int64_t step = scalar<int64_t>(buffers[0]);
  *as<int64_t>(buffers[2]) = scalar<uint8_t>(buffers[1]) ? step : step + 1;
}
