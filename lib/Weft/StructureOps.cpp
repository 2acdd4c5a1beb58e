//===- StructureOps.cpp - Programs and kernels ----------------------------===//

#include "Parsing.h"
#include "weft/Weft/Programs.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  if (!isa<DenseElementsAttr>(getValue()))
    return emitOpError("expects a dense<...> value, but got ") << getValue();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// program, kernel
//===----------------------------------------------------------------------===//

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void ProgramOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

/// Whether values of programs may have that type.
static bool isTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  Type element = tensor.getElementType();
  return element.isF32() || element.isF16() || element.isBF16() ||
         element.isF64() || element.isSignlessInteger(1) ||
         element.isSignlessInteger(32) || element.isSignlessInteger(64);
}

/// The names of a program's ports: present, and each used once.
static LogicalResult verifyPortNames(ProgramOp program) {
  llvm::StringSet<> inputs, outputs;
  for (unsigned i = 0, e = program.getNumArguments(); i < e; ++i) {
    StringRef name = program.getInputName(i);
    if (name.empty())
      return program.emitOpError("expects a weft.input name on argument ") << i;
    if (!inputs.insert(name).second)
      return program.emitOpError("expects distinct input names, but got '")
             << name << "' twice";
  }
  for (unsigned i = 0, e = program.getNumResults(); i < e; ++i) {
    StringRef name = program.getOutputName(i);
    if (name.empty())
      return program.emitOpError("expects a weft.output name on result ") << i;
    if (!outputs.insert(name).second)
      return program.emitOpError("expects distinct output names, but got '")
             << name << "' twice";
  }
  return success();
}

/// Inputs and results are tensors, and the body ends as it must.
template <typename TerminatorT, typename OpT>
static LogicalResult verifySignature(OpT op, StringRef terminator) {
  FunctionType type = op.getFunctionType();
  for (auto [types, what] :
       {std::pair(type.getInputs(), "inputs"), {type.getResults(), "results"}})
    for (Type port : types) {
      if (!isTensor(port))
        return op.emitOpError("expects ranked tensors of numbers as ")
               << what << ", but got " << port;
      if (failed(verifyStatic(op, port)))
        return failure();
    }
  Operation &last = op.getBody().front().back();
  if (!isa<TerminatorT>(last))
    return op.emitOpError("expects a body that ends with ")
           << terminator << ", but got " << last.getName();
  return success();
}

LogicalResult ProgramOp::verify() {
  if (failed(verifySignature<ReturnOp>(*this, "weft.return")))
    return failure();
  return verifyPortNames(*this);
}

LogicalResult KernelOp::verify() {
  return verifySignature<YieldOp>(*this, "weft.yield");
}

FailureOr<ProgramOp> weft::findOnlyProgram(ModuleOp module, ProgramKind kind) {
  ProgramOp only;
  for (auto program : module.getOps<ProgramOp>()) {
    if (program.getKind() != kind)
      continue;
    if (only) {
      InFlightDiagnostic error =
          program.emitOpError("expects one program of kind ")
          << stringifyProgramKind(kind) << ", but got a second one";
      error.attachNote(only.getLoc()) << "the first one";
      return error;
    }
    only = program;
  }
  return only;
}

bool weft::isWithoutTraining(ModuleOp module) {
  auto training =
      module->getAttrOfType<TrainingAttr>(WeftDialect::kTrainingAttr);
  return training && training.getOptimizers().empty();
}

void weft::eraseDeadOps(ProgramOp program) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

StringRef ProgramOp::getInputName(unsigned index) {
  auto name = getArgAttrOfType<StringAttr>(index, WeftDialect::kInputAttr);
  return name ? name.getValue() : StringRef();
}

StringRef ProgramOp::getOutputName(unsigned index) {
  auto name = getResultAttrOfType<StringAttr>(index, WeftDialect::kOutputAttr);
  return name ? name.getValue() : StringRef();
}

BlockArgument ProgramOp::findInput(StringRef name) {
  for (unsigned i = 0, e = getNumArguments(); i < e; ++i)
    if (getInputName(i) == name)
      return getArgument(i);
  return {};
}

int ProgramOp::findOutput(StringRef name) {
  for (unsigned i = 0, e = getNumResults(); i < e; ++i)
    if (getOutputName(i) == name)
      return static_cast<int>(i);
  return -1;
}

