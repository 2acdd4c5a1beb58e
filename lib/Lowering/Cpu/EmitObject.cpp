//===- EmitObject.cpp - Machine code for the CPU --------------------------===//

#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Linalg/LlvmCode.h"
#include "weft/Lowering/Table/Tables.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

static std::string getHostFeatures() {
  llvm::SubtargetFeatures features;
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  SmallVector<StringRef> names;
  for (auto &entry : host)
    names.push_back(entry.getKey());
  llvm::sort(names);
  for (StringRef name : names)
    features.AddFeature(name, host.lookup(name));
  return features.getString();
}

static bool hasFeature(const CpuTarget &target, StringRef name) {
  llvm::SubtargetFeatures list(target.features);
  return llvm::is_contained(list.getFeatures(), ("+" + name).str());
}

FailureOr<CpuTarget> CpuTarget::parse(StringRef text, std::string &error) {
  if (text == "cpu")
    return CpuTarget{llvm::sys::getHostCPUName().str(), getHostFeatures()};
  StringRef level = text;
  bool isLevel = level.consume_front("cpu:");
  if (isLevel && level == "x86-64-v2")
    return CpuTarget{level.str(), ""};
  std::string features = "+avx2,+bmi,+bmi2,+f16c,+fma";
  if (isLevel && level == "x86-64-v3")
    return CpuTarget{level.str(), features};
  features += ",+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl";
  if (isLevel && level == "x86-64-v4")
    return CpuTarget{level.str(), features};
  error = ("expects the target cpu, cpu:x86-64-v2, cpu:x86-64-v3 or "
           "cpu:x86-64-v4, but got " +
           text)
              .str();
  return failure();
}

bool CpuTarget::hasFma() const { return hasFeature(*this, "fma"); }

std::vector<std::string> CpuTarget::getRequiredFeatures() const {
  std::vector<std::string> required;
  for (StringRef name : {"avx2", "avx512bf16", "avx512bw", "avx512cd",
                         "avx512dq", "avx512f", "avx512vl", "f16c", "fma"})
    if (hasFeature(*this, name))
      required.push_back(name.str());
  return required;
}

//===----------------------------------------------------------------------===//
// LLVM IR
//===----------------------------------------------------------------------===//

/// Sets what all modules of a target have in common; nothing of the source
/// module's name or place gets in.
static void setTarget(llvm::Module &output, llvm::TargetMachine &machine) {
  output.setSourceFileName("weft");
  output.setDataLayout(machine.createDataLayout());
  output.setTargetTriple(machine.getTargetTriple());
  output.setPICLevel(llvm::PICLevel::BigPIC);
}

/// The kernels as an LLVM module.
static std::unique_ptr<llvm::Module>
translateKernels(ModuleOp module, llvm::LLVMContext &context,
                 llvm::TargetMachine &machine) {
  OwningOpRef<ModuleOp> kernels =
      ModuleOp::create(UnknownLoc::get(module.getContext()));
  OpBuilder builder = OpBuilder::atBlockEnd(kernels->getBody());
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    builder.clone(*function);
  std::unique_ptr<llvm::Module> output =
      translateModuleToLLVMIR(*kernels, context, "weft");
  if (!output) {
    module.emitError("expects kernels in the LLVM dialect; run "
                     "weft-lower-to-cpu first");
    return nullptr;
  }
  setTarget(*output, machine);
  for (llvm::Function &function : *output) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (!function.hasLocalLinkage())
      function.addParamAttr(0, llvm::Attribute::ReadOnly);
  }
  return output;
}

/// Cleans up after the lowering, hoists loop-invariant code and unrolls the
/// loops that ask for it. The rest of the standard pipeline finds nothing in
/// kernels that are written as vectors. No fast-math flag is set anywhere, so
/// nothing is reassociated or contracted.
static llvm::FunctionPassManager kernelPipeline() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::LoopUnrollPass(
      llvm::LoopUnrollOptions(/*OptLevel=*/2, /*OnlyWhenForced=*/true)));
  passes.addPass(llvm::InstCombinePass());
  // The sums of columns stay in registers once their loop is unrolled.
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

