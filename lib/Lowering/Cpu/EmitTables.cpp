//===- EmitTables.cpp - Plan programs as constant tables ------------------===//

#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Plan/Plan.h"
#include "weft/Runtime/Abi.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

#include <map>

using namespace mlir;

namespace weft {

namespace {

/// All lists of one kind in one array; a list is a pointer into it. A global
/// for each would cost more time than the lists themselves.
template <typename T> class ListPool {
public:
  ListPool(llvm::Module &output, llvm::Type *element, StringRef name)
      : element(element),
        array(new llvm::GlobalVariable(output, llvm::ArrayType::get(element, 0),
                                       /*isConstant=*/true,
                                       llvm::GlobalValue::InternalLinkage,
                                       /*Initializer=*/nullptr, name)) {}

  llvm::Constant *get(llvm::ArrayRef<T> list) {
    llvm::Constant *&known = lists[list.vec()];
    if (!known) {
      auto *index = llvm::ConstantInt::get(
          llvm::Type::getInt64Ty(element->getContext()), elements.size());
      known =
          llvm::ConstantExpr::getInBoundsGetElementPtr(element, array, index);
      elements.insert(elements.end(), list.begin(), list.end());
    }
    return known;
  }

  /// Gives the array its content, when all lists are known.
  void finish() {
    if (elements.empty())
      return array->eraseFromParent();
    array->replaceInitializer(
        llvm::ConstantDataArray::get(element->getContext(), elements));
  }

private:
  llvm::Type *element;
  llvm::GlobalVariable *array;
  std::vector<T> elements;
  std::map<std::vector<T>, llvm::Constant *> lists;
};

/// Writes the structs of Abi.h, field by field in their order.
class TableEmitter {
public:
  TableEmitter(ModuleOp source, llvm::Module &output)
      : source(source), output(output), context(output.getContext()),
        pointer(llvm::PointerType::get(context, 0)),
        texts(output, llvm::Type::getInt8Ty(context), "weft.texts"),
        intLists(output, llvm::Type::getInt64Ty(context), "weft.ints"),
        floatLists(output, llvm::Type::getDoubleTy(context), "weft.floats") {}

  LogicalResult emit();

private:
  using Constant = llvm::Constant;
  using Fields = llvm::SmallVector<Constant *>;

  Constant *int32(int64_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt32Ty(context), value);
  }
  Constant *int64(int64_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context), value);
  }
  Constant *null() { return llvm::ConstantPointerNull::get(pointer); }
  Constant *text(StringRef value);
  Constant *ints(llvm::ArrayRef<int64_t> values);
  Constant *floats(llvm::ArrayRef<double> values);
  Constant *array(llvm::ArrayRef<Constant *> elements, StringRef name);
  Constant *structure(const Fields &fields);
  llvm::GlobalVariable *global(Constant *value, const llvm::Twine &name);
  Constant *function(StringRef name, bool isKernel);

  FailureOr<Constant *> command(plan::CommandOpInterface op);
  FailureOr<Constant *> port(Operation *op, StringRef name, Value buffer);
  FailureOr<Constant *> program(plan::ProgramOp op);
  FailureOr<Constant *> tensor(plan::StateOp op);

  ModuleOp source;
  llvm::Module &output;
  llvm::LLVMContext &context;
  llvm::PointerType *pointer;
  llvm::StringMap<Constant *> knownTexts;
  ListPool<uint8_t> texts;
  ListPool<uint64_t> intLists;
  ListPool<double> floatLists;
};

llvm::GlobalVariable *TableEmitter::global(Constant *value,
                                           const llvm::Twine &name) {
  return new llvm::GlobalVariable(output, value->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::InternalLinkage, value,
                                  name);
}

llvm::Constant *TableEmitter::text(StringRef value) {
  Constant *&known = knownTexts[value];
  if (!known) {
    llvm::SmallVector<uint8_t> bytes(value.begin(), value.end());
    bytes.push_back(0);
    known = texts.get(bytes);
  }
  return known;
}

llvm::Constant *TableEmitter::ints(llvm::ArrayRef<int64_t> values) {
  if (values.empty())
    return null();
  return intLists.get(llvm::ArrayRef(
      reinterpret_cast<const uint64_t *>(values.data()), values.size()));
}

llvm::Constant *TableEmitter::floats(llvm::ArrayRef<double> values) {
  return values.empty() ? null() : floatLists.get(values);
}

llvm::Constant *TableEmitter::structure(const Fields &fields) {
  return llvm::ConstantStruct::getAnon(context, fields);
}

llvm::Constant *TableEmitter::array(llvm::ArrayRef<Constant *> elements,
                                    StringRef name) {
  if (elements.empty())
    return null();
  auto *type =
      llvm::ArrayType::get(elements.front()->getType(), elements.size());
  return global(llvm::ConstantArray::get(type, elements), name);
}

