//===- InitAll.cpp - Registration of everything ---------------------------===//

#include "weft/Pipeline/Driver/InitAll.h"

#include "weft/Autodiff/Passes.h"
#include "weft/Dist/Dist.h"
#include "weft/Frontend/Passes.h"
#include "weft/Fusion/Passes.h"
#include "weft/Interp/Interp.h"
#include "weft/Lowering/Plan/Passes.h"
#include "weft/Memory/Passes.h"
#include "weft/Pipeline/Driver/Passes.h"
#include "weft/Pipeline/Metadata/Passes.h"
#include "weft/Pipeline/Targets/Target.h"
#include "weft/Plan/Plan.h"
#include "weft/Precision/Passes.h"
#include "weft/Schedule/Passes.h"
#include "weft/Sharding/Passes.h"
#include "weft/Training/Passes.h"
#include "weft/Verify/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace weft;

void weft::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<WeftDialect, dist::DistDialect, plan::PlanDialect>();
  registerAutodiffModels(registry);
  registerFusionModels(registry);
  registerCollectiveCommands(registry);
  for (const TargetKind &kind : targetKinds())
    kind.registerDialects(registry);
  registerInterpreter(registry);
}

void weft::registerAllPasses() {
  mlir::registerTransformsPasses();
  registerAutodiffPasses();
  registerFrontendPasses();
  registerFusionPasses();
  registerLoweringPlanPasses();
  registerMemoryPasses();
  registerPrecisionPasses();
  registerSchedulePasses();
  registerShardingPasses();
  registerPipelineDriverPasses();
  registerPipelineMetadataPasses();
  registerTrainingPasses();
  registerVerifyPasses();
  for (const TargetKind &kind : targetKinds())
    kind.registerPasses();
}
