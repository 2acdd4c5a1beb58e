//===- StepCounters.cpp - Steps are counted before updates ----------------===//

#include "StepCounters.h"

#include "KernelBody.h"
#include "StateTable.h"
#include "weft/Plan/Transfers.h"
#include "weft/Weft/Weft.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace weft {

namespace {
/// How a value depends on a counter: not at all, on the number of the current
/// update, or on the old value of the counter.
enum class Count { None, Counted, Old };

struct Counter {
  Count count = Count::None;
  plan::UseOp state; // of an old or counted number
};

class StepCounters {
public:
  StepCounters(plan::ProgramOp program, const SymbolTable &symbols);

  LogicalResult verify();

private:
  Counter lookup(Value buffer) const {
    return known.lookup(plan::getRoot(buffer));
  }
  SmallVector<Counter> getWritten(plan::CommandOpInterface command) const;
  LogicalResult verifyCommand(plan::CommandOpInterface command);

  plan::ProgramOp program;
  const SymbolTable &symbols;
  llvm::DenseMap<Value, plan::UseOp> counters; // by their buffer
  llvm::DenseMap<Value, Counter> known;        // by the root of a buffer
};
} // namespace

StepCounters::StepCounters(plan::ProgramOp program, const SymbolTable &symbols)
    : program(program), symbols(symbols) {
  auto counter =
      MemRefType::get({}, IntegerType::get(program.getContext(), 64));
  for (auto use : program.getBody().front().getOps<plan::UseOp>()) {
    auto state = symbols.lookup<plan::StateOp>(use.getStateAttr().getAttr());
    if (state.getKind() != plan::StateKind::Optimizer ||
        use.getBuffer().getType() != counter)
      continue;
    counters[use.getBuffer()] = use;
    known[use.getBuffer()] = {Count::Old, use};
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The stronger of two dependences.
static Counter join(Counter x, Counter y) { return x.count < y.count ? y : x; }

/// Whether the value is the constant 1 by which counters are incremented.
static bool isOne(Value value) {
  Attribute number;
  if (!getElementTypeOrSelf(value).isInteger(64) ||
      !matchPattern(value, m_Constant(&number)))
    return false;
  if (auto splat = dyn_cast<SplatElementsAttr>(number))
    number = splat.getSplatValue<Attribute>();
  auto integer = dyn_cast<IntegerAttr>(number);
  return integer && integer.getValue().isOne();
}

/// Whether the op increments an old step.
static bool isIncrement(Operation *op) {
  return isa<AddOp, arith::AddIOp>(op) &&
         llvm::any_of(op->getOperands(), isOne);
}

static Counter getCounter(Operation *op,
                          const llvm::DenseMap<Value, Counter> &values) {
  Counter all;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      all = join(all, values.lookup(operand));
  });
  if (all.count == Count::Old && isIncrement(op))
    all.count = Count::Counted;
  if (all.count != Count::Old || !isa<SelectOp, arith::SelectOp>(op))
    return all;
  // A skipped update keeps the old step.
  Count condition = values.lookup(op->getOperand(0)).count;
  Count x = values.lookup(op->getOperand(1)).count;
  Count y = values.lookup(op->getOperand(2)).count;
  bool isKept = (x == Count::Counted || y == Count::Counted) &&
                x != Count::None && y != Count::None;
  if (condition != Count::Old && isKept)
    all.count = Count::Counted;
  return all;
}

/// The dependences of the terminator operands of straight-line code. `values`
/// contains the arguments.
static SmallVector<Counter> getResults(Block &body,
                                       llvm::DenseMap<Value, Counter> &values) {
  for (Operation &op : body.without_terminator()) {
    Counter counter = getCounter(&op, values);
    for (Value result : op.getResults())
      values[result] = counter;
  }
  SmallVector<Counter> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(values.lookup(result));
  return results;
}

/// The dependences of the results of a straight-line kernel.
static SmallVector<Counter> getResults(FunctionOpInterface kernel,
                                       ArrayRef<Counter> arguments) {
  Block &body = kernel.getFunctionBody().front();
  llvm::DenseMap<Value, Counter> values;
  for (auto [value, counter] : llvm::zip(body.getArguments(), arguments))
    values[value] = counter;
  return getResults(body, values);
}

