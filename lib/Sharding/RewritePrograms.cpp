//===- RewritePrograms.cpp - Programs over flat states --------------------===//
//
// A read of a segment becomes a view of the read of the flat state. The writes
// of segments become a concatenation with zeros between them. If equal updates
// or roundings compute all segments, one op computes the flat value instead.
//
//===----------------------------------------------------------------------===//

#include "FlatStates.h"
#include "Updates.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace weft;

namespace {

/// A segment of a flat state, by number.
struct PartRef {
  unsigned state = 0, part = 0;
};

/// An op on a segment, and the op on the flat state that replaces it.
struct Joined {
  Operation *op, *whole;
  PartRef ref;
};

class Rewriter {
public:
  Rewriter(ProgramOp program, ArrayRef<FlatState> states,
           const DenseMap<StringAttr, PartRef> &places)
      : program(program), states(states), places(places),
        builder(program.getContext()), wholes(states.size()) {}

  void run();

private:
  const PartRef *findRead(Value value) const;
  Value readWhole(unsigned state);
  Value slicePart(Location loc, Value whole, PartRef ref);
  Value viewPart(Location loc, Value whole, PartRef ref);

  Value joinReads(ArrayRef<Value> parts);
  Value joinConstants(const FlatState &state, ArrayRef<Value> parts);
  Value joinOps(unsigned state, ArrayRef<Value> parts);
  Value join(unsigned state, ArrayRef<Value> parts);
  Value joinOperand(unsigned state, ArrayRef<Operation *> ops, unsigned index);

  Value flatten(Value value, const FlatPart &part);
  Value makeGap(Location loc, const FlatState &state, int64_t elements);
  Value concatenate(unsigned state, ArrayRef<Value> parts);

  void writeWholes();
  void readParts();
  void eraseJoined();

  ProgramOp program;
  ArrayRef<FlatState> states;
  const DenseMap<StringAttr, PartRef> &places;
  OpBuilder builder;
  /// The read of each flat state, or null.
  SmallVector<Value> wholes;
  /// The op on the flat state, by the op on the first segment.
  DenseMap<Operation *, Operation *> joined;
  /// Ops that are replaced by an op on the flat state, operands before users.
  SmallVector<Joined> old;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// The segment that the value is a read of, or null.
const PartRef *Rewriter::findRead(Value value) const {
  auto read = value ? value.getDefiningOp<ReadOp>() : ReadOp();
  if (!read)
    return nullptr;
  auto found = places.find(read.getSourceAttr().getAttr());
  return found == places.end() ? nullptr : &found->second;
}

Value Rewriter::readWhole(unsigned state) {
  Value &whole = wholes[state];
  if (whole)
    return whole;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&program.getBody().front());
  const FlatState &flat = states[state];
  return whole = ReadOp::create(builder, flat.parts.front().loc, flat.type,
                                flat.symbol);
}

/// The elements of a segment, in one dimension.
Value Rewriter::slicePart(Location loc, Value whole, PartRef ref) {
  const FlatPart &part = states[ref.state].parts[ref.part];
  return SliceOp::create(builder, loc, whole, ArrayRef<int64_t>{part.begin},
                         ArrayRef<int64_t>{part.type.getNumElements()},
                         ArrayRef<int64_t>{1});
}

/// The elements of a segment, in its shape. `whole` may have another element
/// type than the state.
Value Rewriter::viewPart(Location loc, Value whole, PartRef ref) {
  const FlatPart &part = states[ref.state].parts[ref.part];
  Value view = slicePart(loc, whole, ref);
  if (part.type.getRank() == 1)
    return view;
  auto type =
      RankedTensorType::get(part.type.getShape(), getElementTypeOrSelf(whole));
  return ReshapeOp::create(builder, loc, type, view);
}

void Rewriter::readParts() {
  for (auto read :
       llvm::make_early_inc_range(program.getBody().front().getOps<ReadOp>())) {
    const PartRef *ref = findRead(read);
    if (!ref)
      continue;
    if (!read->use_empty()) {
      builder.setInsertionPoint(read);
      read.replaceAllUsesWith(
          viewPart(read.getLoc(), readWhole(ref->state), *ref));
    }
    read.erase();
  }
}

//===----------------------------------------------------------------------===//
// One op for all segments
//===----------------------------------------------------------------------===//

/// The read of the flat state, if the values are reads of all its segments in
/// order.
Value Rewriter::joinReads(ArrayRef<Value> parts) {
  const PartRef *first = findRead(parts.front());
  if (!first || states[first->state].parts.size() != parts.size())
    return {};
  for (auto [number, value] : llvm::enumerate(parts)) {
    const PartRef *ref = findRead(value);
    if (!ref || ref->state != first->state || ref->part != number)
      return {};
  }
  return readWhole(first->state);
}

/// The element of a splat constant, or null.
static Attribute getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat =
      constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  return splat ? splat.getSplatValue<Attribute>() : Attribute();
}

