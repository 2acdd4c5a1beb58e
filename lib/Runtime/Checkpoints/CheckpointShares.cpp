//===- CheckpointShares.cpp - Distribution of checkpoint writes -----------===//

#include "weft/Runtime/Checkpoints/CheckpointShares.h"

#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"
#include "weft/Runtime/Collectives/Transport.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <tuple>

using namespace weft;

/// Smaller ranges are never split between ranks.
static constexpr int64_t kLeastCutBytes = 64 << 10;

namespace {
/// Elements of a tensor with replicas on `holders` ranks: `first`, `first` +
/// `step` and so on.
struct CommonRange {
  size_t tensor;
  int64_t begin, end, bytes;
  int64_t first, step, holders;
};

/// Assigns ranges to ranks.
class Shares {
public:
  Shares(const std::vector<NamedTensor> &saved, int64_t ranks);
  std::vector<std::vector<WrittenPiece>> take();

private:
  void give(const CommonRange &range, int64_t rank, int64_t begin, int64_t end);
  void cut(const CommonRange &range);
  void giveToLeast(const CommonRange &range);

  std::vector<CommonRange> ranges;
  std::vector<std::vector<WrittenPiece>> pieces;
  std::vector<int64_t> bytesOf; // by rank
};
} // namespace

Shares::Shares(const std::vector<NamedTensor> &saved, int64_t ranks)
    : pieces(saved.size()), bytesOf(size_t(ranks)) {
  for (size_t i = 0; i < saved.size(); ++i) {
    const int64_t slices = slicesOf(*saved[i].home);
    for (int64_t slice = 0; slice < slices; ++slice)
      if (const HeldRange held = heldBy(saved[i], slice); held.elements() > 0)
        ranges.push_back({i, held.begin, held.end,
                          held.elements() * dtypeBytes(saved[i].dtype()), slice,
                          slices, ranks / slices});
  }
}

void Shares::give(const CommonRange &range, int64_t rank, int64_t begin,
                  int64_t end) {
  if (begin == end)
    return;
  pieces[range.tensor].push_back({rank, begin, end});
  bytesOf[size_t(rank)] +=
      range.bytes / (range.end - range.begin) * (end - begin);
}

void Shares::cut(const CommonRange &range) {
  const int64_t count = range.end - range.begin;
  for (int64_t i = 0; i < range.holders; ++i)
    give(range, range.first + i * range.step,
         range.begin + count * i / range.holders,
         range.begin + count * (i + 1) / range.holders);
}

void Shares::giveToLeast(const CommonRange &range) {
  int64_t least = range.first;
  for (int64_t i = 1; i < range.holders; ++i)
    if (const int64_t rank = range.first + i * range.step;
        bytesOf[size_t(rank)] < bytesOf[size_t(least)])
      least = rank;
  give(range, least, range.begin, range.end);
}

/// Large ranges are split between their holders, and a range with one holder
/// goes to it. The others follow from the largest, each to the holder with the
/// fewest bytes.
std::vector<std::vector<WrittenPiece>> Shares::take() {
  const int64_t all = std::accumulate(
      ranges.begin(), ranges.end(), int64_t(0),
      [](int64_t sum, const CommonRange &range) { return sum + range.bytes; });
  const int64_t most =
      std::max(kLeastCutBytes, all / int64_t(bytesOf.size()) / 4);
  std::vector<CommonRange> whole;
  for (const CommonRange &range : ranges)
    if (range.holders == 1 || range.bytes > most)
      cut(range);
    else
      whole.push_back(range);
  std::sort(whole.begin(), whole.end(),
            [](const CommonRange &a, const CommonRange &b) {
              return std::make_tuple(-a.bytes, a.tensor, a.begin) <
                     std::make_tuple(-b.bytes, b.tensor, b.begin);
            });
  for (const CommonRange &range : whole)
    giveToLeast(range);
  for (std::vector<WrittenPiece> &ofTensor : pieces)
    std::sort(ofTensor.begin(), ofTensor.end(),
              [](const WrittenPiece &a, const WrittenPiece &b) {
                return a.begin < b.begin;
              });
  return std::move(pieces);
}

std::vector<std::vector<WrittenPiece>>
weft::shareWrites(const std::vector<NamedTensor> &saved, int64_t ranks) {
  return Shares(saved, ranks).take();
}

HeldRange weft::placeOf(const NamedTensor &tensor, const WrittenPiece &piece) {
  const HeldRange held = heldBy(tensor, piece.rank);
  return {piece.begin, piece.end,
          held.offset +
              (piece.begin - held.begin) * dtypeBytes(tensor.dtype())};
}

//===- Shares of digests --------------------------------------------------===//

std::string weft::shareText(const std::vector<BlockDigests> &files) {
  std::string text;
  for (const BlockDigests &blocks : files) {
    for (const std::string &digest : blocks)
      text += digest + ",";
    text += "\n";
  }
  return text;
}

static BlockDigests parseLine(const std::string &line) {
  BlockDigests blocks;
  std::istringstream parts(line);
  for (std::string digest; std::getline(parts, digest, ',');)
    blocks.push_back(digest);
  return blocks;
}

