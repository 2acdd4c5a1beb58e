//===- KernelsAhead.cpp - Kernel compilation in a thread ------------------===//

#include "KernelsAhead.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ThreadPool.h"

#include <thread>

using namespace mlir;
using namespace weft;

std::unique_ptr<KernelsAhead>
KernelsAhead::start(ModuleOp module, const KernelCompiler &compiler,
                    const FlagValues &flags) {
  MLIRContext *context = module.getContext();
  // With one thread, waiting for the pool would block its only worker.
  if (!context->isMultithreadingEnabled() ||
      context->getThreadPool().getMaxConcurrency() < 2)
    return nullptr;
  std::unique_ptr<KernelsAhead> ahead(
      new KernelsAhead(module, compiler, flags));
  ahead->thread = context->getThreadPool().async([all = ahead.get()] {
    all->run(all->lowering, [all] { return all->lower(); });
    all->run(all->emission, [all] { return all->emit(); });
  });
  return ahead;
}

/// Fingerprints that show whether kernels have changed.
static std::vector<OperationFingerPrint> getFingerPrints(ModuleOp module) {
  std::vector<OperationFingerPrint> prints;
  for (auto kernel : module.getOps<KernelOp>())
    prints.emplace_back(kernel);
  return prints;
}

KernelsAhead::KernelsAhead(ModuleOp module, const KernelCompiler &compiler,
                           const FlagValues &flags)
    : compiler(compiler), originals(getFingerPrints(module)),
      passes(module.getContext(), ModuleOp::getOperationName()),
      kernels(ModuleOp::create(module.getLoc())) {
  OpBuilder builder = OpBuilder::atBlockEnd(kernels->getBody());
  for (auto kernel : module.getOps<KernelOp>())
    builder.clone(*kernel);
  compiler.addPasses(flags, passes);
  // Dialects must not be loaded while other threads use the context.
  DialectRegistry dialects;
  passes.getDependentDialects(dialects);
  module.getContext()->appendDialectRegistry(dialects);
  module.getContext()->loadAllAvailableDialects();
  passes.enableVerifier(false);
}

KernelsAhead::~KernelsAhead() {
  isUnwanted = true;
  thread.wait();
}

//===----------------------------------------------------------------------===//
// In the thread
//===----------------------------------------------------------------------===//

/// Collects the diagnostics of the work. wait() emits them in the caller's
/// thread.
void KernelsAhead::run(Step &step, llvm::function_ref<LogicalResult()> work) {
  {
    ScopedDiagnosticHandler handler(
        kernels->getContext(),
        [&, thread = std::this_thread::get_id()](Diagnostic &each) {
          if (std::this_thread::get_id() != thread)
            return failure();
          step.diagnostics.push_back(std::move(each));
          return success();
        });
    step.result = work();
  }
  step.promise.set_value();
}

LogicalResult KernelsAhead::lower() {
  // Verify kernels sequentially: waiting for the pool inside one of its threads
  // would run tasks of the caller.
  for (Operation &kernel : *kernels->getBody())
    if (failed(mlir::verify(&kernel)))
      return failure();
  return passes.run(*kernels);
}

LogicalResult KernelsAhead::emit() {
  if (failed(lowering.result) || isUnwanted)
    return failure();
  FailureOr<std::vector<char>> made = compiler.emit(*kernels);
  if (succeeded(made))
    object = std::move(*made);
  return made;
}

//===----------------------------------------------------------------------===//
// In the caller's thread
//===----------------------------------------------------------------------===//

LogicalResult KernelsAhead::wait(Step &step) {
  step.done.wait();
  for (Diagnostic &each : step.diagnostics)
    kernels->getContext()->getDiagEngine().emit(std::move(each));
  step.diagnostics.clear();
  return step.result;
}

LogicalResult KernelsAhead::replaceKernels(ModuleOp module) {
  if (failed(wait(lowering)))
    return failure();
  if (getFingerPrints(module) != originals)
    return module.emitError("expects kernels that stay as they were behind the "
                            "phase fuse, where their code was begun");
  auto old = llvm::to_vector(module.getOps<KernelOp>());
  if (old.empty())
    return success();
  OpBuilder builder(old.front());
  // The thread may still read them.
  for (Operation &function : *kernels->getBody())
    builder.clone(function);
  for (KernelOp kernel : old)
    kernel.erase();
  return success();
}

FailureOr<std::vector<char>> KernelsAhead::takeObject() {
  if (failed(wait(emission)))
    return failure();
  return std::move(object);
}
