//===- TablePools.h - What tables refer to, each once -----------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_TABLE_TABLEPOOLS_H
#define WEFT_LIB_LOWERING_TABLE_TABLEPOOLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constant.h"

#include <string>

namespace weft {

/// All lists of one kind in one array of bytes; equal lists once. Bytes, since
/// they are written out at once: anything else costs time for each element.
template <typename T> class ListPool {
public:
  /// Where the list starts, in elements; 0 for an empty one.
  int64_t get(llvm::ArrayRef<T> list) {
    if (list.empty())
      return 0;
    llvm::StringRef key(reinterpret_cast<const char *>(list.data()),
                        list.size() * sizeof(T));
    auto [known, isNew] = lists.try_emplace(key, bytes.size() / sizeof(T));
    if (isNew)
      bytes.append(key.begin(), key.end());
    return known->second;
  }

  llvm::StringRef getBytes() const { return bytes; }

private:
  std::string bytes;
  llvm::StringMap<int64_t> lists;
};

/// Functions that commands call, each once.
struct FunctionPool {
  llvm::SmallVector<llvm::Constant *> functions;
  llvm::StringMap<int64_t> indices;
};

} // namespace weft

#endif // WEFT_LIB_LOWERING_TABLE_TABLEPOOLS_H