/// Joins constants that are all zero: gaps must be zero.
Value Rewriter::joinConstants(const FlatState &state, ArrayRef<Value> parts) {
  Attribute zero = builder.getZeroAttr(state.type.getElementType());
  for (Value value : parts)
    if (getSplat(value) != zero)
      return {};
  builder.setInsertionPoint(program.getTerminator());
  return ConstantOp::create(
      builder, state.parts.front().loc,
      cast<ElementsAttr>(DenseElementsAttr::get(state.type, zero)));
}

/// Whether the op is elementwise and maps zeros to zeros.
static bool isElementwise(Operation *op) {
  return isa<CastOp, OptimizerOpInterface>(op);
}

/// Whether the ops differ only in their segments.
static bool areJoinable(ArrayRef<Operation *> ops) {
  Operation *first = ops.front();
  return isElementwise(first) &&
         llvm::all_of(ops.drop_front(), [&](Operation *op) {
           return op && haveSameFormula(first, op);
         });
}

/// The operand of the joined op: a number that all ops read, or the flat value
/// for their segments.
Value Rewriter::joinOperand(unsigned state, ArrayRef<Operation *> ops,
                            unsigned index) {
  if (index == getDecayOperand(ops.front()))
    return chooseDecay(ops);
  SmallVector<Value> values;
  for (Operation *op : ops)
    values.push_back(op->getOperand(index));
  bool isShared = llvm::all_equal(values);
  if (index >= countPartOperands(ops.front()))
    return isShared ? values.front() : Value();
  // Several ops may not share a segment as their operand.
  return isShared && ops.size() > 1 ? Value() : join(state, values);
}

static void setCommonScope(Operation *whole, ArrayRef<Operation *> ops) {
  StringRef common = getScope(ops.front());
  for (Operation *op : ops)
    common = getCommonScope(common, getScope(op));
  whole->removeDiscardableAttr(WeftDialect::kScopeAttr);
  if (!common.empty())
    setScope(whole, StringAttr::get(whole->getContext(), common));
}

/// Joins ops of the same formula, and returns the same result of the joined op.
Value Rewriter::joinOps(unsigned state, ArrayRef<Value> parts) {
  SmallVector<Operation *> ops;
  auto front = dyn_cast<OpResult>(parts.front());
  for (Value value : parts) {
    auto result = dyn_cast<OpResult>(value);
    if (!front || !result ||
        result.getResultNumber() != front.getResultNumber())
      return {};
    ops.push_back(result.getOwner());
  }
  if (Operation *known = joined.lookup(ops.front()))
    return known->getResult(front.getResultNumber());
  if (!areJoinable(ops))
    return {};
  SmallVector<Value> operands;
  for (unsigned i = 0; i != ops.front()->getNumOperands(); ++i)
    if (!operands.emplace_back(joinOperand(state, ops, i)))
      return {};
  SmallVector<Type> types;
  int64_t elements = RankedTensorType(states[state].type).getNumElements();
  for (Type type : ops.front()->getResultTypes())
    types.push_back(
        RankedTensorType::get(ArrayRef(elements), getElementTypeOrSelf(type)));
  SmallVector<int64_t> begins;
  for (const FlatPart &part : states[state].parts)
    begins.push_back(part.begin);
  std::optional<unsigned> decay = getDecayOperand(ops.front());
  builder.setInsertionPoint(getFirst(ops));
  OperationState made(
      ops.front()->getLoc(), ops.front()->getName(), operands, types,
      joinAttributes(ops, begins, decay ? operands[*decay] : Value()));
  Operation *whole = builder.create(made);
  setCommonScope(whole, ops);
  joined[ops.front()] = whole;
  for (auto [number, op] : llvm::enumerate(ops))
    old.push_back({op, whole, {state, unsigned(number)}});
  return whole->getResult(front.getResultNumber());
}

/// One value that contains all segments, or null.
Value Rewriter::join(unsigned state, ArrayRef<Value> parts) {
  if (llvm::is_contained(parts, Value()))
    return {};
  if (Value whole = joinReads(parts))
    return whole;
  if (Value whole = joinConstants(states[state], parts))
    return whole;
  return joinOps(state, parts);
}

