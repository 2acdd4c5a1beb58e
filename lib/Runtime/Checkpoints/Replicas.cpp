//===- Replicas.cpp - Comparison of replicas across ranks -----------------===//

#include "weft/Runtime/Checkpoints/Replicas.h"

#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"
#include "weft/Runtime/Collectives/Transport.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <algorithm>
#include <map>

using namespace weft;

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
    if (!isMadeByStep(tensor.kind()) && isShared(tensor, ranks))
      compared.push_back(std::move(tensor));
  return compared;
}

ReplicaCount weft::countReplicas(const WeftExecutable &executable,
                                 int64_t ranks, int64_t rank) {
  ReplicaCount count;
  for (const NamedTensor &tensor : namedTensors(executable))
    count.all += !isMadeByStep(tensor.kind());
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
    return Error(ExitCode::Communication,
                 "after step " + std::to_string(step) + ": expects tensor " +
                     inQuotes(tensor.name) +
                     " to have one digest on all ranks that hold it, but got " +
                     got)
        .hint("the memory or the processor of a rank may be faulty; go on from "
              "a checkpoint before that step");
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