/// Adds the digests of one process. False if one differs from a known digest.
static bool addBlocks(BlockDigests &all, const BlockDigests &blocks) {
  bool fits = true;
  all.resize(std::max(all.size(), blocks.size()));
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (all[i].empty())
      all[i] = blocks[i];
    fits &= blocks[i].empty() || blocks[i] == all[i];
  }
  return fits;
}

JoinedShares weft::joinShares(const std::vector<std::string> &shares) {
  JoinedShares joined;
  for (const std::string &share : shares) {
    std::istringstream lines(share);
    size_t file = 0;
    for (std::string line; std::getline(lines, line); ++file) {
      joined.files.resize(std::max(joined.files.size(), file + 1));
      const bool fits = addBlocks(joined.files[file], parseLine(line));
      if (!fits && (!joined.different || file < *joined.different))
        joined.different = file;
    }
  }
  return joined;
}

//===- Replicas -----------------------------------------------------------===//

/// Hexadecimal digits of a digest.
static constexpr size_t kDigits = 16;

/// Whether a shard of the tensor has replicas on several of `ranks` ranks.
static bool isShared(const NamedTensor &tensor, int64_t ranks) {
  return slicesOf(*tensor.home) < ranks;
}

static std::vector<NamedTensor> comparedTensors(const WeftExecutable &all,
                                                int64_t ranks) {
  std::vector<NamedTensor> compared;
  for (NamedTensor &tensor : namedTensors(all))
    if (!isScratch(tensor.kind()) && isShared(tensor, ranks))
      compared.push_back(std::move(tensor));
  return compared;
}

ReplicaCount weft::countReplicas(const WeftExecutable &executable,
                                 int64_t ranks, int64_t rank) {
  ReplicaCount count;
  for (const NamedTensor &tensor : namedTensors(executable))
    count.all += !isScratch(tensor.kind());
  for (const NamedTensor &tensor : comparedTensors(executable, ranks)) {
    ++count.shared;
    count.weights += tensor.kind() == WEFT_PARAM;
    count.bytes += heldBy(tensor, rank).elements() * dtypeBytes(tensor.dtype());
  }
  return count;
}

/// The concatenated digests of this rank's shards of the tensors.
static Expected<std::string>
digestsOf(const WeftContext &context, const std::vector<NamedTensor> &tensors) {
  std::string digests;
  for (const NamedTensor &tensor : tensors) {
    const HeldRange held = heldBy(tensor, context.rank());
    Digest digest;
    Status read = readArena(context, held.offset,
                            held.elements() * dtypeBytes(tensor.dtype()),
                            [&](const char *data, int64_t bytes) {
                              digest.update(data, size_t(bytes));
                              return Status::success();
                            });
    if (!read)
      return read.takeError();
    digests += hex64(digest.value64());
  }
  return digests;
}

/// Groups ranks `first`, `first` + `slices`, ... by their digest of tensor `i`.
/// Larger groups come first; equal sizes are in the order of their lowest rank.
static std::vector<std::pair<std::string, std::vector<int>>>
digestGroups(const std::vector<std::string> &digests, size_t i, size_t first,
             size_t slices) {
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (size_t rank = first; rank < digests.size(); rank += slices) {
    const std::string own = digests[rank].substr(i * kDigits, kDigits);
    auto known = std::find_if(groups.begin(), groups.end(),
                              [&](auto &group) { return group.first == own; });
    if (known == groups.end())
      known = groups.insert(known, {own, {}});
    known->second.push_back(int(rank));
  }
  std::sort(groups.begin(), groups.end(), [](auto &a, auto &b) {
    return a.second.size() != b.second.size()
               ? a.second.size() > b.second.size()
               : a.second < b.second;
  });
  return groups;
}

static Status compareTensor(const NamedTensor &tensor, size_t i, int64_t step,
                            const std::vector<std::string> &digests) {
  const size_t slices = size_t(slicesOf(*tensor.home));
  for (size_t slice = 0; slice < slices; ++slice) {
    const auto groups = digestGroups(digests, i, slice, slices);
    if (groups.size() < 2)
      continue;
    std::string got;
    for (const auto &[digest, ranks] : groups)
      got += (got.empty() ? "" : " and ") + digest + " on " + rankList(ranks);
    return communicationError(
               "after step ", step, ": expects tensor ", inQuotes(tensor.name),
               " to have one digest on all ranks that store it, but got ", got)
        .hint("the memory or the processor of a rank may be faulty; resume "
              "from a checkpoint before that step");
  }
  return Status::success();
}

Status weft::compareReplicas(const WeftContext &context, Consensus &consensus,
                             int64_t step) {
  const auto tensors = comparedTensors(*context.executable(), context.ranks());
  auto own = digestsOf(context, tensors);
  Status status = own ? Status::success() : Status(own.takeError());
  Vote vote = voteAt({Place::Replicas, step}, status, status ? *own : "");
  vote.doneStep = step;
  const Decision all = consensus.reach(vote);
  if (all.failed())
    return errorOf(all, consensus, std::move(status));
  // All ranks compare the same texts and get the same result.
  for (size_t i = 0; i < tensors.size(); ++i)
    if (Status s = compareTensor(tensors[i], i, step, all.texts); !s)
      return s.takeError().saidBy(consensus.rank() == 0).ofAllProcesses();
  return Status::success();
}
