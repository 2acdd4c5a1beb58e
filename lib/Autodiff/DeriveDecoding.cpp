//===- DeriveDecoding.cpp - Sampling with a cache of keys and values ------===//
//
// Program `logits` computes all positions of a window for one row of logits.
// `prefill` is the same program, and it keeps keys and values. `decode`
// computes one position. It exists if every op computes each position alone,
// which ops answer as for rows of a batch (RowFlowOpInterface), with positions
// as rows. Only attention reads other positions, from the cache.
//
//===----------------------------------------------------------------------===//

#include "RowFlows.h"

#include "weft/Abi/Names.h"
#include "weft/Autodiff/Passes.h"
#include "weft/Support/TypeText.h"
#include "weft/Weft/Programs.h"

#include "mlir/IR/IRMapping.h"

#include <limits>

namespace weft {
#define GEN_PASS_DEF_DERIVEDECODINGPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// Keys and values of one attention: states [groups, positions, width].
struct Cache {
  StringAttr key, value;
  RankedTensorType keyType, valueType;
};

RankedTensorType withSize(Type type, int64_t dim, int64_t size) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] = size;
  return tensor.clone(shape);
}

/// [1, positions, groups, width] as [groups, positions, width].
Value groupsFirst(OpBuilder &builder, Location loc, Value rows) {
  ArrayRef<int64_t> shape = getShape(rows);
  auto type = cast<RankedTensorType>(rows.getType());
  Value flat =
      ReshapeOp::create(builder, loc, type.clone(shape.drop_front()), rows);
  return TransposeOp::create(builder, loc, flat, ArrayRef<int64_t>{1, 0, 2});
}

Value makeNumber(OpBuilder &builder, Location loc, Type element,
                 double number) {
  auto type = RankedTensorType::get({}, element);
  Attribute attr = isa<FloatType>(element)
                       ? Attribute(builder.getFloatAttr(element, number))
                       : builder.getIntegerAttr(element, int64_t(number));
  return ConstantOp::create(
      builder, loc, cast<ElementsAttr>(DenseElementsAttr::get(type, attr)));
}

//===----------------------------------------------------------------------===//
// The program decode
//===----------------------------------------------------------------------===//

/// Builds `decode` from `logits`, op by op.
class Decoding {
public:
  /// With `isOptional` the model is only warned about.
  Decoding(ProgramOp logits, ArrayRef<Cache> caches, bool isOptional)
      : logits(logits), caches(caches), isOptional(isOptional), builder(logits),
        positions(getShape(logits.findInput(names::kTokens))[1]) {
    builder.setInsertionPointAfter(logits);
  }

  LogicalResult build();
  /// Removes the program of a failed build().
  void erase() { program.erase(); }

private:
  void declare();
  LogicalResult decode(Operation &op);
  LogicalResult decodeFixed(Operation &op);
  LogicalResult decodeAttention(AttentionOp op);
  LogicalResult decodeRows(Operation &op);
  /// The flows of the operands. Tables with an entry for each position become
  /// the row at the position.
  FailureOr<SmallVector<RowFlow>> flowsOf(Operation &op);
  FailureOr<Value> rowOf(Operation &op, Value table, int64_t dim);
  Value visibleKeys(AttentionOp op, Value keys);
  Value keptRow(Location loc, Value isHere, Value row, StringAttr state,
                RankedTensorType type);
  Value attend(AttentionOp op, Value keys, Value values, Value visible);
  LogicalResult refuse(Operation &op, const Twine &reason);

  ProgramOp logits, program;
  ArrayRef<Cache> caches;
  bool isOptional;
  OpBuilder builder;
  int64_t positions;
  IRMapping mapped;
  DenseMap<Value, RowFlow> flows;
  DenseMap<std::pair<Value, int64_t>, Value> rows;
  Value position;
  unsigned attentions = 0;
  SmallVector<Value> written;
  SmallVector<Attribute> targets;
};

LogicalResult Decoding::refuse(Operation &op, const Twine &reason) {
  if (isOptional) {
    op.emitWarning("samples compute their whole window for each token, without "
                   "--kv-cache: '")
        << op.getName() << "' op " << reason;
    return failure();
  }
  return op.emitOpError("expects an op that computes each position of a sample "
                        "alone, or attention (--kv-cache), but ")
         << reason;
}

/// The program, with one token in place of a window.
void Decoding::declare() {
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
  position = mapped.lookup(logits.findInput(names::kPosition));
  builder.setInsertionPointToEnd(&block);
}

