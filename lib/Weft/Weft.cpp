//===- Weft.cpp - The weft dialect ----------------------------------------===//

#include "Parsing.h"
#include "weft/Weft/KernelOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;

#include "weft/Weft/WeftDialect.cpp.inc"
#include "weft/Weft/WeftEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "weft/Weft/WeftAttrs.cpp.inc"

void WeftDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "weft/Weft/WeftOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "weft/Weft/WeftKernelOps.cpp.inc"
      >();
}

void WeftDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "weft/Weft/WeftAttrs.cpp.inc"
      >();
}

Operation *WeftDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

//===----------------------------------------------------------------------===//
// InitAttr
//===----------------------------------------------------------------------===//

/// Number of numbers that an init kind takes.
static unsigned numInitNumbers(InitKind kind) {
  switch (kind) {
  case InitKind::Zeros:
  case InitKind::Ones:
    return 0;
  case InitKind::Constant:
    return 1;
  case InitKind::Normal:
  case InitKind::Uniform:
    return 2;
  }
  llvm_unreachable("unknown init kind");
}

Attribute InitAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<InitKind> kind = symbolizeInitKind(keyword);
  if (!kind) {
    parser.emitError(loc) << "expects an initialisation of zeros, ones, "
                             "constant, normal or uniform, but got "
                          << keyword;
    return {};
  }
  double numbers[2] = {0.0, 0.0};
  for (unsigned i = 0, e = numInitNumbers(*kind); i < e; ++i)
    if (parser.parseComma() || parser.parseFloat(numbers[i]))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<InitAttr>(loc, parser.getContext(), *kind,
                                     APFloat(numbers[0]), APFloat(numbers[1]));
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyInitKind(getKind());
  double numbers[2] = {getFirst(), getSecond()};
  for (unsigned i = 0, e = numInitNumbers(getKind()); i < e; ++i) {
    printer << ", ";
    printer.printFloat(llvm::APFloat(numbers[i]));
  }
  printer << ">";
}

LogicalResult InitAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               InitKind kind, APFloat firstNumber,
                               APFloat secondNumber) {
  double first = firstNumber.convertToDouble();
  double second = secondNumber.convertToDouble();
  if (!std::isfinite(first) || !std::isfinite(second))
    return emitError()
           << "expects finite numbers in an initialisation, but got " << first
           << " and " << second;
  if (kind == InitKind::Normal)
    return verifyNormal(emitError, first, second);
  if (kind == InitKind::Uniform)
    return verifyUniform(emitError, first, second);
  return success();
}

//===----------------------------------------------------------------------===//
// SegmentAttr
//===----------------------------------------------------------------------===//

Attribute SegmentAttr::parse(AsmParser &parser, Type) {
  return parseSegmentAttr<SegmentAttr>(parser);
}

void SegmentAttr::print(AsmPrinter &printer) const {
  printSegment(printer, getSegment());
}

