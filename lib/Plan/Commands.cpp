//===- Commands.cpp - Commands of a plan ----------------------------------===//

#include "weft/Plan/Plan.h"
#include "weft/Runtime/Library.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace weft::plan {

StringRef CommandOpInterface::getCommandScope() {
  auto scope = getOperation()->getAttrOfType<StringAttr>("scope");
  return scope ? scope.getValue() : StringRef();
}

static LogicalResult verifyDense(Operation *op, Value buffer, StringRef name) {
  if (Layout::get(cast<MemRefType>(buffer.getType())).isDense())
    return success();
  return op->emitOpError("expects a dense ")
         << name << ", but got " << buffer.getType();
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

StringRef LaunchOp::getRoutine() { return getKernel(); }
bool LaunchOp::isKernel() { return true; }
OperandRange LaunchOp::getCommandBuffers() {
  return getOperation()->getOperands();
}
SmallVector<int64_t> LaunchOp::getIntArguments() { return {}; }
SmallVector<double> LaunchOp::getFloatArguments() { return {}; }

Access LaunchOp::getAccess(unsigned index) {
  return index < getInputs().size() ? Access::Read : Access::Write;
}

LogicalResult LaunchOp::verify() {
  for (Value input : getInputs())
    if (failed(verifyDense(*this, input, "input")))
      return failure();
  for (Value output : getOutputs())
    if (failed(verifyDense(*this, output, "output")))
      return failure();
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *module = (*this)->getParentOp()->getParentOp();
  if (symbols.lookupSymbolIn(module, getKernelAttr()))
    return success();
  return emitOpError("expects a kernel of the module, but got @")
         << getKernel();
}

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

StringRef CallOp::getRoutine() { return getCallee(); }
bool CallOp::isKernel() { return false; }
OperandRange CallOp::getCommandBuffers() { return getBuffers(); }
SmallVector<int64_t> CallOp::getIntArguments() {
  return SmallVector<int64_t>(getInts());
}
SmallVector<double> CallOp::getFloatArguments() {
  return SmallVector<double>(getFloats());
}
Access CallOp::getAccess(unsigned index) {
  return static_cast<Access>(getAccesses()[index]);
}

static constexpr StringLiteral kRoutines[] = {
#define WEFT_ROUTINE_NAME(symbol) #symbol,
    WEFT_LIBRARY_ROUTINES(WEFT_ROUTINE_NAME)
#undef WEFT_ROUTINE_NAME
};

LogicalResult CallOp::verify() {
  if (!is_contained(kRoutines, getCallee()))
    return emitOpError("expects a library routine (")
           << join(ArrayRef(kRoutines), ", ") << "), but got \"" << getCallee() << "\"";
  if (getAccesses().size() != getBuffers().size())
    return emitOpError("expects one access per buffer, but got ")
           << getAccesses().size() << " for " << getBuffers().size()
           << " buffers";
  for (int32_t access : getAccesses())
    if (!symbolizeAccess(access))
      return emitOpError("expects accesses from 1 to 3, but got ") << access;
  return success();
}

static ParseResult
parseAccesses(OpAsmParser &parser,
              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &buffers,
              SmallVectorImpl<Type> &types, DenseI32ArrayAttr &accesses) {
  SmallVector<int32_t> values;
  auto parseOne = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Access> access = symbolizeAccess(word);
    if (!access)
      return parser.emitError(loc, "expects read, write or update, but got ")
             << word;
    values.push_back(static_cast<int32_t>(*access));
    return failure(parser.parseOperand(buffers.emplace_back()) ||
                   parser.parseColonType(types.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne))
    return failure();
  accesses = DenseI32ArrayAttr::get(parser.getContext(), values);
  return success();
}

/// (`floats` `[` number, ... `]`)?, exactly: the printer of DenseF64ArrayAttr
/// keeps six digits.
static ParseResult parseFloats(OpAsmParser &parser, DenseF64ArrayAttr &floats) {
  SmallVector<double> values;
  auto parseNumber = [&]() -> ParseResult {
    APFloat number(APFloat::IEEEdouble());
    if (parser.parseFloat(APFloat::IEEEdouble(), number))
      return failure();
    values.push_back(number.convertToDouble());
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("floats")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNumber))
    return failure();
  floats = parser.getBuilder().getDenseF64ArrayAttr(values);
  return success();
}

