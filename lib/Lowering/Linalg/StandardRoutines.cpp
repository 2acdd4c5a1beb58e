//===- StandardRoutines.cpp - Routines of every runtime -------------------===//

#include "weft/Lowering/Linalg/StandardRoutines.h"

using namespace mlir;
using namespace weft;

static const LibraryRoutine kRoutines[] = {
    {"weft.matmul", UpToF32},    {"weft.gemm", UpToF32},
    {"weft.attention", UpToF32}, {"weft.attention_grad", UpToF32},
    {"weft.embedding", UpToF32}, {"weft.embedding_grad", UpToF32},
};

ArrayRef<LibraryRoutine> weft::getStandardRoutines() { return kRoutines; }
