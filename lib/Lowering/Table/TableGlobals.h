//===- TableGlobals.h - Constants of a module of LLVM -----------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_TABLE_TABLEGLOBALS_H
#define WEFT_LIB_LOWERING_TABLE_TABLEGLOBALS_H

#include "weft/Lowering/Table/Tables.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constant.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"

#include <string>
#include <vector>

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

/// Writes the tables as constant globals that nothing else refers to.
class TableGlobals {
public:
  using Constant = llvm::Constant;

  explicit TableGlobals(llvm::Module &output);

  Constant *int32(int64_t value);
  Constant *int64(int64_t value);
  /// Null for no bytes.
  Constant *bytes(llvm::StringRef content, llvm::StringRef name);
  template <typename T>
  Constant *bytes(const std::vector<T> &list, llvm::StringRef name) {
    return bytes(llvm::StringRef(reinterpret_cast<const char *>(list.data()),
                                 list.size() * sizeof(T)),
                 name);
  }
  /// A declaration: WeftKernelFn or WeftLibraryFn.
  Constant *function(llvm::StringRef name, bool isKernel);
  Constant *functionArray(const FunctionPool &pool, llvm::StringRef name);
  /// WeftImage of each image; their code has a section for each chip.
  Constant *images(llvm::ArrayRef<DeviceImage> list);
  Constant *metadata(llvm::StringRef json);
  /// The one global that the outside knows.
  void structure(llvm::ArrayRef<Constant *> fields, llvm::StringRef name);

private:
  llvm::GlobalVariable *global(Constant *value, llvm::StringRef name);
  Constant *image(const DeviceImage &image);

  llvm::Module &output;
  llvm::LLVMContext &context;
  llvm::PointerType *pointer;
};

} // namespace weft

#endif // WEFT_LIB_LOWERING_TABLE_TABLEGLOBALS_H
