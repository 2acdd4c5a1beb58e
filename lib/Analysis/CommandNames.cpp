//===- CommandNames.cpp - Readable names of kernels and commands ----------===//

#include "weft/Analysis/CommandNames.h"

#include "weft/Plan/Plan.h"
#include "weft/Plan/Transfers.h"
#include "weft/Support/TypeText.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;

/// More ops than this are counted, not named.
static constexpr size_t kMostOps = 4;

/// "8x128 f32", or the type alone for a scalar. `types` may differ.
static std::string getSuffix(ArrayRef<int64_t> shape, StringRef inner,
                             Type from, Type to) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << ' ';
  llvm::interleave(shape, os, "x");
  os << inner << (shape.empty() ? "" : " ") << getTypeText(from);
  if (from != to)
    os << "->" << getTypeText(to);
  return text;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Ops that a kernel computes, rather than names of values or constants.
static bool isNamed(Operation &op) {
  return !isa<weft::ConstantOp, IotaOp, ReshapeOp, BroadcastOp, SliceOp,
              TransposeOp, MaterializeOp, CastOp, YieldOp>(op);
}

std::string weft::getNameInKernel(Operation &op) {
  if (!isNamed(op))
    return "";
  // "sum" says more than "reduce".
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return stringifyReduceKind(reduce.getKind()).str();
  return op.getName().stripDialect().str();
}

static RankedTensorType getTensorType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// The type with the most elements; the first of equals, null of none.
template <typename Range> static RankedTensorType getLargest(Range values) {
  RankedTensorType largest;
  for (Value value : values)
    if (RankedTensorType type = getTensorType(value))
      if (!largest || type.getNumElements() > largest.getNumElements())
        largest = type;
  return largest;
}

/// The largest value that an op reads or makes.
static RankedTensorType getWidest(Operation &op) {
  RankedTensorType result = getLargest(op.getResults());
  RankedTensorType operand = getLargest(op.getOperands());
  if (!result ||
      (operand && operand.getNumElements() > result.getNumElements()))
    return operand;
  return result;
}

/// The names in the kernel's weft.computes attribute, or else of its ops.
static SmallVector<std::string> getComputed(KernelOp kernel) {
  SmallVector<std::string> names;
  if (auto list =
          kernel->getAttrOfType<ArrayAttr>(WeftDialect::kComputesAttr)) {
    for (StringAttr name : list.getAsRange<StringAttr>())
      names.push_back(name.str());
    return names;
  }
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (std::string name = getNameInKernel(op);
        !name.empty() && !llvm::is_contained(names, name))
      names.push_back(name);
  return names;
}

static std::string joinOps(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  SmallVector<std::string> names = getComputed(kernel);
  if (names.empty())
    return body.getOps<CastOp>().empty() ? "copy" : "cast";
  std::string text = llvm::join(ArrayRef(names).take_front(kMostOps), "+");
  if (names.size() > kMostOps)
    text += "+(" + std::to_string(names.size() - kMostOps) + " more)";
  return text;
}

std::string weft::getKernelName(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  RankedTensorType widest = getLargest(body.getArguments());
  for (Operation &op : body.without_terminator()) {
    RankedTensorType type = getWidest(op);
    if (!widest || (type && type.getNumElements() > widest.getNumElements()))
      widest = type;
  }
  RankedTensorType to = getLargest(body.getTerminator()->getOperands());
  RankedTensorType from = getLargest(body.getArguments());
  if (!to)
    return joinOps(kernel);
  if (!from)
    from = to;
  return joinOps(kernel) + getSuffix(widest.getShape(), "",
                                     from.getElementType(),
                                     to.getElementType());
}

/// The ops of the kernels, with how often they are there: "sum x12, adamw".
static std::string getGroupName(KernelGroupOp group,
                                const SymbolTable &symbols) {
  SmallVector<std::pair<std::string, unsigned>> counts;
  for (auto name : group.getKernels().getAsRange<FlatSymbolRefAttr>())
    if (auto kernel = symbols.lookup<KernelOp>(name.getAttr())) {
      const std::string ops = joinOps(kernel);
      auto known = llvm::find_if(
          counts, [&](const auto &each) { return each.first == ops; });
      if (known != counts.end())
        ++known->second;
      else
        counts.emplace_back(ops, 1);
    }
  SmallVector<std::string> texts;
  for (auto &[text, count] : counts)
    texts.push_back(count == 1 ? text : text + " x" + std::to_string(count));
  std::string all = llvm::join(ArrayRef(texts).take_front(kMostOps), ", ");
  if (texts.size() > kMostOps)
    all += " (" + std::to_string(texts.size() - kMostOps) + " more)";
  return all;
}

