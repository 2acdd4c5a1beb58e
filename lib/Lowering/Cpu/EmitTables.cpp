//===- EmitTables.cpp - Plan programs as constant tables ------------------===//

#include "ProgramKinds.h"
#include "TablePools.h"

#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/CpuCommands.h"
#include "weft/Plan/Plan.h"
#include "weft/Runtime/Execute/Tables.h"
#include "weft/Runtime/Execute/Workspaces.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

#include <vector>

using namespace mlir;

namespace weft {

namespace {

/// Writes WeftTables of Tables.h.
class TableEmitter {
public:
  TableEmitter(ModuleOp source, llvm::Module &output)
      : source(source), output(output), context(output.getContext()),
        pointer(llvm::PointerType::get(context, 0)) {}

  LogicalResult emit();

private:
  using Constant = llvm::Constant;

  WeftPackedText text(StringRef value);
  WeftPackedList list(llvm::ArrayRef<int64_t> values) {
    return {lists.get(values)};
  }
  WeftPackedRecord record(StringRef bytes);
  int64_t function(StringRef name, bool isKernel);

  /// A launch's range; 0 and 0 for other commands.
  LogicalResult callee(plan::CommandOpInterface op, WeftPackedCommand &packed);
  LogicalResult workspace(plan::CommandOpInterface op, CpuCommand &made,
                          WeftPackedCommand &packed);
  LogicalResult command(plan::CommandOpInterface op);
  LogicalResult port(Operation *op, StringRef name, Value buffer);
  LogicalResult program(plan::ProgramOp op);
  void segment(const Segment &segment);
  LogicalResult tensor(plan::StateOp op);

  Constant *int32(int64_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt32Ty(context), value);
  }
  Constant *int64(int64_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context), value);
  }
  Constant *bytes(StringRef content, StringRef name);
  template <typename T>
  Constant *bytes(const std::vector<T> &list, StringRef name) {
    return bytes(StringRef(reinterpret_cast<const char *>(list.data()),
                           list.size() * sizeof(T)),
                 name);
  }
  Constant *functionArray(const FunctionPool &pool, StringRef name);
  Constant *metadata(StringRef json);
  llvm::GlobalVariable *global(Constant *value, StringRef name);
  void emitExecutable(int64_t arenaBytes);

  ModuleOp source;
  int64_t maxThreads = 0;
  llvm::Module &output;
  llvm::LLVMContext &context;
  llvm::PointerType *pointer;
  std::vector<WeftPackedProgram> programs;
  std::vector<WeftPackedCommand> commands;
  std::vector<WeftPackedPort> ports;
  std::vector<WeftPackedTensor> tensors;
  std::vector<WeftPackedSegment> segments;
  ListPool<char> texts;
  ListPool<int64_t> lists;
  ListPool<char> records;
  FunctionPool kernels, libraries;
};

//===----------------------------------------------------------------------===//
// Packed structs
//===----------------------------------------------------------------------===//

WeftPackedText TableEmitter::text(StringRef value) {
  llvm::SmallString<64> ended(value);
  ended.push_back('\0');
  return {texts.get(ended)};
}

WeftPackedRecord TableEmitter::record(StringRef bytes) {
  return {bytes.empty() ? -1 : records.get({bytes.data(), bytes.size()})};
}

int64_t TableEmitter::function(StringRef name, bool isKernel) {
  FunctionPool &pool = isKernel ? kernels : libraries;
  auto [known, isNew] =
      pool.indices.try_emplace(name, int64_t(pool.functions.size()));
  if (isNew) {
    llvm::Type *second = pointer;
    if (isKernel)
      second = llvm::Type::getInt64Ty(context);
    auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                         {pointer, second, second}, false);
    pool.functions.push_back(
        cast<Constant>(output.getOrInsertFunction(name, type).getCallee()));
  }
  return known->second;
}

LogicalResult TableEmitter::callee(plan::CommandOpInterface op,
                                   WeftPackedCommand &packed) {
  if (op.getStreamNumber() != 0)
    return op->emitOpError(
               "expects stream 0, the only one of the CPU, but got ")
           << op.getStreamNumber();
  packed.kernel = {-1};
  packed.deviceKernel = {-1};
  packed.library = {-1};
  packed.record = record("");
  if (auto launch = dyn_cast<plan::LaunchOp>(op.getOperation())) {
    packed.kernel = {function(launch.getKernel(), /*isKernel=*/true)};
    packed.kind = WEFT_KERNEL;
    packed.extent = launch.getExtent();
    packed.grain = launch.getGrain();
    return success();
  }
  FailureOr<CpuCommand> made = CpuCommand::get(op);
  if (failed(made))
    return failure();
  packed.library = {function(made->routine, /*isKernel=*/false)};
  packed.kind = made->kind;
  packed.record = record(made->getBytes());
  packed.recordBytes = made->getBytes().size();
  return workspace(op, *made, packed);
}

