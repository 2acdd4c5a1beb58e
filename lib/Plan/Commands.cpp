//===- Commands.cpp - Commands of a plan ----------------------------------===//

#include "Commands.h"
#include "StreamNumbers.h"

#include "weft/Interfaces/InPlace.h"
#include "weft/Interfaces/Interfaces.h"
#include "weft/Layout/LayoutQueries.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <cmath>

using namespace mlir;
using namespace llvm;

namespace weft::plan {

StringRef CommandOpInterface::getCommandScope() {
  StringAttr scope = getScopeAttr();
  return scope ? scope.getValue() : StringRef();
}

StringRef CommandOpInterface::getCommandName() {
  if (auto launch = dyn_cast<LaunchOp>(getOperation()))
    return launch.getKernel();
  return getCommandKind();
}

StringRef CommandOpInterface::getCommandKind() {
  return getOperation()->getName().stripDialect();
}

int64_t CommandOpInterface::getStreamNumber() {
  IntegerAttr stream = getStreamAttr();
  return stream ? stream.getInt() : 0;
}

SmallVector<Access> CommandOpInterface::getAccesses() {
  SmallVector<Access> accesses =
      map_to_vector(getOperation()->getOperands(),
                    [](Value buffer) { return Access{buffer}; });
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto op = dyn_cast<MemoryEffectOpInterface>(getOperation()))
    op.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (auto *operand = effect.getEffectValue<OpOperand *>()) {
      Access &access = accesses[operand->getOperandNumber()];
      access.isRead |= isa<MemoryEffects::Read>(effect.getEffect());
      access.isWritten |= isa<MemoryEffects::Write>(effect.getEffect());
    }
  return accesses;
}

Type getLargestElementType(CommandOpInterface command) {
  MemRefType read, written;
  for (auto [buffer, isRead, isWritten] : command.getAccesses()) {
    if (isWorkspace(buffer))
      continue;
    auto type = cast<MemRefType>(buffer.getType());
    MemRefType &largest = isRead ? read : written;
    if (!largest || type.getNumElements() > largest.getNumElements())
      largest = type;
  }
  MemRefType largest = read ? read : written;
  return largest ? largest.getElementType() : Type();
}

LogicalResult verifyDenseOperands(Operation *op) {
  for (Value buffer : op->getOperands())
    if (!Layout::get(cast<MemRefType>(buffer.getType())).isDense())
      return op->emitOpError("expects dense buffers, but got ")
             << buffer.getType();
  return success();
}

LogicalResult verifySingleOperands(Operation *op, ArrayRef<unsigned> groups) {
  auto sizes = op->getAttrOfType<DenseI32ArrayAttr>(
      OpTrait::AttrSizedOperandSegments<void>::getOperandSegmentSizeAttr());
  for (unsigned group : groups)
    if (sizes[group] != 1)
      return op->emitOpError("expects one operand in group ")
             << group << ", but got " << sizes[group];
  return success();
}

/// Whether operand `other` may be the buffer that operand `index` writes.
static bool isInPlace(CommandOpInterface command, unsigned index,
                      unsigned other) {
  Value written = command->getOperand(index), read = command->getOperand(other);
  if (!is_contained(command.getInPlaceOperands(index), other))
    return false;
  auto target = cast<MemRefType>(written.getType());
  auto source = cast<MemRefType>(read.getType());
  return isSamePlace(Layout::get(target), Layout::get(source));
}

static LogicalResult verifyWrite(CommandOpInterface command, unsigned index) {
  Value buffer = command->getOperand(index);
  auto type = cast<MemRefType>(buffer.getType());
  Layout layout = Layout::get(type);
  if (!layout.isInjective())
    return command->emitOpError("expects to write distinct elements, but got ")
           << type;
  for (auto [other, operand] : enumerate(command->getOperands())) {
    if (other == index || getRoot(operand) != getRoot(buffer) ||
        !layout.overlaps(Layout::get(cast<MemRefType>(operand.getType()))) ||
        isInPlace(command, index, other))
      continue;
    return command->emitOpError("expects a buffer that it writes to share no "
                                "bytes with its other operands, but got ")
           << type << " and " << operand.getType() << " of one root";
  }
  return success();
}

LogicalResult verifyCommand(CommandOpInterface command) {
  if (failed(verifyStream(command, command.getStreamNumber())))
    return failure();
  if (IntegerAttr flops = command.getFlopsAttr(); flops && flops.getInt() < 0)
    return command->emitOpError("expects flops of at least 0, but got ")
           << flops.getInt();
  if (FloatAttr time = command.getEstUsAttr();
      time &&
      !(time.getValueAsDouble() >= 0 && std::isfinite(time.getValueAsDouble())))
    return command->emitOpError("expects a finite est_us of at least 0, but "
                                "got ")
           << time;
  for (auto [index, access] : enumerate(command.getAccesses())) {
    if (!access.isRead && !access.isWritten)
      return command->emitOpError("expects a memory effect on each operand, "
                                  "but operand ")
             << index << " has none";
    if (access.isWritten && failed(verifyWrite(command, index)))
      return failure();
  }
  return success();
}

