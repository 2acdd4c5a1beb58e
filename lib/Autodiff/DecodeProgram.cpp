//===- DecodeProgram.cpp - A program that computes one token --------------===//

#include "DecodeProgram.h"

#include "weft/Abi/Names.h"
#include "weft/Support/TypeText.h"

using namespace mlir;
using namespace weft;

static RankedTensorType withSize(Type type, int64_t dim, int64_t size) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] = size;
  return tensor.clone(shape);
}

DecodeProgram::DecodeProgram(ProgramOp logits, bool isOptional)
    : logits(logits), isOptional(isOptional), symbols(logits->getParentOp()),
      builder(logits) {
  builder.setInsertionPointAfter(logits);
}

LogicalResult DecodeProgram::refuse(Operation *op, const Twine &reason) {
  if (isOptional) {
    op->emitWarning("samples compute their whole window for each token, "
                    "without --kv-cache: '")
        << op->getName() << "' op " << reason;
    return failure();
  }
  return op->emitOpError("expects a program that computes each position of a "
                         "sample alone, except in attention (--kv-cache), but "
                         "it ")
         << reason;
}

LogicalResult DecodeProgram::build() {
  if (succeeded(check()) && succeeded(decodeAll()))
    return success();
  if (program)
    program.erase();
  for (const AttentionCache &cache : caches)
    for (StateOp state : {cache.key, cache.value})
      symbols.erase(state);
  return failure();
}

static bool isInt32(BlockArgument input, ArrayRef<int64_t> shape) {
  auto type = input ? dyn_cast<RankedTensorType>(input.getType()) : nullptr;
  return type && type.getShape() == shape &&
         type.getElementType().isInteger(32);
}

LogicalResult DecodeProgram::check() {
  for (StringRef name : {names::kPrefill, names::kDecode})
    if (Operation *other = symbols.lookup(name))
      return refuse(other, "has the name @" + name +
                               ", which weft-derive-decoding defines");
  BlockArgument tokens = logits.findInput(names::kTokens);
  auto window = tokens ? dyn_cast<RankedTensorType>(tokens.getType()) : nullptr;
  positions = window && window.getRank() == 2 ? window.getDimSize(1) : 0;
  if (positions < 2 || !isInt32(tokens, {1, positions}))
    return refuse(logits,
                  "has no input 'tokens' of one row with 2 or more i32");
  if (!isInt32(logits.findInput(names::kPosition), {1}))
    return refuse(logits, "has no input 'position' of one i32");
  if (!logits.getTerminator().getValues().empty())
    return refuse(logits, "writes states");
  return success();
}

/// The program, with one token in place of a window.
void DecodeProgram::declare() {
  SmallVector<Type> inputs(logits.getArgumentTypes());
  BlockArgument tokens = logits.findInput(names::kTokens);
  inputs[tokens.getArgNumber()] = withSize(tokens.getType(), 1, 1);
  program = ProgramOp::create(
      builder, logits.getLoc(), builder.getStringAttr(names::kDecode),
      TypeAttr::get(builder.getFunctionType(inputs, logits.getResultTypes())),
      ProgramKindAttr::get(builder.getContext(), ProgramKind::Decode),
      logits.getArgAttrsAttr(), logits.getResAttrsAttr());
  Block &block = program.getBody().emplaceBlock();
  for (auto [argument, type] : llvm::zip(logits.getArguments(), inputs)) {
    mapped.map(argument, block.addArgument(type, argument.getLoc()));
    flows[argument] = RowFlow::fixed(getVaryingDims(argument));
  }
  flows[tokens] = RowFlow::rows(1);
  BlockArgument at = logits.findInput(names::kPosition);
  positional.insert(at);
  position = mapped.lookup(at);
  builder.setInsertionPointToEnd(&block);
}

LogicalResult DecodeProgram::decodeAll() {
  declare();
  ReturnOp end = logits.getTerminator();
  for (Operation &op : logits.getBody().front().without_terminator())
    if (failed(decode(op)))
      return failure();
  SmallVector<Value> outputs;
  for (Value output : end.getOutputs()) {
    if (!flows.lookup(output).isFixed())
      return refuse(end, "returns more than one position");
    outputs.push_back(mapped.lookup(output));
  }
  ReturnOp::create(builder, end.getLoc(), outputs, written,
                   builder.getArrayAttr(targets));
  return success();
}

bool DecodeProgram::isPick(Operation &op) {
  auto pick = dyn_cast<EmbeddingOp>(op);
  if (!pick || pick.getIds() != logits.findInput(names::kPosition))
    return false;
  const RowFlow flow = flows.lookup(pick.getTable());
  return flow.isRows() && flow.dim == 0 &&
         getShape(pick.getTable())[0] == positions;
}

