//===- UnigramModel.cpp - The most likely tokens --------------------------===//

#include "UnigramModel.h"

#include "Unicode.h"

#include "weft/Base/Results.h"

#include <algorithm>

namespace weft {

//===----------------------------------------------------------------------===//
// TokenTrie
//===----------------------------------------------------------------------===//

namespace {
/// Tokens [begin, end) of a sorted list, which share `depth` bytes.
struct Range {
  int32_t node;
  size_t begin, end, depth;
};
} // namespace

TokenTrie::TokenTrie(const Vocabulary &vocabulary, std::vector<int32_t> ids) {
  std::sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
    return vocabulary.text(a) < vocabulary.text(b);
  });
  nodes.emplace_back();
  std::vector<Range> ranges{{0, 0, ids.size(), 0}};
  for (size_t next = 0; next < ranges.size(); ++next) {
    Range range = ranges[next];
    while (range.begin < range.end &&
           vocabulary.text(ids[range.begin]).size() == range.depth)
      nodes[size_t(range.node)].id = ids[range.begin++];
    if (range.depth == 0)
      nodes[0].id = Vocabulary::kNone;
    nodes[size_t(range.node)].first = int32_t(nodes.size());
    for (size_t at = range.begin; at < range.end;) {
      const char label = vocabulary.text(ids[at])[range.depth];
      const size_t begin = at;
      while (at < range.end && vocabulary.text(ids[at])[range.depth] == label)
        ++at;
      ranges.push_back({int32_t(nodes.size()), begin, at, range.depth + 1});
      nodes.emplace_back();
      nodes.back().label = static_cast<unsigned char>(label);
      ++nodes[size_t(range.node)].count;
    }
  }
}

int32_t TokenTrie::child(int32_t node, unsigned char label) const {
  int32_t first = nodes[size_t(node)].first;
  int32_t count = nodes[size_t(node)].count;
  while (count > 0) {
    const int32_t middle = first + count / 2;
    const unsigned char found = nodes[size_t(middle)].label;
    if (found == label)
      return middle;
    if (found < label) {
      count -= middle + 1 - first;
      first = middle + 1;
    } else {
      count /= 2;
    }
  }
  return -1;
}

//===----------------------------------------------------------------------===//
// UnigramModel
//===----------------------------------------------------------------------===//

static std::vector<int32_t> candidates(const Vocabulary &vocabulary,
                                       const UnigramOptions &options) {
  std::vector<int32_t> ids;
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    if (vocabulary.has(id) &&
        (options.isCandidate.empty() || options.isCandidate[size_t(id)]))
      ids.push_back(id);
  return ids;
}

UnigramModel::UnigramModel(std::shared_ptr<const Vocabulary> words,
                           std::vector<double> values, UnigramOptions given)
    : vocabulary(std::move(words)), scores(std::move(values)),
      options(std::move(given)),
      trie(*vocabulary, candidates(*vocabulary, options)) {
  double least = 0;
  bool isFirst = true;
  for (size_t id = 0; id < scores.size(); ++id) {
    if (!options.isCandidate.empty() && !options.isCandidate[id])
      continue;
    least = isFirst ? scores[id] : std::min(least, scores[id]);
    isFirst = false;
  }
  unknownScore = least - 10; // as in libsentencepiece
}

/// Fills the best path to each byte: the sum of scores is the largest, and of
/// equal ones the first is kept.
Status UnigramModel::findPath(std::string_view piece,
                              std::vector<PathNode> &path) const {
  path.assign(piece.size() + 1, PathNode());
  for (size_t at = 0; at < piece.size();) {
    const double before = path[at].score;
    const size_t character = sequenceLength(piece[at]);
    bool hasSingle = false;
    auto offer = [&](size_t length, int32_t id, double score) {
      PathNode &end = path[at + length];
      double sum = score + before;
      if (options.addsSingles)
        sum = float(float(score) + float(before));
      if (end.begin < 0 || sum > end.score)
        end = {sum, int64_t(at), id};
    };
    trie.forPrefixes(piece.substr(at), [&](size_t length, int32_t id) {
      offer(length, id, scores[size_t(id)]);
      hasSingle |= length == character;
    });
    if (!hasSingle) {
      if (options.unknown == Vocabulary::kNone)
        return inputError("expects text of known tokens, because the model "
                          "has no unknown token, but got ",
                          inQuotes(piece.substr(at, character)));
      offer(character, options.unknown, unknownScore);
    }
    at += character;
  }
  return Status::success();
}

/// Unknown text is one token, or the tokens of its bytes.
void UnigramModel::addUnknown(std::string_view text,
                              std::vector<int32_t> &ids) const {
  const size_t before = ids.size();
  if (const int32_t id = vocabulary->find(text); id != Vocabulary::kNone) {
    ids.push_back(id);
    return;
  }
  for (char c : text) {
    const int32_t id =
        options.hasByteFallback
            ? vocabulary->find(byteToken(static_cast<unsigned char>(c)))
            : Vocabulary::kNone;
    if (id == Vocabulary::kNone) {
      ids.resize(before);
      ids.push_back(options.unknown);
      return;
    }
    ids.push_back(id);
  }
}

Status UnigramModel::encode(std::string_view piece, Scratch &scratch,
                            std::vector<int32_t> &ids) const {
  const uint64_t hash = hashText(piece);
  if (scratch.cache.find(piece, hash, ids))
    return Status::success();
  if (Status status = findPath(piece, scratch.path); !status)
    return status;
  std::vector<int32_t> &ends = scratch.merged;
  ends.clear();
  for (size_t at = piece.size(); at > 0; at = size_t(scratch.path[at].begin))
    ends.push_back(int32_t(at));
  const size_t before = ids.size();
  for (size_t i = ends.size(); i-- > 0;) {
    const PathNode &node = scratch.path[size_t(ends[i])];
    if (node.id != options.unknown) {
      ids.push_back(node.id);
      continue;
    }
    while (i > 0 && scratch.path[size_t(ends[i - 1])].id == options.unknown)
      --i; // neighbours are one
    addUnknown(
        piece.substr(size_t(node.begin), size_t(ends[i]) - size_t(node.begin)),
        ids);
  }
  scratch.cache.keep(piece, hash, ids.data() + before, ids.size() - before);
  return Status::success();
}

} // namespace weft
