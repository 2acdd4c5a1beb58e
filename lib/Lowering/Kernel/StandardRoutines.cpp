//===- StandardRoutines.cpp - What every runtime has routines for ---------===//

#include "weft/Lowering/Kernel/StandardRoutines.h"

namespace weft {

static const LibraryRoutine kRoutines[] = {
    {"weft.matmul", UpToF32},    {"weft.gemm", UpToF32},
    {"weft.attention", UpToF32}, {"weft.attention_grad", UpToF32},
    {"weft.embedding", UpToF32}, {"weft.embedding_grad", UpToF32},
};

static constexpr unsigned kAdamMoments = 1 << 1 | 1 << 2, kSgdMoments = 1 << 1;

static const LibraryRoutine kFormulas[] = {
    {"weft.cross_entropy", UpToF32},
    {"weft.cross_entropy_grad", UpToF32},
    {"weft.dropout", UpToF32},
    {"weft.random_normal"},
    {"weft.random_uniform"},
    {"weft.norm_and_check", UpToF32, kAllOperands},
    {"weft.total_norm", NoFloat, 0},
    {"weft.clip_coefficient", NoFloat, 0},
    {"weft.step_increment", NoFloat, 0},
    {"weft.scaler_update", NoFloat, 0},
    {"weft.adamw", UpToF32, 4, kAdamMoments},
    {"weft.adam", UpToF32, 4, kAdamMoments},
    {"weft.sgd", UpToF32, 3, kSgdMoments},
};

llvm::ArrayRef<LibraryRoutine> getStandardRoutines() { return kRoutines; }

llvm::ArrayRef<LibraryRoutine> getFormulaRoutines() { return kFormulas; }

} // namespace weft