LogicalResult verifyWorkspace(WorkspaceOpInterface op) {
  Value workspace = op.getWorkspace();
  if (!workspace)
    return success();
  if (!isWorkspace(workspace))
    return op->emitOpError("expects a workspace of i8, but got ")
           << workspace.getType();
  unsigned last = op->getNumOperands() - 1;
  if (op->getOperand(last) != workspace)
    return op->emitOpError(
               "expects its workspace after all other operands, but got ")
           << op->getOperand(last).getType() << " there";
  Access access = cast<CommandOpInterface>(*op).getAccesses()[last];
  if (!access.isRead)
    return success();
  return op->emitOpError("expects to write its workspace, but got ")
         << (access.isWritten ? "update" : "read");
}

LogicalResult verifyShape(Operation *op, StringRef name, Value buffer,
                          ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getShape() == shape)
    return success();
  InFlightDiagnostic error = op->emitOpError("expects ")
                             << name << " of shape ";
  interleave(shape, error, "x");
  return error << (shape.empty() ? "()" : "") << ", but got " << type;
}

LogicalResult verifyElement(Operation *op, StringRef name, Value buffer,
                            Type element, bool orF32) {
  Type type = getElementTypeOrSelf(buffer.getType());
  if (type == element || (orF32 && type.isF32()))
    return success();
  return op->emitOpError("expects ")
         << name << " of " << element << (orF32 ? " or f32" : "")
         << ", but got " << type;
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

/// By the types alone; the kernel narrows it (verifySymbolUses).
SmallVector<unsigned> LaunchOp::getInPlaceOperands(unsigned index) {
  return to_vector(
      seq<unsigned>(0, index < getInputs().size() ? 0 : getInputs().size()));
}

/// Where a kernel expects the elements of a port.
static Layout getPortLayout(Operation *kernel, ShapedType type, unsigned port) {
  if (auto buffer = dyn_cast<MemRefType>(type))
    return Layout::get(buffer);
  auto facts = dyn_cast<KernelOpInterface>(kernel);
  return Layout::getPitched(type.getShape(), facts ? facts.getPitch(port) : 0);
}

/// Buffers against the kernel's arguments or results, the first of which is
/// port `first`: tensors, in the linalg form buffers.
static LogicalResult verifyPorts(LaunchOp op, Operation *kernel,
                                 OperandRange buffers, ArrayRef<Type> types,
                                 unsigned first) {
  if (buffers.size() != types.size())
    return op.emitOpError("expects ")
           << types.size() << (first == 0 ? " inputs" : " outputs") << " as @"
           << op.getKernel() << " has, but got " << buffers.size();
  for (auto [index, buffer, type] : enumerate(buffers, types)) {
    auto memref = cast<MemRefType>(buffer.getType());
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank() ||
        memref.getShape() != shaped.getShape() ||
        memref.getElementType() != shaped.getElementType())
      return op.emitOpError("expects a buffer for ")
             << type << " of @" << op.getKernel() << ", but got " << memref;
    Layout layout = getPortLayout(kernel, shaped, first + index);
    if (Layout::get(memref).isLike(layout))
      continue;
    if (layout.isDense())
      return op.emitOpError("expects dense buffers, but got ") << memref;
    return op.emitOpError("expects a buffer like ")
           << layout.getType(memref.getElementType()) << " for @"
           << op.getKernel() << ", but got " << memref;
  }
  return success();
}

/// The inputs whose buffer an output may reuse, by the output's index.
using InPlaceLists = llvm::function_ref<ArrayRef<int64_t>(unsigned)>;

/// Outputs reuse only buffers of inputs that the kernel lists.
static LogicalResult verifyInPlace(LaunchOp op, Operation *kernel,
                                   InPlaceLists lists) {
  for (auto [index, output] : enumerate(op.getOutputs()))
    for (auto [place, input] : enumerate(op.getInputs()))
      if (getRoot(input) == getRoot(output) &&
          Layout::get(cast<MemRefType>(output.getType()))
              .overlaps(Layout::get(cast<MemRefType>(input.getType()))) &&
          !is_contained(lists(index), place)) {
        InFlightDiagnostic error = op.emitOpError("expects output ")
                                   << index << " not to be the buffer of input "
                                   << place << ", which @" << op.getKernel()
                                   << " still reads";
        error.attachNote(kernel->getLoc())
            << "inplace of the kernel does not list it";
        return error;
      }
  return success();
}

