//===- KernelGroupOp.cpp - Kernels that run in one launch -----------------===//

#include "Parsing.h"
#include "weft/Interfaces/InPlace.h"
#include "weft/Weft/KernelFacts.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

namespace {
/// Arguments, results and facts of kernels in a row.
struct GroupFacts {
  explicit GroupFacts(ArrayRef<KernelOp> kernels);

  FunctionType getType(MLIRContext *context) const {
    return FunctionType::get(context, arguments, results);
  }
  ArrayAttr getInPlace(Builder &builder) const {
    SmallVector<Attribute> lists;
    for (const SmallVector<int64_t> &list : inPlace)
      lists.push_back(builder.getDenseI64ArrayAttr(list));
    return builder.getArrayAttr(lists);
  }
  /// Null if all ports are dense.
  DenseI64ArrayAttr getPitches(Builder &builder) const;

private:
  SmallVector<Type> arguments, results;
  SmallVector<SmallVector<int64_t>> inPlace; // by result
  SmallVector<int64_t> argumentPitches, resultPitches;
};
} // namespace

GroupFacts::GroupFacts(ArrayRef<KernelOp> kernels) {
  for (KernelOp kernel : kernels) {
    const auto first = static_cast<int64_t>(arguments.size());
    const size_t numArguments = kernel.getArgumentTypes().size();
    for (unsigned i = 0; i < kernel.getResultTypes().size(); ++i) {
      SmallVector<int64_t> &list = inPlace.emplace_back();
      for (int64_t input : kernel.getInPlaceInputs(i))
        list.push_back(first + input);
      resultPitches.push_back(kernel.getPitch(numArguments + i));
    }
    for (unsigned i = 0; i < numArguments; ++i)
      argumentPitches.push_back(kernel.getPitch(i));
    llvm::append_range(arguments, kernel.getArgumentTypes());
    llvm::append_range(results, kernel.getResultTypes());
  }
}

DenseI64ArrayAttr GroupFacts::getPitches(Builder &builder) const {
  SmallVector<int64_t> pitches(argumentPitches);
  llvm::append_range(pitches, resultPitches);
  if (llvm::all_of(pitches, [](int64_t pitch) { return pitch == 0; }))
    return {};
  return builder.getDenseI64ArrayAttr(pitches);
}

KernelGroupOp KernelGroupOp::createGroup(OpBuilder &builder, Location loc,
                                         StringRef name,
                                         ArrayRef<KernelOp> kernels) {
  SmallVector<Attribute> symbols;
  for (KernelOp kernel : kernels)
    symbols.push_back(FlatSymbolRefAttr::get(kernel.getSymNameAttr()));
  const GroupFacts facts(kernels);
  return create(builder, loc, builder.getStringAttr(name),
                builder.getArrayAttr(symbols),
                TypeAttr::get(facts.getType(builder.getContext())),
                facts.getInPlace(builder), facts.getPitches(builder));
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

ParseResult weft::parseInPlaceLists(OpAsmParser &parser, ArrayAttr &lists) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> all;
  auto parseOne = [&]() -> ParseResult {
    SmallVector<int64_t> inputs;
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
          return parser.parseInteger(inputs.emplace_back());
        }))
      return failure();
    all.push_back(builder.getDenseI64ArrayAttr(inputs));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  lists = builder.getArrayAttr(all);
  return success();
}

void weft::printInPlaceLists(OpAsmPrinter &printer, Operation *,
                             ArrayAttr lists) {
  printer << '[';
  llvm::interleaveComma(lists.getAsRange<DenseI64ArrayAttr>(), printer,
                        [&](DenseI64ArrayAttr inputs) {
                          printer << spellList(inputs.asArrayRef());
                        });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> KernelGroupOp::getInPlaceInputs(unsigned index) {
  // A launch may ask before the group is verified.
  ArrayAttr lists = getInplaceAttr();
  if (!lists || index >= lists.size())
    return {};
  auto list = dyn_cast<DenseI64ArrayAttr>(lists[index]);
  return list ? list.asArrayRef() : ArrayRef<int64_t>();
}

int64_t KernelGroupOp::getPitch(unsigned port) {
  std::optional<ArrayRef<int64_t>> pitches = getPitches();
  return pitches && port < pitches->size() ? (*pitches)[port] : 0;
}

LogicalResult KernelGroupOp::verify() {
  if (getKernels().size() < 2)
    return emitOpError("expects at least 2 kernels, but got ")
           << getKernels().size();
  if (getInplace().size() != getFunctionType().getNumResults())
    return emitOpError("expects a list of inputs for each of ")
           << getFunctionType().getNumResults() << " results, but got "
           << getInplace().size();
  return success();
}

/// The lists of kernels in their linalg form, with arguments as the group
/// numbers them; null if a function has none.
static ArrayAttr joinLists(ArrayRef<FunctionOpInterface> functions) {
  Builder builder(functions.front()->getContext());
  SmallVector<Attribute> all;
  int64_t first = 0;
  for (FunctionOpInterface function : functions) {
    auto lists = function->getAttrOfType<ArrayAttr>(kInPlaceAttr);
    if (!lists || !llvm::all_of(lists, llvm::IsaPred<DenseI64ArrayAttr>))
      return {};
    for (auto list : lists.getAsRange<DenseI64ArrayAttr>()) {
      SmallVector<int64_t> inputs(list.asArrayRef());
      for (int64_t &input : inputs)
        input += first;
      all.push_back(builder.getDenseI64ArrayAttr(inputs));
    }
    first += static_cast<int64_t>(function.getNumArguments() - lists.size());
  }
  return builder.getArrayAttr(all);
}

LogicalResult KernelGroupOp::verifySymbolUses(SymbolTableCollection &symbols) {
  SmallVector<KernelOp> kernels;
  SmallVector<FunctionOpInterface> functions;
  for (auto name : getKernels().getAsRange<FlatSymbolRefAttr>()) {
    Operation *symbol = symbols.lookupNearestSymbolFrom(*this, name);
    if (!isa_and_nonnull<FunctionOpInterface>(symbol))
      return emitOpError("expects kernels of the module, but got ") << name;
    functions.push_back(cast<FunctionOpInterface>(symbol));
    if (auto kernel = dyn_cast<KernelOp>(symbol))
      kernels.push_back(kernel);
  }
  if (kernels.empty()) {
    ArrayAttr lists = joinLists(functions);
    if (lists && lists != getInplace())
      return emitOpError("expects the inplace lists of its kernels, ")
             << lists << ", but got " << getInplace();
    return success();
  }
  if (kernels.size() != functions.size())
    return emitOpError("expects kernels of one form, but got weft.kernel and "
                       "functions");
  const GroupFacts facts(kernels);
  Builder builder(getContext());
  if (FunctionType type = facts.getType(getContext());
      type != getFunctionType())
    return emitOpError("expects the types of its kernels, ")
           << type << ", but got " << getFunctionType();
  if (ArrayAttr lists = facts.getInPlace(builder); lists != getInplace())
    return emitOpError("expects the inplace lists of its kernels, ")
           << lists << ", but got " << getInplace();
  if (DenseI64ArrayAttr pitches = facts.getPitches(builder);
      pitches != getPitchesAttr())
    return emitOpError("expects the pitches of its kernels");
  return success();
}
