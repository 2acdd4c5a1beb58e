//===- InitAll.cpp - Registration of everything ---------------------------===//

#include "weft/Pipeline/InitAll.h"

#include "weft/Autodiff/Passes.h"
#include "weft/Frontend/Passes.h"
#include "weft/Kernels/Passes.h"
#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Lowering/Plan/Passes.h"
#include "weft/Memory/Passes.h"
#include "weft/Pipeline/Passes.h"
#include "weft/Plan/Plan.h"
#include "weft/Precision/Passes.h"
#include "weft/Schedule/Passes.h"
#include "weft/Training/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace weft;

void weft::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<WeftDialect, plan::PlanDialect>();
  registerAutodiffModels(registry);
  registerKernelsModels(registry);
  registerLoweringCpuModels(registry);
}

void weft::registerAllPasses() {
  mlir::registerTransformsPasses();
  registerAutodiffPasses();
  registerFrontendPasses();
  registerKernelsPasses();
  registerLoweringCpuPasses();
  registerLoweringPlanPasses();
  registerMemoryPasses();
  registerPrecisionPasses();
  registerSchedulePasses();
  registerWeftPipelinePasses();
  registerTrainingPasses();
}
