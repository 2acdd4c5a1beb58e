//===- Gradients.cpp - Inspecting and changing gradients ------------------===//

#include "weft/Runtime/Run/StepRunner.h"

#include "weft/Abi/RankDivisors.h"
#include "weft/Base/Text.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/Safetensors.h"
#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

using namespace weft;

static std::vector<NamedTensor> gradientsOf(const WeftExecutable &executable) {
  return namedTensors(executable, WEFT_GRADIENT);
}

/// The first element of those held here that is not finite, or -1.
static Expected<int64_t> firstBad(const WeftContext &context,
                                  const NamedTensor &tensor) {
  const HeldRange held = heldBy(tensor, context.rank());
  const int64_t size = dtypeBytes(tensor.dtype());
  int64_t passed = 0, found = -1;
  Status read = readArena(
      context, held.offset, held.elements() * size,
      [&](const char *data, int64_t bytes) {
        for (int64_t at = 0; at < bytes && found < 0; at += size, ++passed)
          if (!std::isfinite(loadNumber(data + at, tensor.dtype())))
            found = held.begin + passed;
        return Status::success();
      });
  if (!read)
    return read.takeError();
  return found;
}

Expected<std::string> weft::findBadGradient(const WeftContext &context) {
  for (const NamedTensor &gradient : gradientsOf(*context.executable())) {
    auto element = firstBad(context, gradient);
    if (!element)
      return element.takeError();
    if (*element >= 0)
      return "the gradient of " + inQuotes(gradient.param) +
             " is not (element " + std::to_string(*element) + ")";
  }
  return std::string();
}

/// Writes the value to the first element.
static Status breakGradient(WeftContext &context, const NamedTensor &gradient,
                            float value) {
  const HeldRange held = heldBy(gradient, context.rank());
  if (held.elements() == 0)
    return Status::success();
  char bytes[8] = {};
  storeNumber(bytes, gradient.dtype(), value);
  return context.device().copyIn(held.offset, bytes,
                                 dtypeBytes(gradient.dtype()));
}

Status weft::spoilGradients(WeftContext &context) {
  for (const NamedTensor &gradient : gradientsOf(*context.executable()))
    if (heldBy(gradient, context.rank()).elements() > 0)
      return breakGradient(context, gradient, std::nanf(""));
  return Status::success();
}

/// The gradient that a fault breaks: of the first parameter whose name matches
/// and, if the fault names a rank, of which that rank holds elements.
static std::optional<NamedTensor> victimOf(const Fault &fault,
                                           const WeftExecutable &executable) {
  for (NamedTensor &gradient : gradientsOf(executable))
    if (fault.matches(gradient.param) &&
        (fault.rank == Fault::kAllRanks ||
         heldBy(gradient, fault.rank).elements() > 0))
      return std::move(gradient);
  return std::nullopt;
}

/// The parameter of which rank `rank` has a part that a fault changes.
static std::optional<NamedTensor>
flippedBy(const Fault &fault, const WeftExecutable &executable, int64_t rank) {
  for (NamedTensor &weight : namedTensors(executable, WEFT_PARAM))
    if (fault.matches(weight.name) && heldBy(weight, rank).elements() > 0)
      return std::move(weight);
  return std::nullopt;
}

Status weft::checkFaults(const WeftExecutable &executable, int64_t ranks,
                         const Faults &faults) {
  auto missing = [](const char *what, const Fault &fault) {
    return usageError("WEFT_FAULT expects a parameter that ", what, " ",
                      inQuotes(fault.pattern), ", but the program has none");
  };
  for (const Fault &fault : faults.all()) {
    if (fault.rank >= ranks)
      return usageError("WEFT_FAULT expects a rank below ", ranks, ", but got ",
                        fault.rank);
    if (fault.kind == Fault::Kind::BadGradient && !victimOf(fault, executable))
      return missing(fault.rank == Fault::kAllRanks
                         ? "is trained and matches"
                         : "is trained, stored on its rank and matches",
                     fault);
    if (fault.kind == Fault::Kind::FlippedBit &&
        !flippedBy(fault, executable, fault.rank))
      return missing("is stored on its rank and matches", fault);
  }
  return Status::success();
}

Status weft::flipWeights(WeftContext &context, const Faults &faults,
                         int64_t step) {
  for (const Fault &fault : faults.all()) {
    if (fault.kind != Fault::Kind::FlippedBit || !fault.happensAt(step) ||
        fault.rank != context.rank())
      continue;
    const int64_t offset =
        heldBy(*flippedBy(fault, *context.executable(), fault.rank), fault.rank)
            .offset;
    char byte = 0;
    if (Status s = context.device().copyOut(&byte, offset, 1); !s)
      return s;
    byte ^= 1;
    if (Status s = context.device().copyIn(offset, &byte, 1); !s)
      return s;
  }
  return Status::success();
}

/// Whether the fault breaks the gradient on `rank`: on the rank that it names,
/// and on its replicas, which hold the same elements. Replicas must stay equal.
static bool breaksOn(const Fault &fault, const NamedTensor &gradient,
                     int64_t rank) {
  if (fault.rank == Fault::kAllRanks)
    return true;
  const HeldRange own = heldBy(gradient, rank),
                  named = heldBy(gradient, fault.rank);
  return own.elements() > 0 && own.begin == named.begin;
}

Status weft::breakGradients(WeftContext &context, const Faults &faults,
                            int64_t step, NanHunt *hunt) {
  for (const Fault &fault : faults.all()) {
    if (fault.kind != Fault::Kind::BadGradient || !fault.happensAt(step))
      continue;
    const std::optional<NamedTensor> victim =
        victimOf(fault, *context.executable());
    if (!breaksOn(fault, *victim, context.rank()))
      continue;
    if (Status s = breakGradient(context, *victim, fault.value); !s)
      return s;
    if (hunt)
      hunt->blame(
          *victim,
          "the gradient of " + inQuotes(victim->param) + " came in with " +
              (std::isnan(fault.value) ? "nan" : "inf") + " in element " +
              std::to_string(heldBy(*victim, context.rank()).begin) +
              ", which WEFT_FAULT put there");
  }
  return Status::success();
}

//===- Files of gradients -------------------------------------------------===//

// Rank 0 writes one piece of a tensor at a time. Gradients that every rank has
// accumulated by itself are averaged over all ranks, as in the update. Sharded
// gradients are gathered: each rank sends its shard.

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
    return leftError(context.rank(), "the dump of gradients");
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
