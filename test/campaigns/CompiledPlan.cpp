//===- CompiledPlan.cpp - A plan as the program that runs it --------------===//

#include "CompiledPlan.h"

#include "weft/Abi/CpuRoutineAbi.h"
#include "weft/Pipeline/Driver/Compiler.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/DTypes.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/Support/TargetSelect.h"

using namespace weft;

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static Expected<std::vector<char>> makeObject(const std::string &path) {
  Expected<FlagValues> flags =
      compilerFlagTable().parse({"--from=verify-plan", "--emit=obj"});
  if (!flags)
    return flags.takeError();
  Compiler compiler;
  if (Status status = compiler.load(path, *flags); !status)
    return status.takeError();
  int last = compiler.phases().findLast(Level::Llvm);
  if (Status status = compiler.run(last); !status)
    return status.takeError();
  return compiler.objectCode();
}

/// The routines that an executable would be linked with.
static llvm::orc::SymbolMap getRoutines(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](const char *name, auto *function) {
    symbols[jit.mangleAndIntern(name)] =
        llvm::orc::ExecutorSymbolDef::fromPtr(function);
  };
#define WEFT_ADD_ROUTINE(symbol) add(#symbol, &symbol);
  WEFT_LIBRARY_ROUTINES(WEFT_ADD_ROUTINE)
#undef WEFT_ADD_ROUTINE
  add("weft_cpu_gemm_prepare", &weft_cpu_gemm_prepare);
  return symbols;
}

static llvm::Error addSymbols(llvm::orc::LLJIT &jit) {
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit.getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  jit.getMainJITDylib().addGenerator(std::move(*process));
  return jit.getMainJITDylib().define(
      llvm::orc::absoluteSymbols(getRoutines(jit)));
}

static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>>
makeJit(const std::vector<char> &object) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  if (llvm::Error error = addSymbols(**jit))
    return std::move(error);
  if (llvm::Error error =
          (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
              llvm::StringRef(object.data(), object.size()), "plan")))
    return std::move(error);
  return jit;
}

bool CompiledPlan::link(const std::vector<char> &object, std::string &problem) {
  auto made = makeJit(object);
  if (!made) {
    problem = llvm::toString(made.takeError());
    return false;
  }
  jit = std::move(*made);
  auto symbol = jit->lookup("weft_tables");
  if (!symbol) {
    problem = llvm::toString(symbol.takeError());
    return false;
  }
  tables = std::make_unique<UnpackedTables>(*symbol->toPtr<WeftTables *>());
  return true;
}

std::unique_ptr<CompiledPlan> CompiledPlan::compile(const std::string &path,
                                                    std::string &problem) {
  Expected<std::vector<char>> object = makeObject(path);
  if (!object) {
    problem = object.error().str();
    return nullptr;
  }
  auto plan = std::make_unique<CompiledPlan>();
  if (!plan->link(*object, problem))
    return nullptr;
  return plan;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static ElementKind getKind(int32_t dtype) {
  const ElementKind kinds[] = {
      ElementKind::F32, ElementKind::F64, ElementKind::F16, ElementKind::BF16,
      ElementKind::I1,  ElementKind::I32, ElementKind::I64};
  return kinds[dtype];
}

static WeftPort toPort(const WeftTensor &tensor) {
  return {tensor.name, tensor.dtype,  tensor.rank,
          tensor.dims, tensor.offset, tensor.bytes};
}

static void store(const WeftContext &context, const WeftPort &port,
                  const Tensor &value) {
  for (int64_t i = 0; i < value.size(); ++i)
    if (value.isFloat())
      writeNumber(context, port, value.at(i), i);
    else
      writeInteger(context, port, value.intAt(i), i);
}

static Tensor load(const WeftContext &context, const WeftPort &port) {
  Tensor value(shapeOf(port), getKind(port.dtype));
  for (int64_t i = 0; i < value.size(); ++i)
    if (value.isFloat())
      value.at(i) = readNumber(context, port, i);
    else // exact below 2^53
      value.intAt(i) = static_cast<int64_t>(readNumber(context, port, i));
  return value;
}

/// Writes what has a value.
static void storeAll(const WeftContext &context, const WeftProgram &program,
                     const TensorMap &inputs, const TensorMap &states) {
  const WeftExecutable &executable = *context.executable();
  for (int32_t i = 0; i < executable.numTensors; ++i)
    if (auto found = states.find(executable.tensors[i].name);
        found != states.end())
      store(context, toPort(executable.tensors[i]), found->second);
  for (int32_t i = 0; i < program.numInputs; ++i)
    store(context, program.inputs[i], inputs.at(program.inputs[i].name));
}

static ProgramResult loadAll(const WeftContext &context,
                             const WeftProgram &program) {
  ProgramResult result;
  const WeftExecutable &executable = *context.executable();
  for (int32_t i = 0; i < executable.numTensors; ++i)
    result.states[executable.tensors[i].name] =
        load(context, toPort(executable.tensors[i]));
  for (int32_t i = 0; i < program.numOutputs; ++i)
    result.outputs[program.outputs[i].name] = load(context, program.outputs[i]);
  return result;
}

std::optional<ProgramResult> CompiledPlan::run(const std::string &name,
                                               const TensorMap &inputs,
                                               const TensorMap &states,
                                               bool isPoisoned,
                                               std::string &problem) const {
  ContextOptions options;
  options.threads = 1;
  options.maxThreads = tables->executable().maxThreads;
  options.poisoned = isPoisoned;
  auto context = WeftContext::create(tables->executable(), options, problem);
  const WeftProgram *program =
      context ? context->findProgram(name.c_str()) : nullptr;
  if (!program)
    return std::nullopt;
  storeAll(*context, *program, inputs, states);
  if (runProgram(*context, *program))
    return loadAll(*context, *program);
  problem = context->message();
  return std::nullopt;
}
