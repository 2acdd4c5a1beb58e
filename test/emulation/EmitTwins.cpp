//===- EmitTwins.cpp - Kernels for an emulated device ---------------------===//

#include "EmitTwins.h"

#include "Twins.h"

#include "weft/Formats/Digest.h"
#include "weft/Lowering/Cuda/DeviceCode.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Lowering/Linalg/LlvmCode.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace weft {

static constexpr unsigned kSharedSpace = 3;

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

namespace {

/// Writes `weft_twins`: the structs of Twins.h.
class TableWriter {
public:
  TableWriter(ModuleOp module, llvm::Module &code)
      : code(code), builder(code.getContext()), i32(builder.getInt32Ty()),
        ptr(builder.getPtrTy()), triple(llvm::ArrayType::get(i32, 3)) {
    for (auto kernels : module.getOps<gpu::GPUModuleOp>())
      for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
        sources[kernel.getName()] = kernel;
  }

  void write(StringRef chip, StringRef digest, bool isChecked);

private:
  llvm::Constant *makeTwin(llvm::Function &kernel);
  llvm::Function *makeThread(llvm::Function &kernel);
  llvm::Constant *makeGlobal(llvm::Constant *value);
  llvm::Constant *makeText(StringRef text);
  llvm::Constant *makeSizes(StringRef kernel, StringRef attribute);
  llvm::Constant *makeBound(StringRef name);
  int32_t sharedBytesOf(llvm::Function &kernel);

  llvm::Module &code;
  llvm::IRBuilder<> builder;
  llvm::IntegerType *i32;
  llvm::PointerType *ptr;
  llvm::ArrayType *triple;
  llvm::StringMap<LLVM::LLVMFuncOp> sources;
  bool hasShared = false;
};

} // namespace

llvm::Constant *TableWriter::makeGlobal(llvm::Constant *value) {
  auto *global =
      new llvm::GlobalVariable(code, value->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::PrivateLinkage, value, "");
  return global;
}

llvm::Constant *TableWriter::makeText(StringRef text) {
  return makeGlobal(
      llvm::ConstantDataArray::getString(code.getContext(), text));
}

/// An attribute of the kernel in the GPU dialect, zeros if it has none.
llvm::Constant *TableWriter::makeSizes(StringRef kernel, StringRef attribute) {
  int32_t sizes[3] = {0, 0, 0};
  LLVM::LLVMFuncOp source = sources.lookup(kernel);
  if (source)
    if (auto known = source->getAttrOfType<DenseI32ArrayAttr>(attribute))
      llvm::copy(known.asArrayRef(), sizes);
  return llvm::ConstantDataArray::get(code.getContext(), sizes);
}

/// The linker's name for an end of the section of shared memory.
llvm::Constant *TableWriter::makeBound(StringRef name) {
  if (!hasShared)
    return llvm::ConstantPointerNull::get(ptr);
  auto *bound = new llvm::GlobalVariable(
      code, builder.getInt8Ty(), /*isConstant=*/false,
      llvm::GlobalValue::ExternalLinkage, nullptr, name + WEFT_TWINS_SHARED);
  bound->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return bound;
}

/// A function that takes the arguments of a kernel by their places.
llvm::Function *TableWriter::makeThread(llvm::Function &kernel) {
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {ptr}, false);
  auto *thread =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                             "thread_" + kernel.getName(), code);
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(code.getContext(), "", thread));
  SmallVector<llvm::Value *> values;
  for (llvm::Argument &argument : kernel.args()) {
    llvm::Value *place = builder.CreateLoad(
        ptr, builder.CreateConstGEP1_32(ptr, thread->getArg(0),
                                        argument.getArgNo()));
    values.push_back(builder.CreateLoad(argument.getType(), place));
  }
  builder.CreateCall(&kernel, values);
  builder.CreateRetVoid();
  return thread;
}

static bool isUsedIn(llvm::Value &value, const llvm::Function &function) {
  return llvm::any_of(value.users(), [&](llvm::User *user) {
    if (auto *instruction = dyn_cast<llvm::Instruction>(user))
      return instruction->getFunction() == &function;
    return isUsedIn(*user, function);
  });
}