/// The only lane of a mask, if that is known.
static std::optional<unsigned> findOnlyLane(llvm::Value *value) {
  auto *mask = dyn_cast<llvm::Constant>(value);
  auto *type = dyn_cast<llvm::FixedVectorType>(value->getType());
  std::optional<unsigned> only;
  for (unsigned lane = 0; mask && type && lane != type->getNumElements();
       ++lane) {
    llvm::Constant *flag = mask->getAggregateElement(lane);
    // A lane that is undefined need not be stored.
    bool isSet = flag && flag->isOneValue();
    bool isClear = flag && (flag->isNullValue() || isa<llvm::UndefValue>(flag));
    if ((isSet && only) || (!isSet && !isClear))
      return std::nullopt;
    if (isSet)
      only = lane;
  }
  return only;
}

/// Stores one lane as a scalar.
static void storeLane(llvm::IntrinsicInst &store, unsigned lane) {
  llvm::IRBuilder<> builder(&store);
  llvm::Value *element =
      builder.CreateExtractElement(store.getArgOperand(0), lane);
  llvm::Type *type = element->getType();
  llvm::Value *pointer =
      builder.CreateConstGEP1_64(type, store.getArgOperand(1), lane);
  uint64_t offset = lane * (type->getPrimitiveSizeInBits().getFixedValue() / 8);
  builder.CreateAlignedStore(
      element, pointer,
      llvm::commonAlignment(store.getParamAlign(1).valueOrOne(), offset));
  store.eraseFromParent();
}

/// Of a masked store of one lane behind a truncation, as that to bf16, LLVM 22
/// makes a store of the wide element (AVX-512): over what lies behind it.
static void storeLonelyLanes(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &op :
         llvm::make_early_inc_range(llvm::instructions(function)))
      if (auto *store = dyn_cast<llvm::IntrinsicInst>(&op);
          store && store->getIntrinsicID() == llvm::Intrinsic::masked_store)
        if (auto lane = findOnlyLane(store->getArgOperand(2)))
          storeLane(*store, *lane);
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  LlvmAnalyses analyses(machine);
  llvm::createModuleToFunctionPassAdaptor(kernelPipeline())
      .run(module, analyses.modules);
  storeLonelyLanes(module);
}

namespace {

/// The halves of the object file to generate.
struct Parts {
  bool kernels, tables;
};

using Write =
    function_ref<LogicalResult(llvm::Module &, llvm::TargetMachine &)>;

} // namespace

/// Hands `write` the optimised kernels and the tables, or one of the two. The
/// tables are constants that no pass can improve: they come last, so that the
/// time of the pipeline depends on the number of kernels alone.
static LogicalResult translate(ModuleOp module, const CpuTarget &target,
                               Parts parts, Write write) {
  std::unique_ptr<llvm::TargetMachine> machine =
      createHostMachine(module, target.cpu, target.features);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> output;
  if (parts.kernels) {
    output = translateKernels(module, context, *machine);
    if (!output)
      return failure();
    optimize(*output, *machine);
  } else {
    output = std::make_unique<llvm::Module>("weft", context);
    setTarget(*output, *machine);
  }
  if (parts.tables &&
      failed(emitTables(module, *output, *createCpuRoutines(module))))
    return failure();
  return write(*output, *machine);
}

static FailureOr<std::vector<char>>
makeObject(ModuleOp module, const CpuTarget &target, Parts parts) {
  FailureOr<std::vector<char>> object = failure();
  auto write = [&](llvm::Module &output, llvm::TargetMachine &machine) {
    object =
        writeCode(module, output, machine, llvm::CodeGenFileType::ObjectFile);
    return LogicalResult(object);
  };
  if (failed(translate(module, target, parts, write)))
    return failure();
  return object;
}

FailureOr<std::string> weft::emitLlvmIr(ModuleOp module,
                                        const CpuTarget &target) {
  std::string text;
  auto write = [&](llvm::Module &output, llvm::TargetMachine &) {
    text = printCode(output);
    return success();
  };
  if (failed(
          translate(module, target, {.kernels = true, .tables = true}, write)))
    return failure();
  return text;
}

FailureOr<std::vector<char>> weft::emitObject(ModuleOp module,
                                              const CpuTarget &target) {
  return makeObject(module, target, {.kernels = true, .tables = true});
}

FailureOr<std::vector<char>> weft::emitKernelObject(ModuleOp module,
                                                    const CpuTarget &target) {
  return makeObject(module, target, {.kernels = true, .tables = false});
}

FailureOr<std::vector<char>> weft::emitTableObject(ModuleOp module,
                                                   const CpuTarget &target) {
  return makeObject(module, target, {.kernels = false, .tables = true});
}
