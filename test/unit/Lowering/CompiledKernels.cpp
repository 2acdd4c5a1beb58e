//===- CompiledKernels.cpp - Kernels of a text, ready to run --------------===//

#include "CompiledKernels.h"

#include "weft/Fusion/Passes.h"
#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace mlir;

namespace weft {

CompiledKernels::CompiledKernels(const std::string &text,
                                 const std::string &target) {
  DialectRegistry registry;
  registry.insert<WeftDialect>();
  registerInterpreter(registry);
  registerFusionModels(registry);
  registerLoweringCpuModels(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  module = parseSourceString<ModuleOp>(text, context.get());
  if (!module) {
    ADD_FAILURE() << "does not parse:\n" << text;
    return;
  }
  PassManager passes(context.get());
  passes.addNestedPass<ProgramOp>(createDecomposePass());
  passes.addPass(createFusePass());
  if (failed(passes.run(*module))) {
    ADD_FAILURE() << "does not fuse:\n" << text;
    return;
  }
  compile(target);
}

CompiledKernels::~CompiledKernels() = default;

void CompiledKernels::compile(const std::string &target) {
  std::string problem;
  FailureOr<CpuTarget> cpu = CpuTarget::parse(target, problem);
  ASSERT_TRUE(succeeded(cpu)) << problem;
  OwningOpRef<ModuleOp> lowered = module->clone();
  for (auto program : llvm::make_early_inc_range(lowered->getOps<ProgramOp>()))
    program.erase();
  PassManager passes(context.get());
  LowerToCpuPassOptions options;
  options.fma = cpu->hasFma();
  passes.addPass(createConvertKernelsToLinalgPass());
  passes.addPass(createLowerToCpuPass(options));
  ASSERT_TRUE(succeeded(passes.run(*lowered)));
  for (auto function : lowered->getOps<LLVM::LLVMFuncOp>())
    if (auto extent = function->getAttrOfType<IntegerAttr>("weft.extent"))
      extents[function.getSymName()] = extent.getInt();
  FailureOr<std::vector<char>> object = emitObject(*lowered, *cpu);
  ASSERT_TRUE(succeeded(object));
  numObjectBytes = object->size();
  auto made = llvm::orc::LLJITBuilder().create();
  ASSERT_TRUE(static_cast<bool>(made)) << llvm::toString(made.takeError());
  jit = std::move(*made);
  llvm::Error added = jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(object->data(), object->size()), "kernels"));
  ASSERT_FALSE(static_cast<bool>(added)) << llvm::toString(std::move(added));
  isOk = true;
}

std::vector<KernelOp> CompiledKernels::kernels() {
  auto ops = module->getOps<KernelOp>();
  return std::vector<KernelOp>(ops.begin(), ops.end());
}

std::vector<Tensor>
CompiledKernels::interpret(KernelOp kernel, const std::vector<Tensor> &inputs) {
  Interpreter interpreter(*module, ComputeMode::F64);
  llvm::SmallVector<const Tensor *> arguments;
  for (const Tensor &input : inputs)
    arguments.push_back(&input);
  auto values = interpreter.evaluateBlock(kernel.getBody().front(), arguments);
  if (failed(values))
    return {};
  return std::vector<Tensor>(values->begin(), values->end());
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static size_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  size_t bits = tensor.getElementTypeBitWidth();
  return tensor.getNumElements() * std::max<size_t>(1, bits / 8);
}

/// Bytes at a chosen distance from a 64-byte boundary, with a guard behind.
class Buffer {
public:
  Buffer(size_t size, size_t misalignment) : size(size) {
    storage.assign(size + 256, '\x5a');
    size_t address = reinterpret_cast<size_t>(storage.data());
    start = (64 - address % 64) % 64 + misalignment;
  }
  char *data() { return storage.data() + start; }
  std::string text() { return std::string(data(), size); }
  bool isGuarded() {
    for (size_t i = 0; i < storage.size(); ++i)
      if ((i < start || i >= start + size) && storage[i] != '\x5a')
        return false;
    return true;
  }

private:
  std::vector<char> storage;
  size_t size, start;
};

/// Smallest cut of the range: one vector of elements, or one row.
static int64_t smallestCut(KernelOp kernel) {
  bool isFlat = kernel.getKind() == KernelKind::Elementwise &&
                kernel.getSizes().size() == 1;
  return isFlat ? 16 : 1;
}