int32_t TableWriter::sharedBytesOf(llvm::Function &kernel) {
  int32_t bytes = 0;
  for (llvm::GlobalVariable &global : code.globals())
    if (global.getAddressSpace() == kSharedSpace && isUsedIn(global, kernel))
      bytes +=
          int32_t(code.getDataLayout().getTypeAllocSize(global.getValueType()));
  return bytes;
}

llvm::Constant *TableWriter::makeTwin(llvm::Function &kernel) {
  SmallVector<uint32_t> bytes;
  for (llvm::Argument &argument : kernel.args())
    bytes.push_back(
        uint32_t(code.getDataLayout().getTypeAllocSize(argument.getType())));
  auto *type = llvm::StructType::get(ptr, ptr, i32, ptr, triple, triple, i32);
  assert(code.getDataLayout().getTypeAllocSize(type) == sizeof(WeftTwin));
  return llvm::ConstantStruct::get(
      type, makeText(kernel.getName()), makeThread(kernel),
      builder.getInt32(uint32_t(bytes.size())),
      makeGlobal(llvm::ConstantDataArray::get(code.getContext(), bytes)),
      makeSizes(kernel.getName(), kBlockSize),
      makeSizes(kernel.getName(), kGridSize),
      builder.getInt32(uint32_t(sharedBytesOf(kernel))));
}

void TableWriter::write(StringRef chip, StringRef digest, bool isChecked) {
  SmallVector<llvm::Function *> kernels;
  for (llvm::Function &function : code)
    if (sources.contains(function.getName()) && !function.isDeclaration())
      kernels.push_back(&function);
  for (llvm::GlobalVariable &global : code.globals())
    if (global.getAddressSpace() == kSharedSpace) {
      global.setSection(WEFT_TWINS_SHARED);
      hasShared = true;
    }
  SmallVector<llvm::Constant *> twins;
  for (llvm::Function *kernel : kernels)
    twins.push_back(makeTwin(*kernel));
  llvm::Constant *list =
      twins.empty()
          ? llvm::ConstantPointerNull::get(ptr)
          : makeGlobal(llvm::ConstantArray::get(
                llvm::ArrayType::get(twins.front()->getType(), twins.size()),
                twins));
  auto *type =
      llvm::StructType::get(i32, i32, ptr, ptr, ptr, i32, ptr, ptr, ptr);
  assert(code.getDataLayout().getTypeAllocSize(type) == sizeof(WeftTwins));
  llvm::Constant *table = llvm::ConstantStruct::get(
      type, builder.getInt32(WEFT_TWINS_VERSION), builder.getInt32(isChecked),
      makeText(chip), makeText(digest), makeText(""),
      builder.getInt32(uint32_t(twins.size())), list, makeBound("__start_"),
      makeBound("__stop_"));
  auto *twinsTable = new llvm::GlobalVariable(
      code, type, /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
      table, "weft_twins");
  // By which OwnFiles.h knows the library.
  twinsTable->setSection(".weft.twins");
}

//===----------------------------------------------------------------------===//
// Object code
//===----------------------------------------------------------------------===//

FailureOr<std::vector<char>>
emitTwins(ModuleOp module, const CudaTarget &target, bool isChecked) {
  FailureOr<std::vector<char>> cubin = emitCubin(module, target);
  if (failed(cubin))
    return failure();
  // For every machine with AVX2, so that equal modules give equal bytes.
  std::unique_ptr<llvm::TargetMachine> host = createHostMachine(
                                           module, "x86-64-v3", ""),
                                       device =
                                           createDeviceMachine(module, target);
  if (!host || !device)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = importKernels(module, context, *device);
  if (!code)
    return failure();
  optimizeKernels(*code, *device);
  code->setTargetTriple(host->getTargetTriple());
  code->setDataLayout(host->createDataLayout());
  if (std::string error; !rewriteForHost(*code, isChecked, error))
    return module.emitError(error);
  TableWriter(module, *code)
      .write(target.chip, digest128(cubin->data(), cubin->size()), isChecked);
  return writeCode(module, *code, *host, llvm::CodeGenFileType::ObjectFile);
}

} // namespace weft