LogicalResult Decoding::build() {
  declare();
  ReturnOp end = logits.getTerminator();
  for (Operation &op : logits.getBody().front().without_terminator())
    if (failed(decode(op)))
      return failure();
  SmallVector<Value> outputs;
  for (Value output : end.getOutputs()) {
    if (!flows.lookup(output).isFixed())
      return refuse(*end, "returns more than one position");
    outputs.push_back(mapped.lookup(output));
  }
  ReturnOp::create(builder, end.getLoc(), outputs, written,
                   builder.getArrayAttr(targets));
  return success();
}

LogicalResult Decoding::decode(Operation &op) {
  auto isFixed = [&](Value value) { return flows.lookup(value).isFixed(); };
  if (llvm::all_of(op.getOperands(), isFixed))
    return decodeFixed(op);
  if (auto attention = dyn_cast<AttentionOp>(op))
    return decodeAttention(attention);
  // The row of the window that the logits are of: the only one.
  if (auto pick = dyn_cast<EmbeddingOp>(op);
      pick && pick.getIds() == logits.findInput(names::kPosition) &&
      flows.lookup(pick.getTable()).isRows()) {
    mapped.map(pick.getResult(),
               ReshapeOp::create(builder, op.getLoc(), pick.getType(),
                                 mapped.lookup(pick.getTable())));
    flows[pick.getResult()] = RowFlow::fixed(getVaryingDims(pick.getResult()));
    return success();
  }
  return decodeRows(op);
}