/// Makes other users of a result read it from the flat value.
void Rewriter::eraseJoined() {
  for (const Joined &entry : llvm::reverse(old)) {
    builder.setInsertionPointAfter(entry.whole);
    for (auto [result, whole] :
         llvm::zip(entry.op->getResults(), entry.whole->getResults()))
      if (!result.use_empty())
        result.replaceAllUsesWith(
            viewPart(entry.op->getLoc(), whole, entry.ref));
    entry.op->erase();
  }
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// Flattens the value to one dimension. A constant stays a constant, so that it
/// is written in place.
Value Rewriter::flatten(Value value, const FlatPart &part) {
  auto type = RankedTensorType::get({part.type.getNumElements()},
                                    part.type.getElementType());
  if (type == value.getType())
    return value;
  if (auto constant = value.getDefiningOp<ConstantOp>())
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return ConstantOp::create(builder, constant.getLoc(),
                                cast<ElementsAttr>(dense.reshape(type)));
  // Inserted right after the value. Otherwise a kernel of both would be at the
  // end of the program, and its inputs would stay live until then.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  return ReshapeOp::create(builder, value.getLoc(), type, value);
}

Value Rewriter::makeGap(Location loc, const FlatState &state,
                        int64_t elements) {
  Type element = state.type.getElementType();
  auto type = RankedTensorType::get({elements}, element);
  return ConstantOp::create(builder, loc,
                            cast<ElementsAttr>(DenseElementsAttr::get(
                                type, builder.getZeroAttr(element))));
}

/// Concatenates the segments. Segments that the program does not write keep
/// their old values.
Value Rewriter::concatenate(unsigned state, ArrayRef<Value> parts) {
  const FlatState &flat = states[state];
  builder.setInsertionPoint(program.getTerminator());
  SmallVector<Value> pieces;
  int64_t end = 0;
  for (auto [number, part] : llvm::enumerate(flat.parts)) {
    if (end != part.begin)
      pieces.push_back(makeGap(part.loc, flat, part.begin - end));
    end = part.begin + part.type.getNumElements();
    pieces.push_back(parts[number] ? flatten(parts[number], part)
                                   : slicePart(part.loc, readWhole(state),
                                               {state, unsigned(number)}));
  }
  if (end != flat.type.getNumElements())
    pieces.push_back(
        makeGap(flat.parts.back().loc, flat, flat.type.getNumElements() - end));
  return ConcatOp::create(builder, flat.parts.front().loc, pieces, /*dim=*/0);
}

/// Replaces the writes of segments. A flat state is written at the position of
/// the first of its segments.
void Rewriter::writeWholes() {
  ReturnOp terminator = program.getTerminator();
  llvm::MapVector<unsigned, SmallVector<Value>> parts;
  SmallVector<std::pair<Attribute, Value>> writes;
  for (auto [target, value] :
       llvm::zip(terminator.getTargets(), terminator.getValues())) {
    auto found = places.find(cast<FlatSymbolRefAttr>(target).getAttr());
    if (found == places.end()) {
      writes.push_back({target, value});
      continue;
    }
    auto [state, part] = found->second;
    SmallVector<Value> &values = parts[state];
    if (values.empty()) {
      values.resize(states[state].parts.size());
      writes.push_back({states[state].symbol, Value()});
    }
    values[part] = value;
  }
  auto next = parts.begin();
  SmallVector<Attribute> targets;
  SmallVector<Value> values;
  for (auto [target, value] : writes) {
    if (!value) {
      auto &[state, list] = *next++;
      value = join(state, list);
      if (!value)
        value = concatenate(state, list);
    }
    targets.push_back(target);
    values.push_back(value);
  }
  builder.setInsertionPoint(terminator);
  ReturnOp::create(builder, terminator.getLoc(), terminator.getOutputs(),
                   values, builder.getArrayAttr(targets));
  terminator.erase();
}

void Rewriter::run() {
  writeWholes();
  eraseJoined();
  readParts();
  for (Value whole : wholes)
    if (whole && whole.use_empty())
      whole.getDefiningOp()->erase();
}

void weft::rewritePrograms(ModuleOp module, ArrayRef<FlatState> states) {
  DenseMap<StringAttr, PartRef> places;
  for (unsigned i = 0; i != states.size(); ++i)
    for (auto [number, part] : llvm::enumerate(states[i].parts))
      places[part.symbol.getAttr()] = {i, unsigned(number)};
  for (auto program : module.getOps<ProgramOp>())
    Rewriter(program, states, places).run();
}
