//===- BlockShares.cpp - Block digests shared by processes ----------------===//

#include "weft/Runtime/Checkpoints/BlockShares.h"

#include <algorithm>
#include <sstream>

using namespace weft;

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
