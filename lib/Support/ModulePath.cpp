//===- ModulePath.cpp - Paths of modules in a model -----------------------===//

#include "weft/Support/ModulePath.h"

#include <algorithm>

using namespace llvm;

static bool isNumber(StringRef word) {
  return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
}

StringRef weft::getBlock(StringRef path) {
  for (size_t end = 0; end < path.size();) {
    size_t begin = end == 0 ? 0 : end + 1;
    end = std::min(path.find('.', begin), path.size());
    if (isNumber(path.slice(begin, end)))
      return path.take_front(end);
  }
  return {};
}

StringRef weft::getUnit(StringRef path) {
  StringRef block = getBlock(path);
  return block.empty() ? path : block;
}
