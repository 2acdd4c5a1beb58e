//===- CudaModels.cpp - CUDA devices by their names -----------------------===//

#include "weft/Pipeline/Options/CudaModels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace weft;

static constexpr CudaModel kModels[] = {
    {"a100", "sm_80", 40},  {"a100-80g", "sm_80", 80},
    {"h100", "sm_90", 80},  {"h100-nvl", "sm_90", 94},
    {"h200", "sm_90", 141}, {"b200", "sm_100", 180},
};

llvm::ArrayRef<llvm::StringRef> weft::cudaModelNames() {
  static const auto names = llvm::to_vector(
      llvm::map_range(kModels, [](const CudaModel &model) -> llvm::StringRef {
        return model.name;
      }));
  return names;
}

const CudaModel *weft::findCudaModel(llvm::StringRef name) {
  const CudaModel *found = llvm::find_if(
      kModels, [&](const CudaModel &model) { return model.name == name; });
  return found == std::end(kModels) ? nullptr : found;
}