LogicalResult Decoding::decodeFixed(Operation &op) {
  builder.clone(op, mapped);
  for (Value result : op.getResults())
    flows[result] = RowFlow::fixed(getVaryingDims(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Ops on each position alone
//===----------------------------------------------------------------------===//

/// The entry of `table` at the position of the token, along `dim`.
FailureOr<Value> Decoding::rowOf(Operation &op, Value table, int64_t dim) {
  Value &row = rows[{table, dim}];
  if (row)
    return row;
  auto type = cast<RankedTensorType>(table.getType());
  ArrayRef<int64_t> shape = type.getShape();
  auto isOne = [](int64_t size) { return size == 1; };
  if (!isa<FloatType>(type.getElementType()) ||
      !llvm::all_of(shape.take_front(dim), isOne))
    return refuse(op, "reads a table of positions of type " +
                          Twine(getTypeText(type)));
  const int64_t width = type.getNumElements() / positions;
  Value flat =
      ReshapeOp::create(builder, op.getLoc(), type.clone({positions, width}),
                        mapped.lookup(table));
  Value entry = EmbeddingOp::create(builder, op.getLoc(), flat, position);
  row = ReshapeOp::create(builder, op.getLoc(), withSize(type, dim, 1), entry);
  for (Value made : {flat, entry, row})
    copyScope(&op, made.getDefiningOp());
  return row;
}

FailureOr<SmallVector<RowFlow>> Decoding::flowsOf(Operation &op) {
  SmallVector<RowFlow> found;
  for (Value operand : op.getOperands())
    found.push_back(flows.lookup(operand));
  // Along the last dimensions, by which shapes broadcast.
  std::optional<int64_t> fromEnd;
  for (auto [operand, flow] : llvm::zip(op.getOperands(), found))
    if (flow.isRows())
      fromEnd = int64_t(getShape(operand).size()) - flow.dim;
  for (auto [operand, flow] : llvm::zip(op.getOperands(), found)) {
    const int64_t dim = int64_t(getShape(operand).size()) - *fromEnd;
    if (!flow.isFixed() || dim < 0 || !flow.variesAlong(dim))
      continue;
    if (!op.hasTrait<HasElementFlops>() && !isa<SelectOp>(op))
      continue; // the op's own rule knows
    if (getShape(operand)[dim] != positions)
      return refuse(op, "reads " + Twine(getShape(operand)[dim]) +
                            " entries for " + Twine(positions) + " positions");
    FailureOr<Value> row = rowOf(op, operand, dim);
    if (failed(row))
      return failure();
    mapped.map(operand, *row);
    flow = RowFlow::rows(dim);
  }
  return found;
}

LogicalResult Decoding::decodeRows(Operation &op) {
  IRMapping before = mapped;
  FailureOr<SmallVector<RowFlow>> operands = flowsOf(op);
  if (failed(operands))
    return failure();
  RowFlow flow = RowFlow::unknown();
  if (auto rope = dyn_cast<RopeOp>(op)) {
    if ((*operands)[0].isRows() && (*operands)[0].dim == 1) {
      flow = (*operands)[0];
      for (Value table : {rope.getCos(), rope.getSin()})
        mapped.map(table, *rowOf(op, table, 0));
    }
  } else if (auto rule = dyn_cast<RowFlowOpInterface>(op)) {
    flow = rule.getRowFlow(*operands, positions);
  }
  if (!flow.isRows())
    return refuse(op, "joins positions");

  Operation *copy = builder.clone(op, mapped);
  mapped = before;
  for (auto [from, to] : llvm::zip(op.getResults(), copy->getResults()))
    mapped.map(from, to);
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

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Which keys of the cache the token sees: [positions].
Value Decoding::visibleKeys(AttentionOp op, Value keys) {
  Location loc = op.getLoc();
  Value visible =
      CompareOp::create(builder, loc, Predicate::LE, keys, position);
  if (std::optional<int64_t> window = op.getWindow()) {
    Value end = AddOp::create(
        builder, loc, keys,
        makeNumber(builder, loc, builder.getI32Type(), double(*window)));
    visible = AndOp::create(
        builder, loc, visible,
        CompareOp::create(builder, loc, Predicate::GT, end, position));
  }
  return visible;
}

/// The state, with the row of the token at its position. Writes the state.
Value Decoding::keptRow(Location loc, Value isHere, Value row, StringAttr state,
                        RankedTensorType type) {
  Value old = ReadOp::create(builder, loc, type, state.getValue());
  Value kept = SelectOp::create(builder, loc, isHere,
                                groupsFirst(builder, loc, row), old);
  written.push_back(kept);
  targets.push_back(FlatSymbolRefAttr::get(state));
  return kept;
}

/// Scores of one query, in f32, and their mean of the values: the semantics of
/// `weft.attention`.
Value Decoding::attend(AttentionOp op, Value keys, Value values,
                       Value visible) {
  Location loc = op.getLoc();
  Value query = mapped.lookup(op.getQuery());
  auto type = cast<RankedTensorType>(query.getType());
  const int64_t groups = getShape(keys)[0], width = type.getDimSize(3);
  Value grouped = ReshapeOp::create(
      builder, loc, type.clone({groups, type.getDimSize(2) / groups, width}),
      query);
  Type element = type.getElementType();
  const bool isLow = element.isF16() || element.isBF16();
  Type wide = isLow ? builder.getF32Type() : element;
  auto number = [&](double value) {
    return makeNumber(builder, loc, wide, value);
  };
  Value scores =
      MatmulOp::create(builder, loc, grouped, keys, /*bias=*/Value(),
                       /*transpose_lhs=*/UnitAttr(), builder.getUnitAttr(),
                       isLow ? TypeAttr::get(wide) : TypeAttr());
  scores = MulOp::create(builder, loc, scores,
                         number(op.getScale().convertToDouble()));
  if (std::optional<APFloat> cap = op.getSoftcap()) {
    Value bound = number(cap->convertToDouble());
    Value part = TanhOp::create(builder, loc,
                                DivOp::create(builder, loc, scores, bound));
    scores = MulOp::create(builder, loc, part, bound);
  }
  scores = SelectOp::create(builder, loc, visible, scores,
                            number(-std::numeric_limits<double>::infinity()));
  Value shares = SoftmaxOp::create(builder, loc, scores);
  if (isLow)
    shares = CastOp::create(
        builder, loc, cast<RankedTensorType>(shares.getType()).clone(element),
        shares);
  Value sum = MatmulOp::create(builder, loc, shares, values,
                               /*transposeLhs=*/false, /*transposeRhs=*/false);
  return ReshapeOp::create(builder, loc, withSize(op.getOut().getType(), 1, 1),
                           sum);
}

LogicalResult Decoding::decodeAttention(AttentionOp op) {
  auto isWindow = [&](Value value) {
    RowFlow flow = flows.lookup(value);
    return flow.isRows() && flow.dim == 1 && getShape(value)[1] == positions;
  };
  if (!op.getCausal() || op.getSegments() || !isWindow(op.getQuery()) ||
      !isWindow(op.getKey()) || !isWindow(op.getValue()))
    return refuse(*op, "this attention is not causal over the tokens of one "
                       "document");
  if (!op.getLse().use_empty())
    return refuse(*op, "the sums of softmax are used");
  Operation *last = &builder.getBlock()->back();
  const Cache &cache = caches[attentions++];
  Location loc = op.getLoc();
  auto number = [&](ArrayRef<int64_t> shape, int64_t dim) {
    return IotaOp::create(builder, loc,
                          RankedTensorType::get(shape, builder.getI32Type()),
                          ArrayRef<int64_t>{dim});
  };
  Value isHere = CompareOp::create(builder, loc, Predicate::EQ,
                                   number({1, positions, 1}, 1), position);
  Value keys = keptRow(loc, isHere, mapped.lookup(op.getKey()), cache.key,
                       cache.keyType);
  Value values = keptRow(loc, isHere, mapped.lookup(op.getValue()), cache.value,
                         cache.valueType);
  Value out = attend(op, keys, values, visibleKeys(op, number({positions}, 0)));
  for (Operation *made = last->getNextNode(); made; made = made->getNextNode())
    copyScope(op, made);
  mapped.map(op.getOut(), out);
  flows[op.getOut()] = RowFlow::rows(1);
  return success();
}

//===----------------------------------------------------------------------===//
// The program prefill
//===----------------------------------------------------------------------===//

/// Declares the states of each attention, in the order of the program.
SmallVector<Cache> declareCaches(ProgramOp logits, SymbolTable &symbols) {
  SmallVector<Cache> caches;
  OpBuilder builder(logits);
  auto declare = [&](AttentionOp op, StringRef what, Value rows) {
    auto type = cast<RankedTensorType>(rows.getType());
    ArrayRef<int64_t> shape = type.getShape();
    type = type.clone({shape[2], shape[1], shape[3]});
    StringRef scope = getScope(op);
    std::string name = scope.empty() ? "cached_" + what.str()
                                     : (scope + ".cached_" + what).str();
    auto state = StateOp::create(
        builder, op.getLoc(), builder.getStringAttr(name), TypeAttr::get(type),
        StateKindAttr::get(builder.getContext(), StateKind::Cache),
        FlatSymbolRefAttr());
    state->remove();
    symbols.insert(state, Block::iterator(logits));
    return std::pair(state.getSymNameAttr(), type);
  };
  for (auto op : logits.getBody().front().getOps<AttentionOp>()) {
    auto [key, keyType] = declare(op, "key", op.getKey());
    auto [value, valueType] = declare(op, "value", op.getValue());
    caches.push_back({key, value, keyType, valueType});
  }
  return caches;
}

/// Renames `logits` and lets it write keys and values.
void makePrefill(ProgramOp logits, ArrayRef<Cache> caches) {
  logits.setSymName(names::kPrefill);
  logits.setKind(ProgramKind::Prefill);
  ReturnOp end = logits.getTerminator();
  OpBuilder builder(end);
  SmallVector<Value> values;
  SmallVector<Attribute> targets;
  for (auto [op, cache] : llvm::zip(
           llvm::to_vector(logits.getBody().front().getOps<AttentionOp>()),
           caches))
    for (auto [rows, state] : {std::pair(op.getKey(), cache.key),
                               std::pair(op.getValue(), cache.value)}) {
      Value first = groupsFirst(builder, op.getLoc(), rows);
      copyScope(op, first.getDefiningOp());
      values.push_back(first);
      targets.push_back(FlatSymbolRefAttr::get(state));
    }
  end.getValuesMutable().assign(values);
  end.setTargetsAttr(builder.getArrayAttr(targets));
}

struct DeriveDecodingPass
    : weft::impl::DeriveDecodingPassBase<DeriveDecodingPass> {
  using DeriveDecodingPassBase::DeriveDecodingPassBase;

  void runOnOperation() override {
    FailureOr<ProgramOp> logits =
        findOnlyProgram(getOperation(), ProgramKind::Logits);
    if (succeeded(logits) && !*logits && optional)
      return;
    if (failed(logits) || failed(check(*logits)))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    SmallVector<Cache> caches = declareCaches(*logits, symbols);
    Decoding decoding(*logits, caches, optional);
    if (failed(decoding.build())) {
      if (!optional)
        return signalPassFailure();
      decoding.erase();
      for (const Cache &cache : caches)
        for (StringAttr state : {cache.key, cache.value})
          symbols.erase(symbols.lookup(state));
      return;
    }
    makePrefill(*logits, caches);
    numCaches += caches.size();
  }

  LogicalResult check(ProgramOp logits) {
    if (!logits)
      return getOperation().emitError("expects a program of kind logits "
                                      "(--kv-cache), but got none");
    for (StringRef name : {names::kPrefill, names::kDecode})
      if (Operation *other = SymbolTable::lookupSymbolIn(getOperation(), name))
        return other->emitOpError("expects another name, but got @")
               << name << ", which weft-derive-decoding defines";
    BlockArgument tokens = logits.findInput(names::kTokens);
    if (!tokens || !logits.findInput(names::kPosition))
      return logits.emitOpError("expects inputs 'tokens' and 'position'");
    if (getShape(tokens)[1] < 2)
      return logits.emitOpError("expects a sequence of 2 or more tokens "
                                "(--kv-cache), but got 1");
    return success();
  }
};

} // namespace
