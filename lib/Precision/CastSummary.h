//===- CastSummary.h - Table of mixed precision, per block ------*- C++ -*-===//

#ifndef WEFT_LIB_PRECISION_CASTSUMMARY_H
#define WEFT_LIB_PRECISION_CASTSUMMARY_H

#include "weft/Weft/Weft.h"

#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>
#include <string>

namespace weft {

/// Rows of block, op, type and reason. Blocks whose paths differ in one number,
/// the layers of a model, share a row where they are treated alike.
class CastSummary {
public:
  /// An op under the name that overrides find; its operands have their types.
  void add(mlir::Operation *op, llvm::StringRef name, llvm::StringRef why);
  bool isEmpty() const { return rows.empty(); }
  std::string toText() const;

private:
  struct Row {
    std::string block, op, type, why;
    unsigned calls = 0;
    std::set<int64_t> layers;
  };
  std::string nameBlock(const Row &row) const;

  llvm::MapVector<std::string, Row, std::map<std::string, unsigned>> rows;
  /// All layers of a block.
  std::map<std::string, std::set<int64_t>> layers;
};

} // namespace weft

#endif // WEFT_LIB_PRECISION_CASTSUMMARY_H
