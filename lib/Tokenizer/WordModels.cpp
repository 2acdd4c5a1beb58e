//===- WordModels.cpp - WordPiece and WordLevel ---------------------------===//

#include "WordModels.h"

#include "Unicode.h"

#include <algorithm>

namespace weft {

bool WordPieceModel::encodeKnown(std::string_view piece,
                                 std::vector<int32_t> &ids) const {
  std::string candidate;
  for (size_t begin = 0; begin < piece.size();) {
    candidate = begin > 0 ? continuingPrefix : "";
    const size_t prefix = candidate.size();
    candidate += piece.substr(begin);
    int32_t id = vocabulary->find(candidate);
    while (id == Vocabulary::kNone) {
      candidate.resize(previousStart(candidate, candidate.size()));
      if (candidate.size() <= prefix)
        return false;
      id = vocabulary->find(candidate);
    }
    ids.push_back(id);
    begin += candidate.size() - prefix;
  }
  return true;
}

Status WordPieceModel::encode(std::string_view piece, Scratch &scratch,
                              std::vector<int32_t> &ids) const {
  const uint64_t hash = hashText(piece);
  if (scratch.cache.find(piece, hash, ids))
    return Status::success();
  const size_t before = ids.size();
  const int64_t characters =
      std::count_if(piece.begin(), piece.end(),
                    [](unsigned char c) { return (c & 0xC0) != 0x80; });
  if (characters > mostCharacters || !encodeKnown(piece, ids)) {
    ids.resize(before);
    ids.push_back(unknown);
  }
  scratch.cache.keep(piece, hash, ids.data() + before, ids.size() - before);
  return Status::success();
}

Status WordLevelModel::encode(std::string_view piece, Scratch &,
                              std::vector<int32_t> &ids) const {
  const int32_t id = vocabulary->find(piece);
  ids.push_back(id == Vocabulary::kNone ? unknown : id);
  return Status::success();
}

} // namespace weft
