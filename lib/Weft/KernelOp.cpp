//===- KernelOp.cpp - Outlined kernels and what they run over -------------===//

#include "weft/Base/CountText.h"
#include "weft/Weft/KernelFacts.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static ParseResult parseList(OpAsmParser &parser, DenseI64ArrayAttr &list) {
  SmallVector<int64_t> numbers;
  auto parseNumber = [&] {
    return parser.parseInteger(numbers.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNumber))
    return failure();
  list = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

// KIND [sizes] (over [dims])? (sums [dims])? inplace [[inputs], ...] (pitches
// [elements])?
static ParseResult parseFacts(OpAsmParser &parser,
                              KernelOp::Properties &facts) {
  Builder &builder = parser.getBuilder();
  SMLoc place = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseOptionalKeyword(&word))
    return parser.emitError(
        place, "expects elementwise, rows or columns, the kind of the kernel");
  std::optional<KernelKind> kind = symbolizeKernelKind(word);
  if (!kind)
    return parser.emitError(place, "expects elementwise, rows or columns, but "
                                   "got ")
           << word;
  facts.kind = KernelKindAttr::get(builder.getContext(), *kind);
  if (parseList(parser, facts.sizes))
    return failure();
  facts.over = builder.getDenseI64ArrayAttr({});
  if (succeeded(parser.parseOptionalKeyword("over")) &&
      parseList(parser, facts.over))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("sums")) &&
      parseList(parser, facts.sums))
    return failure();
  SmallVector<Attribute> lists;
  auto parseInputs = [&]() -> ParseResult {
    DenseI64ArrayAttr inputs;
    if (parseList(parser, inputs))
      return failure();
    lists.push_back(inputs);
    return success();
  };
  if (parser.parseKeyword("inplace") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseInputs))
    return failure();
  facts.inplace = builder.getArrayAttr(lists);
  if (succeeded(parser.parseOptionalKeyword("pitches")))
    return parseList(parser, facts.pitches);
  return success();
}

static void printFacts(OpAsmPrinter &printer, KernelOp kernel) {
  printer << ' ' << stringifyKernelKind(kernel.getKind()) << ' '
          << spellList(kernel.getSizes());
  if (!kernel.getOver().empty())
    printer << " over " << spellList(kernel.getOver());
  if (kernel.getSums())
    printer << " sums " << spellList(*kernel.getSums());
  printer << " inplace [";
  llvm::interleaveComma(kernel.getInplace().getAsRange<DenseI64ArrayAttr>(),
                        printer, [&](DenseI64ArrayAttr inputs) {
                          printer << spellList(inputs.asArrayRef());
                        });
  printer << ']';
  if (kernel.getPitches())
    printer << " pitches " << spellList(*kernel.getPitches());
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  auto &properties = result.getOrAddProperties<KernelOp::Properties>();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> argumentTypes, resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  bool isVariadic = false;
  if (parser.parseSymbolName(name) ||
      function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, isVariadic, resultTypes,
          resultAttrs) ||
      parseFacts(parser, properties))
    return failure();
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (StringRef inherent : getAttributeNames())
    if (result.attributes.get(inherent))
      return parser.emitError(place, "expects no ")
             << inherent << " among attributes: it has a place before them";
  properties.sym_name = name;
  for (const OpAsmParser::Argument &argument : arguments)
    argumentTypes.push_back(argument.type);
  properties.function_type =
      TypeAttr::get(builder.getFunctionType(argumentTypes, resultTypes));
  call_interface_impl::addArgAndResultAttrs(
      builder, result, arguments, resultAttrs, getArgAttrsAttrName(result.name),
      getResAttrsAttrName(result.name));
  return parser.parseRegion(*result.addRegion(), arguments);
}

