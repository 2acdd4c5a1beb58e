//===- EmitPtx.cpp - Kernels as PTX ---------------------------------------===//

#include "weft/Lowering/Cuda/DeviceCode.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Lowering/Linalg/LlvmCode.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <mutex>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

namespace {
/// A kind of device, and the version of PTX that knows it.
struct Chip {
  StringLiteral name, ptx;
};
} // namespace

static constexpr Chip kChips[] = {
    {"sm_80", "+ptx80"}, {"sm_90", "+ptx80"}, {"sm_100", "+ptx86"}};

FailureOr<CudaTarget> CudaTarget::parse(StringRef text, std::string &error) {
  StringRef name = text;
  if (name.consume_front("cuda:"))
    for (const Chip &chip : kChips)
      if (name == chip.name)
        return CudaTarget{name.str()};
  error = "expects the target cuda:sm_80, cuda:sm_90 or cuda:sm_100, but got " +
          text.str();
  return failure();
}

FailureOr<SmallVector<CudaTarget>> weft::parseCudaTargets(StringRef text,
                                                          std::string &error) {
  SmallVector<StringRef> names;
  text.split(names, ',');
  SmallVector<CudaTarget> devices;
  for (StringRef name : names) {
    // The kind stands before the first one.
    bool isFirst = name.data() == text.data();
    FailureOr<CudaTarget> device =
        CudaTarget::parse(isFirst ? name.str() : ("cuda:" + name).str(), error);
    if (failed(device)) {
      if (names.size() > 1)
        error = "expects the chips sm_80, sm_90 or sm_100, but got '" +
                name.str() + "' in " + text.str();
      return failure();
    }
    devices.push_back(*device);
  }
  llvm::sort(devices, [](const CudaTarget &a, const CudaTarget &b) {
    return a.getNumber() < b.getNumber();
  });
  for (size_t i = 1; i < devices.size(); ++i)
    if (devices[i].chip == devices[i - 1].chip) {
      error = "expects each chip once, but got " + devices[i].chip +
              " twice in " + text.str();
      return failure();
    }
  return devices;
}

std::string weft::joinChips(ArrayRef<CudaTarget> devices) {
  return llvm::join(
      llvm::map_range(devices,
                      [](const CudaTarget &device) { return device.chip; }),
      ",");
}

int64_t CudaTarget::getNumber() const {
  int64_t number = 0;
  StringRef(chip).drop_front(StringRef("sm_").size()).getAsInteger(10, number);
  return number;
}

static void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine>
weft::createDeviceMachine(ModuleOp module, const CudaTarget &target) {
  initializeTarget();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *llvmTarget =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget) {
    module.emitError("has no code generator: ") << error;
    return nullptr;
  }
  const Chip *chip = llvm::find_if(
      kChips, [&](const Chip &known) { return known.name == target.chip; });
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(llvmTarget->createTargetMachine(
      triple, target.chip, chip->ptx, options, std::nullopt, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

//===----------------------------------------------------------------------===//
// LLVM IR
//===----------------------------------------------------------------------===//

/// A function of libdevice that the code calls and does not have, or "".
static std::string findCallOfLibdevice(const llvm::Module &code) {
  for (const llvm::Function &function : code)
    if (function.isDeclaration() && function.getName().starts_with("__nv_"))
      return function.getName().str();
  return "";
}

/// Adds the functions of libdevice that the kernels call.
static LogicalResult linkLibdevice(ModuleOp module, llvm::Module &code) {
  FailureOr<std::string> path = findInToolkit(module, kLibdevice);
  if (failed(path))
    return failure();
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> library =
      llvm::parseIRFile(*path, problem, code.getContext());
  auto refuse = [&](const std::string &what) {
    return emitMachineError(module.getContext(),
                            Error(ExitCode::Device, what).at(*path));
  };
  if (!library)
    return refuse("cannot read: " + problem.getMessage().str());
  library->setTargetTriple(code.getTargetTriple());
  library->setDataLayout(code.getDataLayout());
  if (llvm::Linker::linkModules(code, std::move(library),
                                llvm::Linker::LinkOnlyNeeded))
    return refuse("cannot link it to the kernels");
  if (std::string lacks = findCallOfLibdevice(code); !lacks.empty())
    return refuse("expects the function " + inQuotes(lacks) + ", but got none");
  llvm::internalizeModule(code, [](const llvm::GlobalValue &value) {
    auto *function = dyn_cast<llvm::Function>(&value);
    return function &&
           function->getCallingConv() == llvm::CallingConv::PTX_Kernel;
  });
  return success();
}

// Nothing of the source module's name or place gets in.
std::unique_ptr<llvm::Module>
weft::importKernels(ModuleOp module, llvm::LLVMContext &context,
                    llvm::TargetMachine &machine) {
  auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kKernelModule);
  std::unique_ptr<llvm::Module> output;
  if (kernels)
    output = translateModuleToLLVMIR(kernels, context, "weft");
  if (!output) {
    module.emitError("expects kernels in the NVVM dialect; run "
                     "weft-lower-to-cuda first");
    return nullptr;
  }
  output->setSourceFileName("weft");
  output->setDataLayout(machine.createDataLayout());
  output->setTargetTriple(machine.getTargetTriple());
  return output;
}

void weft::optimizeKernels(llvm::Module &code, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions options;
  options.SLPVectorization = true;
  LlvmAnalyses analyses(machine, options);
  analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(code, analyses.modules);
}

/// Gives `write` the kernels and their elementary functions behind all passes
/// on LLVM IR.
static LogicalResult translateKernels(
    ModuleOp module, const CudaTarget &target,
    function_ref<LogicalResult(llvm::Module &, llvm::TargetMachine &)> write) {
  std::unique_ptr<llvm::TargetMachine> machine =
      createDeviceMachine(module, target);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = importKernels(module, context, *machine);
  if (!code)
    return failure();
  if (!findCallOfLibdevice(*code).empty() &&
      failed(linkLibdevice(module, *code)))
    return failure();
  optimizeKernels(*code, *machine);
  return write(*code, *machine);
}

FailureOr<std::string> weft::emitDeviceIr(ModuleOp module,
                                          const CudaTarget &target) {
  std::string text;
  auto write = [&](llvm::Module &code, llvm::TargetMachine &) {
    text = printCode(code);
    return success();
  };
  if (failed(translateKernels(module, target, write)))
    return failure();
  return text;
}

FailureOr<std::string> weft::emitPtx(ModuleOp module,
                                     const CudaTarget &target) {
  FailureOr<std::vector<char>> ptx = failure();
  auto write = [&](llvm::Module &code, llvm::TargetMachine &machine) {
    ptx = writeCode(module, code, machine, llvm::CodeGenFileType::AssemblyFile);
    return LogicalResult(ptx);
  };
  if (failed(translateKernels(module, target, write)))
    return failure();
  return std::string(ptx->begin(), ptx->end());
}