LogicalResult TableEmitter::workspace(plan::CommandOpInterface op,
                                      CpuCommand &made,
                                      WeftPackedCommand &packed) {
  FailureOr<int64_t> wanted = made.getWorkspaceBytes(maxThreads);
  if (failed(wanted))
    return failure();
  auto user = dyn_cast<plan::WorkspaceOpInterface>(op.getOperation());
  if (Value buffer = user ? user.getWorkspace() : Value())
    packed.workspaceBytes =
        plan::getBufferBytes(cast<MemRefType>(buffer.getType()));
  if (packed.workspaceBytes >= *wanted)
    return success();
  return op->emitOpError("expects a workspace of at least ")
         << *wanted << " bytes for " << maxThreads
         << " threads (weft-add-workspaces), but got " << packed.workspaceBytes;
}

LogicalResult TableEmitter::command(plan::CommandOpInterface op) {
  llvm::SmallVector<int64_t> offsets;
  for (Value buffer : op->getOperands()) {
    std::optional<int64_t> offset = plan::getByteOffset(buffer);
    if (!offset)
      return op->emitOpError("expects buffers with arena offsets; run "
                             "weft-plan-memory first");
    offsets.push_back(*offset);
  }
  WeftPackedCommand packed = {};
  if (failed(callee(op, packed)))
    return failure();
  packed.name = text(op.getCommandName());
  packed.scope = text(op.getCommandScope());
  packed.offsets = list(offsets);
  packed.numBuffers = offsets.size();
  commands.push_back(packed);
  return success();
}

LogicalResult TableEmitter::port(Operation *op, StringRef name, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  std::optional<int64_t> offset = plan::getByteOffset(buffer);
  if (!offset)
    return op->emitOpError("expects a buffer with an arena offset; run "
                           "weft-plan-memory first");
  WeftPackedPort &packed = ports.emplace_back();
  packed.name = text(name);
  packed.dtype = getDType(type.getElementType());
  packed.rank = type.getRank();
  packed.dims = list(type.getShape());
  packed.offset = *offset;
  packed.bytes = plan::getBufferBytes(type);
  return success();
}

LogicalResult TableEmitter::program(plan::ProgramOp op) {
  llvm::SmallVector<plan::OutputOp> outputs;
  const size_t firstCommand = commands.size(), firstPort = ports.size();
  for (Operation &inner : op.getBody().front()) {
    if (auto commandOp = dyn_cast<plan::CommandOpInterface>(inner)) {
      if (failed(command(commandOp)))
        return failure();
    } else if (auto input = dyn_cast<plan::InputOp>(inner)) {
      if (failed(port(input, input.getName(), input.getBuffer())))
        return failure();
    } else if (auto result = dyn_cast<plan::OutputOp>(inner)) {
      outputs.push_back(result);
    }
  }
  WeftPackedProgram &packed = programs.emplace_back();
  packed.symbol = text(op.getSymName());
  packed.kind = text(op.getKind());
  packed.numCommands = commands.size() - firstCommand;
  packed.numInputs = ports.size() - firstPort;
  packed.numOutputs = outputs.size();
  for (plan::OutputOp result : outputs)
    if (failed(port(result, result.getName(), result.getBuffer())))
      return failure();
  return success();
}

static_assert(int(plan::StateKind::Param) == WEFT_PARAM &&
                  int(plan::StateKind::Gradient) == WEFT_GRADIENT &&
                  int(plan::StateKind::Optimizer) == WEFT_OPTIMIZER &&
                  int(plan::StateKind::Scaler) == WEFT_SCALER &&
                  int(plan::StateKind::Working) == WEFT_WORKING &&
                  plan::getMaxEnumValForStateKind() == WEFT_WORKING,
              "a state's kind is written as its number");

void TableEmitter::segment(const Segment &segment) {
  WeftPackedSegment &packed = segments.emplace_back();
  packed.param = text(segment.param.getValue());
  packed.source = text(segment.source ? segment.source.getValue() : "");
  packed.rank = segment.shape.size();
  packed.dims = list(segment.shape);
  packed.begin = segment.begin;
  packed.end = segment.end;
}