/// Fusion prints kernels before it knows their facts, to name them.
void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  function_interface_impl::printFunctionSignature(
      printer, *this, getArgumentTypes(), /*isVariadic=*/false,
      getResultTypes());
  if (getKindAttr())
    printFacts(printer, *this);
  function_interface_impl::printFunctionAttributes(
      printer, *this,
      {getFunctionTypeAttrName(), getArgAttrsAttrName(), getResAttrsAttrName(),
       getKindAttrName(), getSizesAttrName(), getOverAttrName(),
       getSumsAttrName(), getInplaceAttrName(), getPitchesAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

int64_t KernelOp::getNumPoints() {
  return ShapedType::getNumElements(getSizes());
}

static int64_t countPoints(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= sizes[dim];
  return count;
}

int64_t KernelOp::getNumOver() { return countPoints(getSizes(), getOver()); }

int64_t KernelOp::getNumSums() {
  return countPoints(getSizes(), getSums().value_or(ArrayRef<int64_t>()));
}

ArrayRef<int64_t> KernelOp::getInPlaceInputs(unsigned index) {
  // A launch may ask before the kernel is verified.
  ArrayAttr lists = getInplaceAttr();
  if (!lists || index >= lists.size())
    return {};
  auto list = dyn_cast<DenseI64ArrayAttr>(lists[index]);
  return list ? list.asArrayRef() : ArrayRef<int64_t>();
}

/// Whether the rows fit into the pitch, and the padded tensor into the largest
/// buffer.
static bool isPitchOf(Type port, int64_t pitch) {
  auto type = dyn_cast<RankedTensorType>(port);
  if (!type || !type.hasStaticShape() || type.getRank() < 2 ||
      pitch < type.getShape().back())
    return false;
  int64_t bytes = std::max(1u, type.getElementTypeBitWidth() / 8);
  if (llvm::MulOverflow(bytes, pitch, bytes))
    return false;
  for (int64_t size : type.getShape().drop_back())
    if (llvm::MulOverflow(bytes, size, bytes))
      return false;
  return bytes <= kMostBufferBytes;
}

int64_t KernelOp::getPitch(unsigned port) {
  // A launch may ask before the kernel is verified.
  std::optional<ArrayRef<int64_t>> pitches = getPitches();
  ArrayRef<Type> arguments = getArgumentTypes(), results = getResultTypes();
  if (!pitches || port >= pitches->size() ||
      port >= arguments.size() + results.size())
    return 0;
  Type type = port < arguments.size() ? arguments[port]
                                      : results[port - arguments.size()];
  return isPitchOf(type, (*pitches)[port]) ? (*pitches)[port] : 0;
}

std::string weft::spellList(ArrayRef<int64_t> list) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(list, stream);
  stream << ']';
  return text;
}

static bool isAscending(ArrayRef<int64_t> dims, int64_t rank) {
  return llvm::is_sorted(dims, std::less_equal<>()) &&
         (dims.empty() || (dims.front() >= 0 && dims.back() < rank));
}

static std::string findWrongSums(KernelKind kind, ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> over,
                                 ArrayRef<int64_t> sums) {
  if (kind != KernelKind::Rows)
    return "expects sums in a kernel of rows alone, but got sums " +
           spellList(sums) + " in one that is " +
           stringifyKernelKind(kind).str();
  bool areOuter = llvm::none_of(
      sums, [&](int64_t d) { return llvm::is_contained(over, d); });
  if (!sums.empty() && isAscending(sums, sizes.size()) && areOuter)
    return "";
  return "expects ascending numbers of the dimensions " + spellList(sizes) +
         " without " + spellList(over) + " in sums, but got " + spellList(sums);
}

std::string weft::findWrongSpace(KernelKind kind, ArrayRef<int64_t> sizes,
                                 ArrayRef<int64_t> over,
                                 std::optional<ArrayRef<int64_t>> sums) {
  auto rank = static_cast<int64_t>(sizes.size());
  int64_t points = 1;
  for (int64_t size : sizes)
    if (size < 1 || llvm::MulOverflow(points, size, points))
      return "expects sizes of at least 1 with a product below 2^63, but got " +
             spellList(sizes);
  if (!isAscending(over, rank))
    return "expects ascending numbers of the dimensions " + spellList(sizes) +
           " in over, but got " + spellList(over);
  if (std::string wrong =
          sums ? findWrongSums(kind, sizes, over, *sums) : std::string();
      !wrong.empty())
    return wrong;
  const bool overLast = !over.empty() && over.back() == rank - 1;
  switch (kind) {
  case KernelKind::Elementwise:
    return over.empty() ? ""
                        : "expects an elementwise kernel over nothing, but got "
                          "over " +
                              spellList(over);
  case KernelKind::Rows:
    return overLast ? ""
                    : "expects rows over the last dimension, but got over " +
                          spellList(over);
  case KernelKind::Columns:
    return !over.empty() && !overLast
               ? ""
               : "expects columns over other dimensions than the last one, but "
                 "got over " +
                     spellList(over);
  }
  llvm_unreachable("covered switch");
}

/// Elements that results may have, and reductions leave: one for each point,
/// for each row or column, and for each sum over rows.
static SmallVector<int64_t> listCounts(KernelOp kernel) {
  const int64_t points = kernel.getNumPoints();
  SmallVector<int64_t> counts = {points};
  for (int64_t reduced : {kernel.getNumOver(), kernel.getNumSums()})
    if (reduced != 1)
      counts.push_back(points / reduced);
  return counts;
}

/// Results and sums have as many elements as the space says.
static LogicalResult verifyCounts(KernelOp kernel) {
  const SmallVector<int64_t> counts = listCounts(kernel);
  auto spellCounts = [](ArrayRef<int64_t> list) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleave(list, stream, " or ");
    return text;
  };
  for (auto [index, type] : llvm::enumerate(kernel.getResultTypes()))
    if (!llvm::is_contained(counts,
                            cast<RankedTensorType>(type).getNumElements()))
      return kernel.emitOpError("expects ")
             << spellCounts(counts) << " elements in result " << index
             << ", but got " << type;
  const int64_t points = counts.front();
  for (auto reduce : kernel.getBody().front().getOps<ReduceOp>()) {
    int64_t read =
        cast<RankedTensorType>(reduce.getOperand().getType()).getNumElements();
    int64_t left =
        cast<RankedTensorType>(reduce.getResult().getType()).getNumElements();
    if (read == left || (read == points && llvm::is_contained(counts, left)))
      continue;
    ArrayRef<int64_t> reduced = ArrayRef(counts).drop_front();
    return reduce.emitOpError("expects to reduce ")
           << countText(points, "element") << " to "
           << spellCounts(reduced.empty() ? counts : reduced)
           << ", as its kernel says, but got " << read << " and " << left;
  }
  return success();
}