static FailureOr<double> getFlops(Operation &op) {
  if (auto cost = dyn_cast<CostOpInterface>(op))
    return cost.getFlops();
  RankedTensorType widest = getWidest(op);
  auto each = dyn_cast<ElementCostOpInterface>(op);
  if (!widest || !each)
    return op.emitOpError("expects its operations to be counted, by an "
                          "ElementCostOpInterface or a CostOpInterface, but "
                          "got no count");
  return each.getElementFlops() * static_cast<double>(widest.getNumElements());
}

FailureOr<double> weft::getKernelFlops(KernelOp kernel) {
  double sum = 0;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!isNamed(op))
      continue;
    FailureOr<double> flops = getFlops(op);
    if (failed(flops))
      return failure();
    sum += *flops;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

KernelOp CommandNames::getKernel(plan::CommandOpInterface command) {
  auto launch = dyn_cast<plan::LaunchOp>(command.getOperation());
  return launch ? symbols.lookup<KernelOp>(launch.getKernel()) : KernelOp();
}

/// The largest buffer that the command writes (or reads), scalars last.
static MemRefType getLargestBuffer(plan::CommandOpInterface command,
                                   bool written) {
  MemRefType largest;
  for (auto [buffer, isRead, isWritten] : command.getAccesses()) {
    if (isWritten != written || plan::isWorkspace(buffer))
      continue;
    auto type = cast<MemRefType>(buffer.getType());
    if (!largest || type.getNumElements() > largest.getNumElements())
      largest = type;
  }
  return largest;
}

/// Of a product: the dimension that its result does not show.
static std::string getInnerSize(plan::CommandOpInterface command) {
  auto gemm = dyn_cast<plan::GemmOp>(command.getOperation());
  if (!gemm)
    return "";
  ArrayRef<int64_t> lhs = cast<MemRefType>(gemm.getLhs().getType()).getShape();
  return " by " +
         std::to_string(lhs[lhs.size() - (gemm.getTransposeLhs() ? 2 : 1)]);
}

std::string CommandNames::getName(plan::CommandOpInterface command) {
  if (KernelOp kernel = getKernel(command)) {
    std::string &known = kernelNames[kernel];
    if (known.empty())
      known = getKernelName(kernel);
    return known;
  }
  if (auto launch = dyn_cast<plan::LaunchOp>(command.getOperation()))
    if (auto group = symbols.lookup<KernelGroupOp>(launch.getKernel()))
      return getGroupName(group, symbols);
  StringRef name = command.getCommandName();
  // Records and waits show their event.
  if (isa<plan::RecordOp, plan::WaitOp>(command.getOperation()))
    return (name + " " +
            command->getAttrOfType<FlatSymbolRefAttr>("event").getValue())
        .str();
  MemRefType written = getLargestBuffer(command, /*written=*/true);
  MemRefType read = getLargestBuffer(command, /*written=*/false);
  // A loss or a norm writes one number, or one per row. Its input is more
  // informative.
  bool isSmall = read && (!written || (written.getRank() <= 1 &&
                                       read.getRank() > written.getRank()));
  MemRefType shape = isSmall ? read : written;
  if (!shape)
    return name.str();
  Type to = (written ? written : read).getElementType();
  Type from = read && isa<FloatType>(read.getElementType())
                  ? read.getElementType()
                  : to;
  // The sum that an epilogue reads may be wider than the factors.
  if (isa<plan::GemmOp>(command.getOperation()))
    from = command.getElementType();
  return name.str() +
         getSuffix(shape.getShape(), getInnerSize(command), from, to);
}

std::string CommandNames::getNameAndSymbol(plan::CommandOpInterface command) {
  std::string name = getName(command);
  auto launch = dyn_cast<plan::LaunchOp>(command.getOperation());
  return launch ? name + " @" + launch.getKernel().str() : name;
}