BlockArgument ProgramOp::addInput(StringRef name, Type type) {
  Builder builder(getContext());
  DictionaryAttr attrs = builder.getDictionaryAttr(builder.getNamedAttr(
      WeftDialect::kInputAttr, builder.getStringAttr(name)));
  unsigned index = getNumArguments();
  // The block argument comes with it.
  LogicalResult inserted = insertArgument(index, type, attrs, getLoc());
  (void)inserted;
  return getArgument(index);
}

ReturnOp ProgramOp::getTerminator() {
  return cast<ReturnOp>(getBody().front().getTerminator());
}

//===----------------------------------------------------------------------===//
// return
//===----------------------------------------------------------------------===//

// weft.return (%a, %b : type, type)? (writes @w = %w2 : type, ...)? attr-dict
ParseResult ReturnOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> outputs, values;
  SmallVector<Type> outputTypes, valueTypes;
  SmallVector<Attribute> targets;
  SMLoc loc = parser.getCurrentLocation();
  OpAsmParser::UnresolvedOperand first;
  OptionalParseResult hasOutputs = parser.parseOptionalOperand(first);
  if (hasOutputs.has_value()) {
    if (failed(*hasOutputs))
      return failure();
    outputs.push_back(first);
    while (succeeded(parser.parseOptionalComma()))
      if (parser.parseOperand(outputs.emplace_back()))
        return failure();
    if (parser.parseColonTypeList(outputTypes))
      return failure();
  }
  auto parseWrite = [&]() -> ParseResult {
    FlatSymbolRefAttr target;
    if (parser.parseAttribute(target) || parser.parseEqual() ||
        parser.parseOperand(values.emplace_back()) ||
        parser.parseColonType(valueTypes.emplace_back()))
      return failure();
    targets.push_back(target);
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("writes")) &&
      parser.parseCommaSeparatedList(parseWrite))
    return failure();
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.resolveOperands(outputs, outputTypes, loc, result.operands) ||
      parser.resolveOperands(values, valueTypes, loc, result.operands))
    return failure();
  Builder &builder = parser.getBuilder();
  auto &properties = result.getOrAddProperties<ReturnOp::Properties>();
  properties.targets = builder.getArrayAttr(targets);
  properties.operandSegmentSizes = {static_cast<int32_t>(outputs.size()),
                                    static_cast<int32_t>(values.size())};
  return success();
}

void ReturnOp::print(OpAsmPrinter &printer) {
  if (!getOutputs().empty())
    printer << " " << getOutputs() << " : " << getOutputs().getTypes();
  if (!getValues().empty()) {
    printer << " writes ";
    llvm::interleaveComma(
        llvm::zip(getTargets(), getValues()), printer, [&](auto pair) {
          auto [target, value] = pair;
          printer << target << " = " << value << " : " << value.getType();
        });
  }
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"targets", "operandSegmentSizes"});
}

/// Types of the parameters and states beside a program: one scan of the module
/// for all writes, since an update writes thousands of states.
static llvm::DenseMap<StringAttr, RankedTensorType>
collectStateTypes(ProgramOp program) {
  llvm::DenseMap<StringAttr, RankedTensorType> types;
  for (Operation &op : *program->getBlock()) {
    if (auto param = dyn_cast<ParamOp>(op))
      types[param.getSymNameAttr()] = param.getTensorType();
    if (auto state = dyn_cast<StateOp>(op))
      types[state.getSymNameAttr()] = state.getTensorType();
  }
  return types;
}

LogicalResult ReturnOp::verify() {
  auto program = cast<ProgramOp>((*this)->getParentOp());
  if (getTargets().size() != getValues().size())
    return emitOpError("expects one target for each written value, but got ")
           << getTargets().size() << " for " << getValues().size();
  if (getOutputs().getTypes() != TypeRange(program.getResultTypes()))
    return emitOpError("expects outputs of types (")
           << program.getResultTypes() << "), but got ("
           << getOutputs().getTypes() << ")";
  llvm::SmallDenseSet<Attribute> written;
  llvm::DenseMap<StringAttr, RankedTensorType> types;
  if (!getValues().empty())
    types = collectStateTypes(program);
  for (auto [target, value] : llvm::zip(getTargets(), getValues())) {
    auto name = cast<FlatSymbolRefAttr>(target);
    if (!written.insert(name).second)
      return emitOpError("expects one write to each state, but got two to ")
             << name;
    RankedTensorType type = types.lookup(name.getAttr());
    if (!type)
      return emitOpError("expects a param or state, but got ") << name;
    if (type != value.getType())
      return emitOpError("expects a value of type ")
             << type << " for " << name << ", but got " << value.getType();
  }
  return success();
}