LogicalResult SegmentAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  FlatSymbolRefAttr, ArrayRef<int64_t> shape,
                                  int64_t begin, int64_t end, StringAttr) {
  return verifySegment(emitError, shape, begin, end);
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

Type weft::statisticsElement(Type element) {
  if (element.isF64())
    return element;
  return Float32Type::get(element.getContext());
}

RankedTensorType weft::rowStatistics(RankedTensorType type) {
  return RankedTensorType::get(type.getShape().drop_back(),
                               statisticsElement(type.getElementType()));
}

/// Whether the bytes of a tensor and the strides of its dimensions fit.
static bool fitsMemory(RankedTensorType type) {
  int64_t bytes = std::max(type.getElementTypeBitWidth() / 8, 1u);
  for (int64_t dim : type.getShape())
    if (llvm::MulOverflow(bytes, std::max<int64_t>(dim, 1), bytes))
      return false;
  return bytes <= kMostBufferBytes;
}

StringRef weft::findBrokenTensorRule(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return "a ranked tensor";
  if (!tensor.hasStaticShape())
    return "a static shape";
  if (tensor.getEncoding())
    return "a tensor without encoding";
  if (llvm::any_of(tensor.getShape(), [](int64_t dim) { return dim < 1; }))
    return "sizes of at least 1";
  if (tensor.getElementType().isIntOrFloat() && !fitsMemory(tensor))
    return "a tensor of at most 2^44 bytes";
  return {};
}

LogicalResult weft::verifyStatic(Operation *op, Type type) {
  StringRef rule = findBrokenTensorRule(type);
  if (rule.empty())
    return success();
  return op->emitOpError("expects ") << rule << ", but got " << type;
}

LogicalResult weft::verifyStaticTensors(Operation *op) {
  // Most ops have one type throughout, which is looked at once.
  Type known;
  auto verify = [&](TypeRange types) {
    for (Type type : types)
      if (type != known && failed(verifyStatic(op, known = type)))
        return failure();
    return success();
  };
  return success(succeeded(verify(op->getOperandTypes())) &&
                 succeeded(verify(op->getResultTypes())));
}

LogicalResult weft::checkOperands(std::optional<Location> loc,
                                  ValueRange operands) {
  for (Type type : operands.getTypes()) {
    StringRef rule = findBrokenTensorRule(type);
    if (!rule.empty())
      return emitOptionalError(loc, "expects ", rule, ", but got ", type);
  }
  return success();
}

FailureOr<SmallVector<int64_t>> weft::broadcastShapes(ArrayRef<int64_t> lhs,
                                                      ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SmallVector<int64_t> shape(lhs);
  size_t shift = lhs.size() - rhs.size();
  for (size_t i = 0; i < rhs.size(); ++i) {
    int64_t &dim = shape[shift + i];
    if (dim == rhs[i] || rhs[i] == 1)
      continue;
    if (dim != 1)
      return failure();
    dim = rhs[i];
  }
  return shape;
}

bool weft::isViewOp(Operation *op) {
  return isa_and_nonnull<ViewOpInterface>(op);
}

bool weft::renames(Operation *op) { return op && op->hasTrait<SameElements>(); }

bool weft::movesElements(Operation *op) {
  return op && op->hasTrait<MovesElements>();
}

Value weft::skipViews(Value value) {
  while (isViewOp(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

std::string weft::spellChoices(ArrayRef<StringRef> names, StringRef quote) {
  std::string text;
  for (auto [i, name] : llvm::enumerate(names)) {
    if (i > 0)
      text += i + 1 == names.size() ? " or " : ", ";
    text += (quote + name + quote).str();
  }
  return text;
}

StringAttr weft::getScopeAttr(Operation *op) {
  return dyn_cast_or_null<StringAttr>(
      op->getDiscardableAttr(WeftDialect::kScopeAttr));
}

StringRef weft::getCommonScope(StringRef a, StringRef b) {
  while (!a.empty() && a != b && !(b.starts_with(a) && b[a.size()] == '.'))
    a = a.contains('.') ? a.rsplit('.').first : StringRef();
  return a;
}

StringRef weft::getScope(Operation *op) {
  StringAttr scope = getScopeAttr(op);
  return scope ? scope.getValue() : StringRef();
}

void weft::setScope(Operation *op, StringAttr scope) {
  if (!op->getDiscardableAttrDictionary().empty())
    return op->setDiscardableAttr(WeftDialect::kScopeAttr, scope);
  NamedAttribute only(WeftDialect::kScopeAttr, scope);
  op->setDiscardableAttrs(DictionaryAttr::get(op->getContext(), only));
}

void weft::copyScope(Operation *from, Operation *to) {
  StringAttr scope = getScopeAttr(from);
  if (!scope)
    return;
  // Most ops have no other attribute: they share its dictionary.
  DictionaryAttr all = from->getDiscardableAttrDictionary();
  if (all.size() == 1 && to->getDiscardableAttrDictionary().empty())
    to->setDiscardableAttrs(all);
  else
    setScope(to, scope);
}