LogicalResult TableEmitter::tensor(plan::StateOp op) {
  if (!op.getOffset())
    return op.emitOpError(
        "expects an arena offset; run weft-plan-memory first");
  SmallVector<Segment> inside = op.getSegmentList();
  for (const Segment &each : inside)
    segment(each);
  MemRefType type = op.getBufferType();
  WeftPackedTensor &packed = tensors.emplace_back();
  packed.name = text(op.getSymName());
  packed.param = text(op.getParam().value_or(StringRef()));
  packed.source = text(op.getSource().value_or(StringRef()));
  packed.kind = static_cast<int64_t>(op.getKind());
  packed.dtype = getDType(type.getElementType());
  packed.rank = type.getRank();
  packed.trainable = op.getTrainable();
  packed.dims = list(type.getShape());
  packed.offset = *op.getOffset();
  packed.bytes = plan::getBufferBytes(type);
  packed.slot = text(op.getSlot().value_or(StringRef()));
  packed.numSegments = inside.size();
  packed.slices = op.getSlices();
  return success();
}

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

llvm::GlobalVariable *TableEmitter::global(Constant *value, StringRef name) {
  return new llvm::GlobalVariable(output, value->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::InternalLinkage, value,
                                  name);
}

llvm::Constant *TableEmitter::bytes(StringRef content, StringRef name) {
  if (content.empty())
    return llvm::ConstantPointerNull::get(pointer);
  llvm::GlobalVariable *made =
      global(llvm::ConstantDataArray::getString(context, content,
                                                /*AddNull=*/false),
             name);
  made->setAlignment(llvm::Align(8));
  return made;
}

llvm::Constant *TableEmitter::functionArray(const FunctionPool &pool,
                                            StringRef name) {
  if (pool.functions.empty())
    return llvm::ConstantPointerNull::get(pointer);
  auto *type = llvm::ArrayType::get(pointer, pool.functions.size());
  return global(llvm::ConstantArray::get(type, pool.functions), name);
}

llvm::Constant *TableEmitter::metadata(StringRef json) {
  llvm::GlobalVariable *meta =
      global(llvm::ConstantDataArray::getString(context, json,
                                                /*AddNull=*/false),
             "weft.metadata");
  meta->setSection(".weft.meta");
  meta->setAlignment(llvm::Align(1));
  return meta;
}

/// WeftTables
void TableEmitter::emitExecutable(int64_t arenaBytes) {
  auto json = source->getAttrOfType<StringAttr>("weft.metadata");
  StringRef described = json ? json.getValue() : StringRef("{}");
  llvm::SmallVector<Constant *> fields = {
      int32(WEFT_ABI_VERSION),
      int32(programs.size()),
      int32(tensors.size()),
      int32(maxThreads),
      bytes(programs, "weft.programs"),
      bytes(commands, "weft.commands"),
      bytes(ports, "weft.ports"),
      bytes(tensors, "weft.tensors"),
      bytes(segments, "weft.segments"),
      bytes(texts.getBytes(), "weft.texts"),
      bytes(lists.getBytes(), "weft.lists"),
      bytes(records.getBytes(), "weft.records"),
      functionArray(kernels, "weft.kernels"),
      llvm::ConstantPointerNull::get(pointer), // device kernels
      functionArray(libraries, "weft.libraries"),
      int64(arenaBytes),
      metadata(described),
      int64(described.size()),
      llvm::ConstantPointerNull::get(pointer), // images
      int64(0),
      int64(0)};
  global(llvm::ConstantStruct::getAnon(context, fields), "weft_tables")
      ->setLinkage(llvm::GlobalValue::ExternalLinkage);
}

/// Of plan.max_threads.
static FailureOr<int64_t> readMaxThreads(ModuleOp module) {
  constexpr llvm::StringLiteral name = plan::PlanDialect::kMaxThreadsAttr;
  Attribute attribute = module->getAttr(name);
  if (!attribute)
    return kDefaultMaxThreads;
  auto threads = dyn_cast<IntegerAttr>(attribute);
  if (threads && threads.getType().isInteger(64) && threads.getInt() >= 1 &&
      threads.getInt() <= kMostThreads)
    return threads.getInt();
  return module.emitOpError("expects ")
         << name << " of 1 to 1024, but got " << attribute;
}

LogicalResult TableEmitter::emit() {
  FailureOr<int64_t> threads = readMaxThreads(source);
  if (failed(threads))
    return failure();
  maxThreads = *threads;
  for (auto op : source.getOps<plan::ProgramOp>())
    if (failed(program(op)))
      return failure();
  for (auto op : source.getOps<plan::StateOp>())
    if (failed(tensor(op)))
      return failure();
  if (programs.empty())
    return success(); // kernels only
  auto arena =
      source->getAttrOfType<IntegerAttr>(plan::PlanDialect::kArenaBytesAttr);
  if (!arena)
    return source.emitOpError("expects the attribute ")
           << plan::PlanDialect::kArenaBytesAttr << "; run weft-plan-memory";
  emitExecutable(arena.getInt());
  return success();
}

} // namespace

LogicalResult emitTables(ModuleOp module, llvm::Module &output) {
  if (failed(verifyProgramKinds(module)))
    return failure();
  return TableEmitter(module, output).emit();
}

} // namespace weft