llvm::Constant *TableEmitter::function(StringRef name, bool isKernel) {
  auto *word = llvm::Type::getInt64Ty(context);
  auto *type =
      isKernel ? llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                         {pointer, word, word}, false)
               : llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                         {pointer, pointer, pointer}, false);
  return cast<llvm::Constant>(
      output.getOrInsertFunction(name, type).getCallee());
}

/// WeftCommand
FailureOr<llvm::Constant *> TableEmitter::command(plan::CommandOpInterface op) {
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
  Constant *callee = function(op.getRoutine(), op.isKernel());
  return structure(
      {text(op.getRoutine()), text(op.getCommandScope()),
       op.isKernel() ? callee : null(), op.isKernel() ? null() : callee,
       ints(offsets), ints(intArguments), floats(floatArguments),
       int32(offsets.size()), int32(intArguments.size()),
       int32(floatArguments.size()), int32(0), int64(extent), int64(grain)});
}

/// WeftPort
FailureOr<llvm::Constant *> TableEmitter::port(Operation *op, StringRef name,
                                               Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  std::optional<int64_t> offset = plan::getByteOffset(buffer);
  if (!offset)
    return op->emitOpError("expects a buffer with an arena offset; run "
                           "weft-plan-memory first");
  return structure({text(name), int32(plan::getDType(type.getElementType())),
                    int32(type.getRank()), ints(type.getShape()),
                    int64(*offset), int64(plan::getBufferBytes(type))});
}

/// WeftProgram
FailureOr<llvm::Constant *> TableEmitter::program(plan::ProgramOp op) {
  Fields commands, inputs, outputs;
  for (Operation &inner : op.getBody().front()) {
    FailureOr<Constant *> made = nullptr;
    Fields *list = nullptr;
    if (auto commandOp = dyn_cast<plan::CommandOpInterface>(inner)) {
      made = command(commandOp);
      list = &commands;
    } else if (auto input = dyn_cast<plan::InputOp>(inner)) {
      made = port(&inner, input.getName(), input.getBuffer());
      list = &inputs;
    } else if (auto result = dyn_cast<plan::OutputOp>(inner)) {
      made = port(&inner, result.getName(), result.getBuffer());
      list = &outputs;
    } else {
      continue;
    }
    if (failed(made))
      return failure();
    list->push_back(*made);
  }
  return structure({text(op.getKind()), array(commands, "weft.commands"),
                    array(inputs, "weft.inputs"),
                    array(outputs, "weft.outputs"), int32(commands.size()),
                    int32(inputs.size()), int32(outputs.size()), int32(0)});
}

/// WeftTensor
FailureOr<llvm::Constant *> TableEmitter::tensor(plan::StateOp op) {
  if (!op.getOffset())
    return op.emitOpError(
        "expects an arena offset; run weft-plan-memory first");
  MemRefType type = op.getBufferType();
  return structure(
      {text(op.getSymName()), text(op.getParam().value_or(StringRef())),
       text(op.getSource().value_or(StringRef())),
       int32(static_cast<int32_t>(op.getKind())),
       int32(plan::getDType(type.getElementType())), int32(type.getRank()),
       int32(op.getTrainable()), ints(type.getShape()), int64(*op.getOffset()),
       int64(plan::getBufferBytes(type))});
}

LogicalResult TableEmitter::emit() {
  Fields programs, tensors;
  for (Operation &op : *source.getBody()) {
    if (auto programOp = dyn_cast<plan::ProgramOp>(op)) {
      FailureOr<Constant *> made = program(programOp);
      if (failed(made))
        return failure();
      programs.push_back(*made);
    } else if (auto state = dyn_cast<plan::StateOp>(op)) {
      FailureOr<Constant *> made = tensor(state);
      if (failed(made))
        return failure();
      tensors.push_back(*made);
    }
  }
  texts.finish();
  intLists.finish();
  floatLists.finish();
  if (programs.empty())
    return success(); // kernels only
  auto arena =
      source->getAttrOfType<IntegerAttr>(plan::PlanDialect::kArenaBytesAttr);
  if (!arena)
    return source.emitOpError("expects the attribute ")
           << plan::PlanDialect::kArenaBytesAttr << "; run weft-plan-memory";
  auto metadata = source->getAttrOfType<StringAttr>("weft.metadata");
  StringRef json = metadata ? metadata.getValue() : StringRef("{}");
  llvm::GlobalVariable *meta =
      global(llvm::ConstantDataArray::getString(context, json,
                                                /*AddNull=*/false),
             "weft.metadata");
  meta->setSection(".weft.meta");
  meta->setAlignment(llvm::Align(1));
  llvm::GlobalVariable *executable =
      global(structure({int32(WEFT_ABI_VERSION), int32(programs.size()),
                        int32(tensors.size()), int32(0),
                        array(programs, "weft.programs"),
                        array(tensors, "weft.tensors"), int64(arena.getInt()),
                        meta, int64(json.size())}),
             "weft_executable");
  executable->setLinkage(llvm::GlobalValue::ExternalLinkage);
  return success();
}

} // namespace

LogicalResult emitTables(ModuleOp module, llvm::Module &output) {
  return TableEmitter(module, output).emit();
}

} // namespace weft
