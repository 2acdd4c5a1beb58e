//===- CublasLtFields.cpp - Attributes of the emulated cuBLASLt -----------===//

#include "CublasLtObjects.h"

#include <cstddef>

namespace weft::emulation {

#define WEFT_FIELD(attribute, Struct, member)                                  \
  case attribute: {                                                            \
    static constexpr Field field = {offsetof(Struct, member),                  \
                                    sizeof(Struct::member)};                   \
    return &field;                                                             \
  }

const Field *fieldOf(cublasLtMatmulDescAttributes_t attribute) {
  switch (static_cast<int>(attribute)) {
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, Operation, computeType)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_SCALE_TYPE, Operation, scaleType)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_POINTER_MODE, Operation, pointerMode)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_TRANSA, Operation, transA)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_TRANSB, Operation, transB)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_TRANSC, Operation, transC)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE, Operation, epilogue)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_BIAS_POINTER, Operation, bias)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, Operation, biasStride)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, Operation, biasType)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, Operation, aux)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, Operation, auxLd)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, Operation,
               auxStride)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, Operation, auxType)
    WEFT_FIELD(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, Operation, processors)
  }
  return nullptr;
}

const Field *fieldOf(cublasLtMatrixLayoutAttribute_t attribute) {
  switch (static_cast<int>(attribute)) {
    WEFT_FIELD(CUBLASLT_MATRIX_LAYOUT_TYPE, Layout, type)
    WEFT_FIELD(CUBLASLT_MATRIX_LAYOUT_ORDER, Layout, order)
    WEFT_FIELD(CUBLASLT_MATRIX_LAYOUT_ROWS, Layout, rows)
    WEFT_FIELD(CUBLASLT_MATRIX_LAYOUT_COLS, Layout, columns)
    WEFT_FIELD(CUBLASLT_MATRIX_LAYOUT_LD, Layout, ld)
    WEFT_FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, Layout, batch)
    WEFT_FIELD(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, Layout, stride)
  }
  return nullptr;
}

const Field *fieldOf(cublasLtMatmulPreferenceAttributes_t attribute) {
  switch (static_cast<int>(attribute)) {
    WEFT_FIELD(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, Preference,
               workspaceBytes)
    WEFT_FIELD(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, Preference, schemes)
    WEFT_FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, Preference,
               alignmentA)
    WEFT_FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Preference,
               alignmentB)
    WEFT_FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, Preference,
               alignmentC)
    WEFT_FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, Preference,
               alignmentD)
  }
  return nullptr;
}

} // namespace weft::emulation
