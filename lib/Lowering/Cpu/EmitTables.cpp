//===- EmitTables.cpp - Plan programs as constant tables ------------------===//

#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Plan/Plan.h"
#include "weft/Runtime/Abi.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

using namespace mlir;

namespace weft {

namespace {

/// All lists of one kind in one array of bytes; equal lists once. Bytes, since
/// they are written out at once: anything else costs time for each element.
template <typename T> class ListPool {
public:
  /// Where the list starts, in elements; 0 for an empty one.
  int64_t get(llvm::ArrayRef<T> list) {
    if (list.empty())
      return 0;
    StringRef key(reinterpret_cast<const char *>(list.data()),
                  list.size() * sizeof(T));
    auto [known, isNew] = lists.try_emplace(key, bytes.size() / sizeof(T));
    if (isNew)
      bytes.append(key.begin(), key.end());
    return known->second;
  }

  StringRef getBytes() const { return bytes; }

private:
  std::string bytes;
  llvm::StringMap<int64_t> lists;
};

/// Functions that commands call, each once.
struct FunctionPool {
  llvm::SmallVector<llvm::Constant *> functions;
  llvm::StringMap<int64_t> indices;
};

/// Writes WeftTables of Abi.h: each record field by field in its order.
class TableEmitter {
public:
  TableEmitter(ModuleOp source, llvm::Module &output)
      : source(source), output(output), context(output.getContext()),
        pointer(llvm::PointerType::get(context, 0)) {}

  LogicalResult emit();

private:
  using Constant = llvm::Constant;

  void add(llvm::ArrayRef<int64_t> words) {
    llvm::append_range(records, words);
  }
  int64_t text(StringRef value);
  int64_t function(StringRef name, bool isKernel);

  LogicalResult command(plan::CommandOpInterface op);
  LogicalResult port(Operation *op, StringRef name, Value buffer);
  LogicalResult program(plan::ProgramOp op);
  LogicalResult tensor(plan::StateOp op);

  Constant *int32(int64_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt32Ty(context), value);
  }
  Constant *int64(int64_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context), value);
  }
  Constant *bytes(StringRef content, StringRef name);
  Constant *functionArray(const FunctionPool &pool, StringRef name);
  Constant *metadata(StringRef json);
  llvm::GlobalVariable *global(Constant *value, StringRef name);
  void emitExecutable(int64_t arenaBytes);

  ModuleOp source;
  llvm::Module &output;
  llvm::LLVMContext &context;
  llvm::PointerType *pointer;
  std::vector<int64_t> records;
  int32_t numPrograms = 0, numTensors = 0;
  ListPool<char> texts;
  ListPool<int64_t> intLists;
  ListPool<double> floatLists;
  FunctionPool kernels, libraries;
};

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