static LogicalResult verifyKernel(LaunchOp op, Operation *kernel,
                                  ArrayRef<Type> inputs, ArrayRef<Type> outputs,
                                  InPlaceLists lists) {
  if (failed(verifyPorts(op, kernel, op.getInputs(), inputs, 0)) ||
      failed(verifyPorts(op, kernel, op.getOutputs(), outputs, inputs.size())))
    return failure();
  return verifyInPlace(op, kernel, lists);
}

/// The kernel of that name: in the module, or in a nested module with the
/// kernels of a device.
static Operation *findKernel(Operation *module, FlatSymbolRefAttr name,
                             SymbolTableCollection &symbols) {
  if (Operation *symbol = symbols.lookupSymbolIn(module, name))
    return symbol;
  for (Operation &op : module->getRegion(0).front())
    if (op.hasTrait<OpTrait::SymbolTable>())
      if (Operation *symbol = symbols.lookupSymbolIn(&op, name))
        return symbol;
  return nullptr;
}

/// The kernel may follow the program: then it is not verified yet.
LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *module = (*this)->getParentOp()->getParentOp();
  Operation *symbol = findKernel(module, getKernelAttr(), symbols);
  if (!isa_and_nonnull<FunctionOpInterface, KernelOpInterface>(symbol))
    return emitOpError("expects a kernel of the module, but got @")
           << getKernel();
  auto attr = symbol->getAttrOfType<TypeAttr>("function_type");
  auto type = attr ? dyn_cast<FunctionType>(attr.getValue()) : FunctionType();
  if (auto kernel = dyn_cast<KernelOpInterface>(symbol)) {
    if (!type)
      return emitOpError("expects a kernel with a function type, but got @")
             << getKernel();
    return verifyKernel(
        *this, symbol, type.getInputs(), type.getResults(),
        [&](unsigned index) { return kernel.getInPlaceInputs(index); });
  }
  auto inPlace = symbol->getAttrOfType<ArrayAttr>(kInPlaceAttr);
  // A function over pointers, which has been checked in its linalg form.
  if (!inPlace || !type || inPlace.size() > type.getNumInputs())
    return success();
  if (!llvm::all_of(inPlace, llvm::IsaPred<DenseI64ArrayAttr>))
    return emitOpError("expects a kernel whose ")
           << kInPlaceAttr << " holds lists of arguments, but got @"
           << getKernel();
  ArrayRef<Type> types = type.getInputs();
  return verifyKernel(
      *this, symbol, types.drop_back(inPlace.size()),
      types.take_back(inPlace.size()), [&](unsigned index) {
        return cast<DenseI64ArrayAttr>(inPlace[index]).asArrayRef();
      });
}

//===----------------------------------------------------------------------===//
// ConstantOp and CopyOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  auto target = cast<MemRefType>(getTarget().getType());
  if (!isa<DenseElementsAttr>(getValue()))
    return emitOpError("expects a value dense<...>, but got ") << getValue();
  ShapedType value = getValue().getShapedType();
  if (value.getShape() == target.getShape() &&
      value.getElementType() == target.getElementType())
    return success();
  return emitOpError("expects a value of the target's shape and type, but got ")
         << value << " for " << target;
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

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `"micro"`
static ParseResult parseProgramKind(OpAsmParser &parser,
                                    ProgramKindAttr &kind) {
  std::string word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&word))
    return failure();
  std::optional<ProgramKind> known = symbolizeProgramKind(word);
  if (!known)
    return parser.emitError(loc, "expects the kind of a program, but got '")
           << word << "'";
  kind = ProgramKindAttr::get(parser.getContext(), *known);
  return success();
}

static void printProgramKind(OpAsmPrinter &printer, Operation *,
                             ProgramKindAttr kind) {
  printer << '"' << stringifyProgramKind(kind.getValue()) << '"';
}

/// (`accumulate` (`(` flag `:` type `)`)?)?
static ParseResult
parseAccumulate(OpAsmParser &parser, UnitAttr &adds,
                std::optional<OpAsmParser::UnresolvedOperand> &flag,
                Type &type) {
  if (failed(parser.parseOptionalKeyword("accumulate")))
    return success();
  if (failed(parser.parseOptionalLParen())) {
    adds = parser.getBuilder().getUnitAttr();
    return success();
  }
  return failure(parser.parseOperand(flag.emplace()) ||
                 parser.parseColonType(type) || parser.parseRParen());
}

static void printAccumulate(OpAsmPrinter &printer, Operation *, UnitAttr adds,
                            Value flag, Type type) {
  if (adds)
    printer << " accumulate";
  else if (flag)
    printer << " accumulate(" << flag << " : " << type << ')';
}

} // namespace weft::plan

#define GET_OP_CLASSES
#include "weft/Plan/PlanOps.cpp.inc"