std::vector<std::string>
CompiledKernels::run(KernelOp kernel, const std::vector<std::string> &inputs,
                     RunStyle style) {
  std::vector<Buffer> buffers;
  std::vector<void *> pointers;
  for (const std::string &input : inputs) {
    buffers.emplace_back(input.size(), style.misalignment);
    std::memcpy(buffers.back().data(), input.data(), input.size());
  }
  for (Type type : kernel.getResultTypes())
    buffers.emplace_back(bytesOf(type), style.misalignment);
  for (Buffer &buffer : buffers)
    pointers.push_back(buffer.data());
  auto symbol = jit->lookup(kernel.getSymName());
  if (!symbol) {
    ADD_FAILURE() << llvm::toString(symbol.takeError());
    return {};
  }
  auto *function = symbol->toPtr<void (*)(void *const *, int64_t, int64_t)>();
  int64_t extent = extents.lookup(kernel.getSymName());
  int64_t cut = style.manyParts ? smallestCut(kernel) : extent;
  // Backwards, so that an order of the parts is not taken for granted.
  for (int64_t part = (extent - 1) / cut; part >= 0; --part)
    function(pointers.data(), part * cut, std::min(extent, part * cut + cut));
  std::vector<std::string> results;
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_TRUE(buffers[i].isGuarded()) << "buffer " << i << " overrun";
    if (i >= inputs.size())
      results.push_back(buffers[i].text());
  }
  return results;
}

/// Runs a view of lists, or a kernel.
std::vector<std::string>
CompiledKernels::runOp(Operation *op, const std::vector<std::string> &operands,
                       RunStyle style) {
  if (auto call = dyn_cast<CallOp>(op))
    return run(module->lookupSymbol<KernelOp>(call.getKernel()), operands,
               style);
  if (isa<ReshapeOp>(op))
    return operands;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    llvm::ArrayRef<char> raw =
        cast<DenseElementsAttr>(constant.getValue()).getRawData();
    return {std::string(raw.data(), raw.size())};
  }
  auto slice = dyn_cast<SliceOp>(op);
  if (slice && cast<RankedTensorType>(slice.getType()).getRank() == 1) {
    size_t element = bytesOf(slice.getType()) / slice.getSizes()[0];
    return {operands[0].substr(slice.getOffsets()[0] * element,
                               bytesOf(slice.getType()))};
  }
  std::string joined;
  for (const std::string &operand : operands)
    joined += operand;
  if (!isa<ConcatOp>(op))
    ADD_FAILURE() << "expects kernels and lists, but got "
                  << op->getName().getStringRef().str();
  return {joined};
}

std::vector<std::string>
CompiledKernels::runProgram(const std::vector<std::string> &inputs,
                            RunStyle style) {
  Block &body = (*module->getOps<ProgramOp>().begin()).getBody().front();
  llvm::DenseMap<Value, std::string> values;
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), inputs))
    values[argument] = input;
  std::vector<std::string> operands;
  for (Operation &op : body) {
    operands.clear();
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    for (auto [result, bytes] :
         llvm::zip_equal(op.getResults(), runOp(&op, operands, style)))
      values[result] = bytes;
  }
  return operands;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static const llvm::fltSemantics &semanticsOf(ElementKind kind) {
  return kind == ElementKind::F16 ? llvm::APFloat::IEEEhalf()
                                  : llvm::APFloat::BFloat();
}

template <typename T> static void append(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

std::string toBytes(const Tensor &tensor) {
  std::string bytes;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    switch (tensor.kind()) {
    case ElementKind::F64:
      append(bytes, tensor.at(i));
      break;
    case ElementKind::F32:
      append(bytes, static_cast<float>(tensor.at(i)));
      break;
    case ElementKind::F16:
    case ElementKind::BF16: {
      llvm::APFloat value(tensor.at(i));
      bool lost = false;
      value.convert(semanticsOf(tensor.kind()),
                    llvm::APFloat::rmNearestTiesToEven, &lost);
      append(bytes,
             static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue()));
      break;
    }
    case ElementKind::I64:
      append(bytes, tensor.intAt(i));
      break;
    case ElementKind::I32:
      append(bytes, static_cast<int32_t>(tensor.intAt(i)));
      break;
    case ElementKind::I1:
      append(bytes, static_cast<uint8_t>(tensor.intAt(i)));
      break;
    }
  }
  return bytes;
}

template <typename T> static T read(const std::string &bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

Tensor fromBytes(RankedTensorType type, const std::string &bytes) {
  Tensor tensor(type);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    switch (tensor.kind()) {
    case ElementKind::F64:
      tensor.at(i) = read<double>(bytes, i);
      break;
    case ElementKind::F32:
      tensor.at(i) = read<float>(bytes, i);
      break;
    case ElementKind::F16:
    case ElementKind::BF16: {
      llvm::APInt bits(16, read<uint16_t>(bytes, i));
      llvm::APFloat value(semanticsOf(tensor.kind()), bits);
      tensor.at(i) = value.convertToDouble();
      break;
    }
    case ElementKind::I64:
      tensor.intAt(i) = read<int64_t>(bytes, i);
      break;
    case ElementKind::I32:
      tensor.intAt(i) = read<int32_t>(bytes, i);
      break;
    case ElementKind::I1:
      tensor.intAt(i) = read<uint8_t>(bytes, i);
      break;
    }
  }
  return tensor;
}

} // namespace weft