int64_t TableEmitter::text(StringRef value) {
  llvm::SmallString<64> ended(value);
  ended.push_back('\0');
  return texts.get(ended);
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

LogicalResult TableEmitter::command(plan::CommandOpInterface op) {
  llvm::SmallVector<int64_t> offsets;
  for (Value buffer : op.getCommandBuffers()) {
    std::optional<int64_t> offset = plan::getByteOffset(buffer);
    if (!offset)
      return op->emitOpError("expects buffers with arena offsets; run "
                             "weft-plan-memory first");
    offsets.push_back(*offset);
  }
  llvm::SmallVector<int64_t> intArguments = op.getIntArguments();
  llvm::SmallVector<double> floatArguments = op.getFloatArguments();
  int64_t extent = 0, grain = 0;
  if (auto launch = dyn_cast<plan::LaunchOp>(op.getOperation())) {
    extent = launch.getExtent().value_or(0);
    grain = launch.getGrain().value_or(0);
    if (extent < 1 || grain < 1)
      return op->emitOpError("expects a positive extent and grain, but got ")
             << extent << " and " << grain;
  }
  int64_t callee = function(op.getRoutine(), op.isKernel());
  add({text(op.getRoutine()), text(op.getCommandScope()),
       op.isKernel() ? callee : -1, op.isKernel() ? -1 : callee,
       intLists.get(offsets), int64_t(offsets.size()),
       intLists.get(intArguments), int64_t(intArguments.size()),
       floatLists.get(floatArguments), int64_t(floatArguments.size()), extent,
       grain});
  return success();
}

LogicalResult TableEmitter::port(Operation *op, StringRef name, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  std::optional<int64_t> offset = plan::getByteOffset(buffer);
  if (!offset)
    return op->emitOpError("expects a buffer with an arena offset; run "
                           "weft-plan-memory first");
  add({text(name), plan::getDType(type.getElementType()), type.getRank(),
       intLists.get(type.getShape()), *offset, plan::getBufferBytes(type)});
  return success();
}

LogicalResult TableEmitter::program(plan::ProgramOp op) {
  llvm::SmallVector<plan::CommandOpInterface> commands;
  llvm::SmallVector<plan::InputOp> inputs;
  llvm::SmallVector<plan::OutputOp> outputs;
  for (Operation &inner : op.getBody().front()) {
    if (auto commandOp = dyn_cast<plan::CommandOpInterface>(inner))
      commands.push_back(commandOp);
    else if (auto input = dyn_cast<plan::InputOp>(inner))
      inputs.push_back(input);
    else if (auto result = dyn_cast<plan::OutputOp>(inner))
      outputs.push_back(result);
  }
  ++numPrograms;
  add({text(op.getKind()), int64_t(commands.size()), int64_t(inputs.size()),
       int64_t(outputs.size())});
  for (plan::CommandOpInterface commandOp : commands)
    if (failed(command(commandOp)))
      return failure();
  for (plan::InputOp input : inputs)
    if (failed(port(input, input.getName(), input.getBuffer())))
      return failure();
  for (plan::OutputOp result : outputs)
    if (failed(port(result, result.getName(), result.getBuffer())))
      return failure();
  return success();
}

LogicalResult TableEmitter::tensor(plan::StateOp op) {
  if (!op.getOffset())
    return op.emitOpError(
        "expects an arena offset; run weft-plan-memory first");
  MemRefType type = op.getBufferType();
  ++numTensors;
  add({text(op.getSymName()), text(op.getParam().value_or(StringRef())),
       text(op.getSource().value_or(StringRef())),
       static_cast<int64_t>(op.getKind()),
       plan::getDType(type.getElementType()), type.getRank(),
       int64_t(op.getTrainable()), intLists.get(type.getShape()),
       int64_t(*op.getOffset()), plan::getBufferBytes(type)});
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
  StringRef words(reinterpret_cast<const char *>(records.data()),
                  records.size() * sizeof(int64_t));
  llvm::SmallVector<Constant *> fields = {
      int32(WEFT_ABI_VERSION),
      int32(numPrograms),
      int32(numTensors),
      bytes(words, "weft.records"),
      bytes(texts.getBytes(), "weft.texts"),
      bytes(intLists.getBytes(), "weft.ints"),
      bytes(floatLists.getBytes(), "weft.floats"),
      functionArray(kernels, "weft.kernels"),
      functionArray(libraries, "weft.libraries"),
      int64(arenaBytes),
      metadata(described),
      int64(described.size())};
  global(llvm::ConstantStruct::getAnon(context, fields), "weft_tables")
      ->setLinkage(llvm::GlobalValue::ExternalLinkage);
}

LogicalResult TableEmitter::emit() {
  for (auto op : source.getOps<plan::ProgramOp>())
    if (failed(program(op)))
      return failure();
  for (auto op : source.getOps<plan::StateOp>())
    if (failed(tensor(op)))
      return failure();
  if (numPrograms == 0)
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
  return TableEmitter(module, output).emit();
}

} // namespace weft
