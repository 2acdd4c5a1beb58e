//===- RoutineModels.h - Shared parts of the models of commands -*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_TABLE_ROUTINEMODELS_H
#define WEFT_LIB_LOWERING_TABLE_ROUTINEMODELS_H

#include "weft/Lowering/Table/Routines.h"

#include <cstring>
#include <type_traits>

namespace weft {

inline mlir::MemRefType getBufferType(mlir::Value buffer) {
  return llvm::cast<mlir::MemRefType>(buffer.getType());
}
inline int32_t getDType(mlir::Value buffer) {
  return getDType(getBufferType(buffer).getElementType());
}
inline int64_t getCount(mlir::Value buffer) {
  return getBufferType(buffer).getNumElements();
}

/// Appends a record or an entry of its list.
template <typename T> void append(RecordWords &words, const T &value) {
  constexpr size_t bytes = std::is_empty_v<T> ? 0 : sizeof(T);
  static_assert(std::is_trivially_copyable_v<T> && bytes % 8 == 0,
                "a record has no padding");
  size_t end = words.size();
  words.resize(end + bytes / 8);
  std::memcpy(words.data() + end, &value, bytes);
}

/// The model of `OpT` whose record `Model::get` makes.
template <typename Model, typename OpT, WeftCommandKind Kind>
struct RoutineModel : RoutineOpInterface::ExternalModel<Model, OpT> {
  WeftCommandKind getKind(mlir::Operation *) const { return Kind; }
  llvm::LogicalResult makeRecord(mlir::Operation *op,
                                 RecordWords &words) const {
    auto record = Model::get(llvm::cast<OpT>(op));
    if (failed(record))
      return llvm::failure();
    append(words, *record);
    return llvm::success();
  }
};

void attachCollectiveModels(mlir::MLIRContext *context);
void attachMatrixModels(mlir::MLIRContext *context);
void attachValueModels(mlir::MLIRContext *context);

} // namespace weft

#endif // WEFT_LIB_LOWERING_TABLE_ROUTINEMODELS_H