void ReturnOp::addWrite(StringRef target, Value value) {
  addWrites({{target, value}});
}

void ReturnOp::addWrites(ArrayRef<std::pair<StringRef, Value>> writes) {
  SmallVector<Value> values;
  SmallVector<Attribute> targets(getTargets().getValue());
  for (auto [target, value] : writes) {
    values.push_back(value);
    targets.push_back(FlatSymbolRefAttr::get(getContext(), target));
  }
  getValuesMutable().append(values);
  setTargetsAttr(ArrayAttr::get(getContext(), targets));
}

/// Position of `target` among the writes, or -1.
static int findTarget(ReturnOp op, StringRef target) {
  // Equal attributes are one object, which is faster than to compare names.
  Attribute wanted = FlatSymbolRefAttr::get(op.getContext(), target);
  ArrayRef<Attribute> targets = op.getTargets().getValue();
  const Attribute *found = llvm::find(targets, wanted);
  return found == targets.end() ? -1
                                : static_cast<int>(found - targets.begin());
}

Value ReturnOp::findWrite(StringRef target) {
  int index = findTarget(*this, target);
  return index < 0 ? Value() : getValues()[index];
}

void ReturnOp::replaceWrite(StringRef target, Value value) {
  getValuesMutable()[findTarget(*this, target)].set(value);
}

//===----------------------------------------------------------------------===//
// read, call, yield
//===----------------------------------------------------------------------===//

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  RankedTensorType type;
  Operation *target = symbols.lookupNearestSymbolFrom(*this, getSourceAttr());
  if (auto param = dyn_cast_or_null<ParamOp>(target))
    type = param.getTensorType();
  if (auto state = dyn_cast_or_null<StateOp>(target))
    type = state.getTensorType();
  if (!type)
    return emitOpError("expects a param or state, but got ") << getSourceAttr();
  if (type == getResult().getType())
    return success();
  InFlightDiagnostic diag = emitOpError("expects a result of type ")
                            << type << ", but got " << getResult().getType();
  diag.attachNote(target->getLoc()) << "declared here";
  return diag;
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel =
      symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("expects a kernel, but got ") << getKernelAttr();
  if (kernel.getArgumentTypes() !=
          ArrayRef(SmallVector<Type>(getInputs().getTypes())) ||
      kernel.getResultTypes() !=
          ArrayRef(SmallVector<Type>(getResults().getTypes())))
    return emitOpError("expects the types of the kernel, ")
           << kernel.getFunctionType() << ", but got "
           << FunctionType::get(getContext(), getInputs().getTypes(),
                                getResults().getTypes());
  return success();
}

LogicalResult YieldOp::verify() {
  TypeRange expected = (*this)->getParentOp()->getResultTypes();
  if (auto kernel = dyn_cast<KernelOp>((*this)->getParentOp()))
    expected = kernel.getResultTypes();
  if (getValues().getTypes() == expected)
    return success();
  return emitOpError("expects values of types (")
         << expected << "), but got (" << getValues().getTypes() << ")";
}

static LogicalResult verifyYields(Operation *op) {
  Block &body = op->getRegion(0).front();
  if (body.empty() || !isa<YieldOp>(body.back()))
    return op->emitOpError("expects a body that ends with weft.yield");
  return success();
}

LogicalResult RecomputeOp::verify() {
  if (getSegment().empty())
    return emitOpError("expects a name, but got \"\"");
  return verifyYields(*this);
}

LogicalResult AutocastOp::verify() {
  if (getDtype() && !getDtype()->isF16() && !getDtype()->isBF16())
    return emitOpError("expects dtype to be f16 or bf16, but got ")
           << *getDtype();
  return verifyYields(*this);
}