static void printFloats(OpAsmPrinter &printer, CallOp,
                        DenseF64ArrayAttr floats) {
  if (!floats || floats.empty())
    return;
  printer << " floats [";
  llvm::interleaveComma(floats.asArrayRef(), printer, [&](double value) {
    printer.printFloat(APFloat(value));
  });
  printer << "]";
}

static void printAccesses(OpAsmPrinter &printer, CallOp op,
                          OperandRange buffers, TypeRange types,
                          DenseI32ArrayAttr accesses) {
  printer << '(';
  for (unsigned i = 0, e = buffers.size(); i != e; ++i) {
    if (i != 0)
      printer << ", ";
    printer << stringifyAccess(op.getAccess(i)) << ' ' << buffers[i] << " : "
            << types[i];
  }
  printer << ')';
}

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

StringRef ConstantOp::getRoutine() {
  return cast<ElementsAttr>(getValue()).isSplat() ? "weft_cpu_fill"
                                                  : "weft_cpu_constant";
}
bool ConstantOp::isKernel() { return false; }
OperandRange ConstantOp::getCommandBuffers() {
  return getOperation()->getOperands();
}
Access ConstantOp::getAccess(unsigned) { return Access::Write; }

SmallVector<int64_t> ConstantOp::getIntArguments() {
  ElementsAttr value = getValue();
  SmallVector<int64_t> ints = {getDType(value.getElementType()),
                               value.getNumElements()};
  if (value.isSplat() || isa<FloatType>(value.getElementType()))
    return ints;
  bool isBool = value.getElementType().isInteger(1);
  for (APInt element : value.getValues<APInt>())
    ints.push_back(isBool ? element.getZExtValue() : element.getSExtValue());
  return ints;
}

SmallVector<double> ConstantOp::getFloatArguments() {
  ElementsAttr value = getValue();
  SmallVector<double> floats;
  if (isa<FloatType>(value.getElementType())) {
    if (value.isSplat())
      return {value.getSplatValue<APFloat>().convertToDouble()};
    for (APFloat element : value.getValues<APFloat>())
      floats.push_back(element.convertToDouble());
  } else if (value.isSplat()) {
    APInt element = value.getSplatValue<APInt>();
    bool isBool = value.getElementType().isInteger(1);
    floats.push_back(isBool ? element.getZExtValue() : element.getSExtValue());
  }
  return floats;
}

LogicalResult ConstantOp::verify() {
  auto target = cast<MemRefType>(getTarget().getType());
  ShapedType value = getValue().getShapedType();
  if (value.getShape() != target.getShape() ||
      value.getElementType() != target.getElementType())
    return emitOpError(
               "expects a value of the target's shape and type, but got ")
           << value << " for " << target;
  return verifyDense(*this, getTarget(), "target");
}

//===----------------------------------------------------------------------===//
// CopyOp
//===----------------------------------------------------------------------===//

StringRef CopyOp::getRoutine() { return "weft_cpu_copy"; }
bool CopyOp::isKernel() { return false; }
OperandRange CopyOp::getCommandBuffers() {
  return getOperation()->getOperands();
}
Access CopyOp::getAccess(unsigned index) {
  return index == 0 ? Access::Read : Access::Write;
}
SmallVector<double> CopyOp::getFloatArguments() { return {}; }

SmallVector<int64_t> CopyOp::getIntArguments() {
  auto type = cast<MemRefType>(getSource().getType());
  Layout source = Layout::get(type);
  Layout target = Layout::get(cast<MemRefType>(getTarget().getType()));
  SmallVector<int64_t> ints = {getElementBytes(type), type.getRank()};
  ints.append(source.sizes);
  ints.append(source.strides);
  ints.append(target.strides);
  return ints;
}

LogicalResult CopyOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto target = cast<MemRefType>(getTarget().getType());
  if (source.getRank() > 8)
    return emitOpError("expects at most 8 dimensions, but got ")
           << source.getRank();
  if (source.getShape() == target.getShape() &&
      source.getElementType() == target.getElementType())
    return success();
  return emitOpError("expects equal shapes and types, but got ")
         << source << " and " << target;
}

} // namespace weft::plan

#define GET_OP_CLASSES
#include "weft/Plan/PlanOps.cpp.inc"
