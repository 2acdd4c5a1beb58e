//===- GradientDump.cpp - The gradients of all ranks in one file ----------===//
//
// Rank 0 writes one piece of a tensor at a time. Gradients that every rank has
// accumulated by itself are averaged over all ranks, as in the update. Sharded
// gradients are gathered: each rank sends its shard.
//
//===----------------------------------------------------------------------===//

#include "weft/Abi/RankDivisors.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/Safetensors.h"
#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Devices/ArenaBytes.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/StateSegments.h"
#include "weft/Runtime/Run/Gradients.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace weft;

/// Bytes that a rank sends at once.
static constexpr int64_t kPieceBytes = 1 << 20;

namespace {
class GradientDump {
public:
  explicit GradientDump(WeftContext &context) : context(context) {}

  Status write(const std::string &path);

private:
  /// Elements [begin, end) of a gradient.
  struct Piece {
    const NamedTensor &tensor;
    int64_t begin, end;

    int64_t elementBytes() const { return dtypeBytes(tensor.dtype()); }
    int64_t bytes() const { return (end - begin) * elementBytes(); }
    /// The part that a rank holds.
    HeldRange heldBy(int64_t rank) const;
  };

  void open(const std::string &path, const std::vector<NamedTensor> &tensors);
  Status readOwn(const Piece &piece);
  Status takeMean(const Piece &piece);
  Status joinSlices(const Piece &piece);
  Status join(const Piece &piece);
  Status writeTensor(const NamedTensor &tensor);

  WeftContext &context;
  std::vector<char> bytes; // of a piece
  /// The file of rank 0. Other ranks must not wait for it, so its errors are
  /// reported at the end.
  std::optional<SafetensorsWriter> file;
  Status written;
};
} // namespace

HeldRange GradientDump::Piece::heldBy(int64_t rank) const {
  const HeldRange held = weft::heldBy(tensor, rank);
  const int64_t first = std::max(begin, held.begin);
  const int64_t last = std::max(first, std::min(end, held.end));
  return {first, last, held.offset + (first - held.begin) * elementBytes()};
}

void GradientDump::open(const std::string &path,
                        const std::vector<NamedTensor> &tensors) {
  std::vector<TensorSpec> specs;
  for (const NamedTensor &tensor : tensors)
    specs.push_back({tensor.param, tensorTypeOf(tensor.dtype()), tensor.shape});
  auto made =
      SafetensorsWriter::create(path, specs, {{writtenByKey, "gradients"}});
  if (made)
    file = std::move(*made);
  else
    written = made.takeError();
}

/// Reads this rank's elements of the piece; all other elements are zero.
Status GradientDump::readOwn(const Piece &piece) {
  bytes.assign(size_t(piece.bytes()), 0);
  const HeldRange held = piece.heldBy(context.rank());
  char *at = bytes.data() + (held.begin - piece.begin) * piece.elementBytes();
  return readArena(context, held.offset, held.elements() * piece.elementBytes(),
                   [&](const char *data, int64_t part) {
                     std::memcpy(at, data, size_t(part));
                     at += part;
                     return Status::success();
                   });
}

/// Averages over the ranks of a replica and then over replicas; without
/// replicas over all ranks.
Status GradientDump::takeMean(const Piece &piece) {
  const bool hasReplicas = findRanks(context, 2) != nullptr;
  for (int64_t group :
       hasReplicas ? std::vector<int64_t>{2, 1} : std::vector<int64_t>{0}) {
    Communicator &ranks = *findRanks(context, group);
    const double pre = choosePreDivide(ranks.ranks());
    if (Status s = ranks.allReduce(
            bytes.data(), piece.end - piece.begin, piece.tensor.dtype(), pre,
            ranks.ranks() / pre, "the gradient of " + piece.tensor.param);
        !s)
      return s;
  }
  return Status::success();
}

Status GradientDump::joinSlices(const Piece &piece) {
  Communicator &ranks = *findRanks(context, 0);
  std::vector<char> all(bytes.size() * size_t(ranks.ranks()));
  if (Status s =
          ranks.allGather(bytes.data(), all.data(), int64_t(bytes.size()),
                          "the gradient of " + piece.tensor.param);
      !s)
    return s;
  for (int64_t rank = 0; rank < piece.tensor.home->slices; ++rank) {
    const HeldRange held = piece.heldBy(rank);
    const int64_t at = (held.begin - piece.begin) * piece.elementBytes();
    std::memcpy(bytes.data() + at,
                all.data() + rank * int64_t(bytes.size()) + at,
                size_t(held.elements() * piece.elementBytes()));
  }
  return Status::success();
}

Status GradientDump::join(const Piece &piece) {
  if (context.ranks() == 1)
    return Status::success();
  if (!findRanks(context, 0))
    return Error(ExitCode::Communication,
                 "expects rank " + std::to_string(context.rank()) +
                     " in the dump of gradients, but it has left the run");
  return piece.tensor.home->slices == 1 ? takeMean(piece) : joinSlices(piece);
}

Status GradientDump::writeTensor(const NamedTensor &tensor) {
  const int64_t most = kPieceBytes / dtypeBytes(tensor.dtype());
  for (int64_t begin = 0; begin < tensor.elements; begin += most) {
    const Piece piece = {tensor, begin,
                         std::min(begin + most, tensor.elements)};
    if (Status s = readOwn(piece); !s)
      return s;
    if (Status s = join(piece); !s)
      return s;
    if (file && written)
      written = file->write(bytes.data(), int64_t(bytes.size()));
  }
  return Status::success();
}

Status GradientDump::write(const std::string &path) {
  const std::vector<NamedTensor> tensors =
      namedTensors(*context.executable(), WEFT_GRADIENT);
  if (context.rank() == 0)
    open(path, tensors);
  for (const NamedTensor &tensor : tensors)
    if (Status s = writeTensor(tensor); !s)
      return s;
  if (file && written)
    written = file->finish();
  return std::move(written);
}

Status weft::writeGradients(WeftContext &context, const std::string &path) {
  return GradientDump(context).write(path);
}
