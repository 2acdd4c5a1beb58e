//===- AttentionLaunch.cpp - weft_cuda_attention and its gradient ---------===//

#include "KernelArguments.h"
#include "Launching.h"
#include "RecordChecks.h"
#include "weft/Abi/CudaRoutineAbi.h"
#include "weft/Abi/CudaWorkspaces.h"
#include "weft/Abi/DropoutBits.h"
#include "weft/Abi/Philox.h"

namespace weft::cuda {
namespace {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A kernel of attention: its name, rows that a block owns, blocks for as many
/// rows, shared memory.
struct TileKernel {
  std::string name;
  int64_t rows, parts, sharedBytes;
};

/// The kernels of one type and one width of heads.
struct TileKernels {
  TileKernel forward, queries, keys;
};

template <typename Forward, typename Backward>
TileKernels kernelsOf(const std::string &forward, const std::string &backward,
                      int64_t keyParts) {
  static_assert(Forward::kSharedBytes <= kMostSharedBytes &&
                    Backward::kSharedBytes <= kMostSharedBytes,
                "a block of some target has less shared memory");
  return {
      {"weft_attention_" + forward, Forward::kRows, 1, Forward::kSharedBytes},
      {"weft_attention_dq_" + backward, Backward::kRows, 1,
       Backward::kSharedBytes},
      {"weft_attention_dk_" + backward, Backward::kRows, keyParts,
       Backward::kSharedBytes}};
}

/// Of the kernels of a type for heads as wide as these.
std::string makeSuffix(const WeftAttentionRecord &record,
                       const WeftAttentionVariant &variant) {
  return concat(typeName(record.dtype), "_", cudaHeadWidth(record.headSize),
                isVariant(variant) ? "_variant" : "");
}

template <int D>
TileKernels kernelsFor(const WeftAttentionRecord &record,
                       const WeftAttentionVariant &variant) {
  const std::string suffix = makeSuffix(record, variant);
  const std::string forward = suffix + (record.dropout > 0.0 ? "_dropout" : "");
  const std::string backward = record.hasBits ? suffix + "_stored" : forward;
  if (record.dtype == WEFT_F32)
    return kernelsOf<WideForward<D>, WideBackward<D>>(forward, backward, 1);
  constexpr int64_t parts = D / LowBackward<D>::kKeyColumns;
  if (isVariant(variant))
    return kernelsOf<LowForward<D, true>, LowBackward<D>>(forward, backward,
                                                          parts);
  return kernelsOf<LowForward<D, false>, LowBackward<D>>(forward, backward,
                                                         parts);
}

TileKernels findKernels(const WeftAttentionRecord &record,
                        const WeftAttentionVariant &variant) {
  const int64_t width = cudaHeadWidth(record.headSize);
  return width == 64    ? kernelsFor<64>(record, variant)
         : width == 128 ? kernelsFor<128>(record, variant)
                        : kernelsFor<256>(record, variant);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Whether all rows of a tensor begin at a multiple of 16 bytes.
bool isAligned(const HeadsArgument &tensor, int64_t bytes) {
  UnitBytes common;
  common.divides(tensor.data).divides(tensor.strides.batch * bytes);
  common.divides(tensor.strides.row * bytes);
  common.divides(tensor.strides.head * bytes);
  return common.get() == 16;
}

/// All but tensors and statistics.
AttentionArguments makeArguments(const WeftAttentionRecord &record) {
  AttentionArguments a = {};
  a.opId = record.opId;
  a.rows = record.batch * record.heads * record.queries;
  a.batch = static_cast<int32_t>(record.batch);
  a.queries = static_cast<int32_t>(record.queries);
  a.keys = static_cast<int32_t>(record.keys);
  a.heads = static_cast<int32_t>(record.heads);
  a.group = static_cast<int32_t>(record.heads / record.keyHeads);
  a.headSize = static_cast<int32_t>(record.headSize);
  a.causal = record.causal != 0;
  a.scale = static_cast<float>(record.scale);
  a.keepScale = philoxKeepScale(record.dropout);
  a.dropThreshold = philoxDropThreshold(record.dropout);
  if (record.hasBits) {
    a.bitQueryTiles = static_cast<int32_t>(bitQueryTiles(record.queries));
    a.bitKeyTiles = static_cast<int32_t>(bitKeyTiles(record.keys));
  }
  return a;
}

void findVectors(AttentionArguments &a, int64_t dtype,
                 std::initializer_list<HeadsArgument> tensors) {
  int64_t bytes = floatBytes(dtype);
  a.vectors = a.headSize * bytes % 16 == 0 &&
              std::all_of(tensors.begin(), tensors.end(),
                          [&](const HeadsArgument &tensor) {
                            return isAligned(tensor, bytes);
                          });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The variant of a record, and the ids of its documents.
struct Variant : WeftAttentionVariant {
  const int32_t *ids = nullptr;

  explicit Variant(const WeftAttentionVariant &variant)
      : WeftAttentionVariant(variant) {}

  AttentionVariantArguments add(const AttentionArguments &a) const {
    AttentionVariantArguments all = {};
    static_cast<AttentionArguments &>(all) = a;
    all.ids = ids;
    all.window = static_cast<int32_t>(std::min<int64_t>(window, a.keys));
    all.behind = window ? a.keys - a.queries - all.window : -a.queries - 1;
    all.softcap = static_cast<float>(softcap);
    all.inverseSoftcap = softcap == 0.0 ? 0.0f : 1.0f / all.softcap;
    return all;
  }
};

/// A block for each tile of `rows` rows of each of `heads` heads.
void launchTiles(WeftContext &context, const WeftCommand &command,
                 const TileKernel &kernel, int64_t rows, int64_t heads,
                 AttentionArguments a, const Variant &variant) {
  int64_t tiles = countPieces(rows, kernel.rows);
  a.tiles = static_cast<int32_t>(tiles);
  auto launchWith = [&](const auto &arguments) {
    launch(context, command, kernel.name, tiles * heads * kernel.parts,
           kAttentionThreads, kernel.sharedBytes, arguments);
  };
  isVariant(variant) ? launchWith(variant.add(a)) : launchWith(a);
}

/// Optional buffers, behind the required ones.
struct OptionalBuffers {
  bool hasRng;
  const WeftAttentionRecord &record;

  /// Gradients with bits draw nothing.
  static OptionalBuffers get(const WeftAttentionRecord &record,
                             bool isGradient) {
    return {record.dropout > 0.0 && !(isGradient && record.hasBits), record};
  }
  int64_t count(const WeftAttentionVariant &variant) const {
    return hasRng + variant.hasSegments + record.hasBits;
  }
  void take(void *const *buffers, AttentionArguments &a,
            Variant &variant) const {
    if (hasRng)
      a.rng = as<int64_t>(*buffers++);
    if (variant.hasSegments)
      variant.ids = as<int32_t>(*buffers++);
    if (record.hasBits)
      a.bits = as<uint32_t>(*buffers);
  }
};

bool check(WeftContext &context, const WeftCommand &command,
           const OptionalBuffers &optional, const WeftAttentionVariant &variant,
           int64_t numBuffers) {
  const WeftAttentionRecord &record = optional.record;
  return checkAttention(context, command, record, variant) &&
         checkBuffers(context, command, numBuffers + optional.count(variant)) &&
         checkRange(context, command, "headSize", record.headSize, 1,
                    kMostHeadSize);
}

/// With documents, kernels of wide low heads skip tiles of 64 by 32 scores
/// forward and of 32 by 64 in `dk`, which so may read bits of scores that it
/// hides and that the forward kernel has not computed.
bool readsSkippedBits(const WeftAttentionRecord &record,
                      const WeftAttentionVariant &variant) {
  return record.hasBits && variant.hasSegments && record.dtype != WEFT_F32 &&
         cudaHeadWidth(record.headSize) > 64;
}

int64_t countBitBytes(const WeftAttentionRecord &record) {
  return record.batch * record.heads * bitQueryTiles(record.queries) *
         bitKeyTiles(record.keys) * kBitWords * 4;
}

void runForward(WeftContext &context, const WeftCommand &command,
                const WeftAttentionRecord &record, Variant variant,
                void *const *buffers) {
  AttentionArguments a = makeArguments(record);
  a.q = {buffers[0], record.q};
  a.k = {buffers[1], record.k};
  a.v = {buffers[2], record.v};
  a.out = {buffers[3], record.out};
  a.lse = as<float>(buffers[4]);
  OptionalBuffers::get(record, /*isGradient=*/false)
      .take(buffers + 5, a, variant);
  findVectors(a, record.dtype, {a.q, a.k, a.v, a.out});
  if (readsSkippedBits(record, variant))
    fillOnDevice(context, command, a.bits, 0, countBitBytes(record));
  launchTiles(context, command, findKernels(record, variant).forward,
              record.queries, record.batch * record.heads, a, variant);
}

void runBackward(WeftContext &context, const WeftCommand &command,
                 const WeftAttentionGradRecord &record, Variant variant,
                 void *const *buffers, float *delta) {
  const WeftAttentionRecord &forward = record.forward;
  AttentionArguments a = makeArguments(forward);
  a.dout = {buffers[0], record.dout};
  a.q = {buffers[1], forward.q};
  a.k = {buffers[2], forward.k};
  a.v = {buffers[3], forward.v};
  a.out = {buffers[4], forward.out};
  a.lse = as<float>(buffers[5]);
  a.dq = {buffers[6], record.dq};
  a.dk = {buffers[7], record.dk};
  a.dv = {buffers[8], record.dv};
  a.delta = delta;
  OptionalBuffers::get(forward, /*isGradient=*/true)
      .take(buffers + 9, a, variant);
  findVectors(a, forward.dtype,
              {a.dout, a.out, a.q, a.k, a.v, a.dq, a.dk, a.dv});
  const int lanes =
      deltaLanes(cudaHeadWidth(forward.headSize), floatBytes(forward.dtype));
  launch(context, command,
         "weft_attention_delta_" + makeSuffix(forward, variant),
         blocksFor(a.rows, kDeltaThreads / lanes), kDeltaThreads, 0, a);
  TileKernels kernels = findKernels(forward, variant);
  launchTiles(context, command, kernels.keys, forward.keys,
              forward.batch * forward.keyHeads, a, variant);
  launchTiles(context, command, kernels.queries, forward.queries,
              forward.batch * forward.heads, a, variant);
}

} // namespace
} // namespace weft::cuda

using namespace weft;
using namespace weft::cuda;

extern "C" void weft_cuda_attention(WeftContext *context,
                                    const WeftCommand *command,
                                    void *const *buffers) {
  const auto *record = recordOf<WEFT_ATTENTION>(*context, *command);
  if (!record)
    return;
  const Variant variant(variantOf(*record, command->recordBytes));
  if (check(*context, *command,
            OptionalBuffers::get(*record, /*isGradient=*/false), variant, 5))
    runForward(*context, *command, *record, variant, buffers);
}

extern "C" void weft_cuda_attention_grad(WeftContext *context,
                                         const WeftCommand *command,
                                         void *const *buffers) {
  const auto *record = recordOf<WEFT_ATTENTION_GRAD>(*context, *command);
  if (!record)
    return;
  const Variant variant(variantOf(*record, command->recordBytes));
  if (!check(*context, *command,
             OptionalBuffers::get(record->forward, /*isGradient=*/true),
             variant, 9))
    return;
  char *memory = workspaceOf(*context, *command, buffers,
                             cudaAttentionGradWorkspaceBytes(*record));
  if (memory)
    runBackward(*context, *command, *record, variant, buffers,
                reinterpret_cast<float *>(memory));
}