//===----------------------------------------------------------------------===//
// Kernels as linalg ops on memrefs
//===----------------------------------------------------------------------===//

static Value getBase(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// Propagates dependences through one linalg op. `buffers` has them by base
/// buffer.
static void runLinalg(linalg::LinalgOp op,
                      llvm::DenseMap<Value, Counter> &buffers) {
  llvm::DenseMap<Value, Counter> values;
  for (OpOperand &operand : op->getOpOperands()) {
    Counter counter = buffers.lookup(getBase(operand.get()));
    values[operand.get()] = counter; // the body may use a scalar directly
    values[op.getMatchingBlockArgument(&operand)] = counter;
  }
  SmallVector<Counter> results = getResults(*op.getBlock(), values);
  for (auto [output, counter] : llvm::zip(op.getDpsInits(), results)) {
    Value base = getBase(output);
    // A view may leave other elements unchanged.
    buffers[base] =
        base == output ? counter : join(buffers.lookup(base), counter);
  }
}

/// The dependences of the outputs of a kernel in linalg form. Nothing if it
/// contains other ops.
static std::optional<SmallVector<Counter>>
getWritten(func::FuncOp kernel, ArrayRef<Counter> inputs) {
  Block &body = kernel.getBody().front();
  llvm::DenseMap<Value, Counter> buffers;
  for (auto [argument, counter] : llvm::zip(body.getArguments(), inputs))
    buffers[argument] = counter;
  for (Operation &op : body.without_terminator()) {
    auto nest = dyn_cast<linalg::LinalgOp>(op);
    if (nest)
      runLinalg(nest, buffers);
    else if (op.getNumRegions() != 0 ||
             !(isa<ViewLikeOpInterface>(op) || op.getNumOperands() == 0))
      return std::nullopt;
  }
  SmallVector<Counter> written;
  for (Value output : body.getArguments().drop_front(inputs.size()))
    written.push_back(buffers.lookup(output));
  return written;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// The dependences of the operands that a command writes.
SmallVector<Counter>
StepCounters::getWritten(plan::CommandOpInterface command) const {
  SmallVector<Counter> read;
  Counter all;
  for (auto [index, buffer] : llvm::enumerate(command->getOperands()))
    if (command.isRead(index))
      all = join(all, read.emplace_back(lookup(buffer)));
  unsigned numWritten = 0;
  for (unsigned i = 0; i != command->getNumOperands(); ++i)
    numWritten += command.isWritten(i);
  SmallVector<Counter> unknown(numWritten, all);
  auto launch = dyn_cast<plan::LaunchOp>(*command);
  if (!launch || all.count != Count::Old)
    return unknown;
  if (FunctionOpInterface kernel = findKernel(launch, symbols))
    return getResults(kernel, read);
  auto lowered = symbols.lookup<func::FuncOp>(launch.getKernelAttr().getAttr());
  if (!lowered || lowered.isExternal() ||
      lowered.getNumArguments() != command->getNumOperands())
    return unknown;
  return weft::getWritten(lowered, read).value_or(unknown);
}

LogicalResult StepCounters::verifyCommand(plan::CommandOpInterface command) {
  SmallVector<Counter> written = getWritten(command);
  const Counter *next = written.begin();
  for (auto [index, buffer] : llvm::enumerate(command->getOperands())) {
    if (!command.isWritten(index))
      continue;
    Counter counter = *next++;
    Value root = plan::getRoot(buffer);
    plan::UseOp own = counters.lookup(root);
    if (counter.count == Count::Old && getUse(buffer) && own != counter.state)
      return command->emitOpError("expects a step that @")
             << program.getSymName() << " has counted before, but got @"
             << counter.state.getState() << " as it was";
    // A command that does not increment a counter sets it to a new old value.
    if (own && counter.count != Count::Counted)
      counter = {Count::Old, own};
    known[root] = counter;
  }
  return success();
}

LogicalResult StepCounters::verify() {
  if (counters.empty())
    return success();
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>())
    if (!plan::isTransfer(command) && failed(verifyCommand(command)))
      return failure();
  return success();
}

LogicalResult verifyStepCounters(plan::ProgramOp program,
                                 const SymbolTable &symbols) {
  return StepCounters(program, symbols).verify();
}

} // namespace weft