LogicalResult DecodeProgram::decode(Operation &op) {
  auto isFixed = [&](Value value) { return flows.lookup(value).isFixed(); };
  if (llvm::all_of(op.getOperands(), isFixed)) {
    decodeFixed(op);
    return success();
  }
  if (isPick(op)) {
    Value row = op.getResult(0);
    mapped.map(row, ReshapeOp::create(builder, op.getLoc(), row.getType(),
                                      mapped.lookup(op.getOperand(0))));
    flows[row] = RowFlow::fixed(getVaryingDims(row));
    positional.insert(row);
    return success();
  }
  for (Value operand : op.getOperands())
    if (positional.contains(operand))
      return refuse(&op, "reads the position, or the row at it, for all rows");
  if (auto attention = dyn_cast<AttentionOp>(op))
    return decodeAttention(attention);
  return decodeRows(op);
}

void DecodeProgram::decodeFixed(Operation &op) {
  builder.clone(op, mapped);
  const bool isPositional = llvm::any_of(op.getOperands(), [&](Value operand) {
    return positional.contains(operand);
  });
  for (Value result : op.getResults()) {
    flows[result] = RowFlow::fixed(getVaryingDims(result));
    if (isPositional)
      positional.insert(result);
  }
}

//===----------------------------------------------------------------------===//
// Ops on each position alone
//===----------------------------------------------------------------------===//

FailureOr<Value> DecodeProgram::rowOf(Operation &op, Value table, int64_t dim) {
  Value &row = entries[{table, dim}];
  if (row)
    return row;
  if (getShape(table)[dim] % positions != 0)
    return refuse(&op, "reads " + getTypeText(table.getType()) +
                           " with another number of positions than the " +
                           Twine(positions) + " of the window");
  if (!isExactAsFloat(table))
    return refuse(&op, "reads " + getTypeText(table.getType()) +
                           " as a table of positions, whose integers are not "
                           "known to be within 2^24");
  Operation *last = &builder.getBlock()->back();
  row = tableEntry(builder, op.getLoc(), mapped.lookup(table), dim, positions,
                   position);
  for (Operation *made = last->getNextNode(); made; made = made->getNextNode())
    copyScope(&op, made);
  return row;
}

FailureOr<SmallVector<RowFlow>>
DecodeProgram::flowsOf(Operation &op, SmallVectorImpl<Value> &rows) {
  SmallVector<RowFlow> found;
  // Shapes broadcast along their last dimensions.
  std::optional<int64_t> fromEnd;
  for (Value operand : op.getOperands()) {
    found.push_back(flows.lookup(operand));
    if (found.back().isRows())
      fromEnd = int64_t(getShape(operand).size()) - found.back().dim;
  }
  rows.assign(found.size(), Value());
  const bool broadcasts = op.hasTrait<HasElementFlops>() || isa<SelectOp>(op);
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    const bool isRopeTable = isa<RopeOp>(op) && i > 0;
    if (!found[i].isFixed() || !fromEnd || !(broadcasts || isRopeTable))
      continue; // the op's own rule decides
    const int64_t dim =
        isRopeTable ? 0 : int64_t(getShape(operand).size()) - *fromEnd;
    if (dim < 0 || (!isRopeTable && !found[i].variesAlong(dim)))
      continue;
    FailureOr<Value> row = rowOf(op, operand, dim);
    if (failed(row))
      return failure();
    rows[i] = *row;
    if (!isRopeTable)
      found[i] = RowFlow::rows(dim);
  }
  return found;
}

/// Positions are the second dimension of the operand.
static RowFlow flowOfRope(RopeOp op, ArrayRef<RowFlow> operands,
                          int64_t positions) {
  const bool fits = operands[0].isRows() && operands[0].dim == 1 &&
                    getShape(op.getOperand())[1] == positions &&
                    operands[1].isFixed() && operands[2].isFixed();
  return fits ? operands[0] : RowFlow::unknown();
}

LogicalResult DecodeProgram::decodeRows(Operation &op) {
  SmallVector<Value> rows;
  FailureOr<SmallVector<RowFlow>> operands = flowsOf(op, rows);
  if (failed(operands))
    return failure();
  RowFlow flow = RowFlow::unknown();
  if (auto rope = dyn_cast<RopeOp>(op))
    flow = flowOfRope(rope, *operands, positions);
  else if (auto rule = dyn_cast<RowFlowOpInterface>(op))
    flow = rule.getRowFlow(*operands, positions);
  if (!flow.isRows() || getShape(op.getResult(0))[flow.dim] % positions != 0)
    return refuse(&op, "joins positions");

  Operation *copy = builder.clone(op, mapped);
  for (auto [i, row] : llvm::enumerate(rows))
    if (row)
      copy->setOperand(i, row);
  Value result = op.getResult(0);
  flows[result] = flow;
  const int64_t size = getShape(result)[flow.dim] / positions;
  if (auto slice = dyn_cast<SliceOp>(copy)) {
    SmallVector<int64_t> sizes(slice.getSizes());
    sizes[flow.dim] = size;
    slice.setSizes(sizes);
  }
  copy->getResult(0).setType(withSize(result.getType(), flow.dim, size));
  // Statistics of norms, which nothing reads here, have rows where results do.
  for (OpResult more : llvm::drop_begin(copy->getResults()))
    if (flow.dim < int64_t(getShape(more).size()))
      more.setType(withSize(more.getType(), flow.dim, size));
  return success();
}
