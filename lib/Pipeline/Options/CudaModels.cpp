//===- CudaModels.cpp - CUDA devices by their names -----------------------===//

#include "weft/Pipeline/Options/CudaModels.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;

// The names are the choices of --device.
static constexpr CudaModel kModels[] = {
    {"a100", "sm_80", 40},  {"a100-80g", "sm_80", 80},
    {"h100", "sm_90", 80},  {"h100-nvl", "sm_90", 94},
    {"h200", "sm_90", 141}, {"b200", "sm_100", 180},
};

const CudaModel *weft::findCudaModel(llvm::StringRef name) {
  const CudaModel *found = llvm::find_if(
      kModels, [&](const CudaModel &model) { return model.name == name; });
  return found == std::end(kModels) ? nullptr : found;
}

int64_t weft::findLeastMemory(llvm::StringRef chip) {
  int64_t least = 0;
  for (const CudaModel &model : kModels)
    if (model.chip == chip)
      least = least == 0 ? model.visibleBytes()
                         : std::min(least, model.visibleBytes());
  return least;
}

bool weft::hasCudnnRoutines() {
#ifdef WEFT_HAS_CUDNN
  return true;
#else
  return false;
#endif
}