/// Whether a result can reuse an argument's buffer: same element type, and
/// enough elements.
static bool fitsInto(Type result, Type argument) {
  auto to = dyn_cast<ShapedType>(result), from = dyn_cast<ShapedType>(argument);
  return to && from && to.hasStaticShape() && from.hasStaticShape() &&
         from.getElementType() == to.getElementType() &&
         from.getNumElements() >= to.getNumElements();
}

std::string weft::findWrongInPlace(TypeRange inputs, TypeRange results,
                                   ArrayAttr inPlace) {
  std::string wrong;
  llvm::raw_string_ostream stream(wrong);
  if (inPlace.size() != results.size()) {
    stream << "expects one list in inplace for each of "
           << countText(results.size(), "result") << ", but got "
           << inPlace.size();
    return wrong;
  }
  for (auto [index, type] : llvm::enumerate(results)) {
    auto list = cast<DenseI64ArrayAttr>(inPlace[index]);
    for (int64_t input : list.asArrayRef()) {
      if (input < 0 || input >= static_cast<int64_t>(inputs.size())) {
        stream << "expects numbers of the " << inputs.size()
               << " arguments in inplace, but got " << input;
        return wrong;
      }
      if (llvm::count(list.asArrayRef(), input) != 1) {
        stream << "expects each argument once in inplace of result " << index
               << ", but got " << spellList(list.asArrayRef());
        return wrong;
      }
      if (fitsInto(type, inputs[input]))
        continue;
      stream << "expects in inplace an argument that '" << type
             << "' of result " << index << " fits into, but got '"
             << inputs[input] << "'";
      return wrong;
    }
  }
  return wrong;
}

std::string weft::findWrongPitch(TypeRange ports, ArrayRef<int64_t> pitches) {
  std::string wrong;
  llvm::raw_string_ostream stream(wrong);
  if (pitches.size() != ports.size()) {
    stream << "expects one number in pitches for each of " << ports.size()
           << " arguments and results, but got " << pitches.size();
    return wrong;
  }
  for (auto [type, pitch] : llvm::zip_equal(ports, pitches)) {
    if (pitch == 0 || isPitchOf(type, pitch))
      continue;
    stream << "expects in pitches 0 or at least the elements of a row, within "
           << kMostBufferBytes << " bytes, but got " << pitch << " for '"
           << type << "'";
    return wrong;
  }
  return wrong;
}

std::string weft::describeReadAfterWrite(unsigned result, int64_t input) {
  return "expects result " + std::to_string(result) +
         " not to reuse the buffer of argument " + std::to_string(input) +
         ", whose elements are read in another order or later";
}

LogicalResult KernelOp::verifyRegions() {
  std::string wrong =
      findWrongSpace(getKind(), getSizes(), getOver(), getSums());
  if (!wrong.empty())
    return emitOpError(wrong);
  if (failed(verifyCounts(*this)))
    return failure();
  wrong = findWrongInPlace(getArgumentTypes(), getResultTypes(), getInplace());
  if (wrong.empty() && getPitches()) {
    SmallVector<Type> ports(getArgumentTypes());
    llvm::append_range(ports, getResultTypes());
    wrong = findWrongPitch(ports, *getPitches());
  }
  return wrong.empty() ? success() : emitOpError(wrong);
}
