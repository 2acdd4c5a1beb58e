//===- FormBuckets.cpp - Parameters in one flat state ---------------------===//

#include "FormBuckets.h"

#include "Updates.h"

#include "weft/Dist/Dist.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft {

std::optional<StringRef> Member::getSlot(StringRef symbol) const {
  StringRef name = ParamOp(param).getSymName();
  if (symbol == name)
    return StringRef();
  if (symbol.consume_front(name) && symbol.consume_front(".") &&
      !symbol.empty())
    return symbol;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

static LogicalResult verifyParam(ParamOp param) {
  if (param.getTieAttr())
    return param.emitOpError("expects no tied parameter (weft-tie-params), but "
                             "got tie = @")
           << *param.getTie();
  if (param.isSegmented())
    return param.emitOpError("expects a parameter that lies in no flat state "
                             "yet, but got one with segments");
  return success();
}

/// A state of a parameter has the same shape as the parameter.
static LogicalResult verifyState(StateOp state, const Member &member) {
  ParamOp param = member.param;
  std::optional<StringRef> slot = member.getSlot(state.getSymName());
  if (!slot || slot->empty())
    return state.emitOpError("expects to be called @")
           << param.getSymName() << ".SLOT as a state of that parameter";
  ArrayRef<int64_t> shape = param.getTensorType().getShape();
  if (state.getTensorType().getShape() == shape)
    return success();
  return state.emitOpError("expects the shape of @")
         << param.getSymName() << ", [" << shape << "], but got "
         << state.getType();
}

static void collectUpdates(ModuleOp module,
                           llvm::DenseMap<StringAttr, Operation *> &updates) {
  for (auto program : module.getOps<ProgramOp>()) {
    if (program.getKind() != ProgramKind::Apply)
      continue;
    ReturnOp end = program.getTerminator();
    for (auto [target, value] : llvm::zip(end.getTargets(), end.getValues()))
      updates[cast<FlatSymbolRefAttr>(target).getAttr()] =
          value.getDefiningOp();
  }
}

FailureOr<std::vector<Member>> collectMembers(ModuleOp module) {
  llvm::DenseMap<StringAttr, Operation *> updates;
  collectUpdates(module, updates);
  llvm::DenseMap<StringAttr, unsigned> numbers;
  std::vector<Member> members;
  for (auto param : module.getOps<ParamOp>()) {
    if (failed(verifyParam(param)))
      return failure();
    numbers[param.getSymNameAttr()] = members.size();
    members.push_back({param, {}, updates.lookup(param.getSymNameAttr())});
  }
  for (auto state : module.getOps<StateOp>()) {
    if (state.isSegmented())
      return state.emitOpError("expects a state that is not flat yet, but got "
                               "one with segments");
    if (!state.getParamAttr())
      continue;
    Member &member = members[numbers.lookup(state.getParamAttr().getAttr())];
    if (failed(verifyState(state, member)))
      return failure();
    member.states.push_back(state);
  }
  return members;
}

//===----------------------------------------------------------------------===//
// Buckets
//===----------------------------------------------------------------------===//

/// Whether both have the same states with the same types, on the same ranks at
/// every stage.
static bool hasSameStorage(const Member &a, const Member &b) {
  ParamOp first = a.param, second = b.param;
  if (first.getTensorType().getElementType() !=
          second.getTensorType().getElementType() ||
      first.getTrainable() != second.getTrainable() ||
      dist::getLayout(first) != dist::getLayout(second) ||
      dist::isKeptWhole(first) != dist::isKeptWhole(second) ||
      a.states.size() != b.states.size())
    return false;
  return llvm::all_of(llvm::zip(a.states, b.states), [&](auto pair) {
    StateOp mine = std::get<0>(pair), other = std::get<1>(pair);
    return a.getSlot(mine.getSymName()) == b.getSlot(other.getSymName()) &&
           mine.getKind() == other.getKind() &&
           dist::getLayout(mine) == dist::getLayout(other) &&
           mine.getTensorType().getElementType() ==
               other.getTensorType().getElementType();
  });
}

/// The state of the member that an operand reads, by slot, or nothing.
static std::optional<StringRef> getReadSlot(Value operand,
                                            const Member &member) {
  auto read = operand.getDefiningOp<ReadOp>();
  return read ? member.getSlot(read.getSource()) : std::nullopt;
}

/// Whether one op can update both, apart from weight decay (hasCommonDecay):
/// equal numbers except for the factors.
static bool hasSameUpdate(const Member &a, const Member &b) {
  Operation *first = a.update, *second = b.update;
  if (!first || !second)
    return first == second;
  if (!haveSameFormula(first, second))
    return false;
  std::optional<unsigned> decay = getDecayOperand(first);
  for (unsigned i = 0; i != first->getNumOperands(); ++i) {
    Value mine = first->getOperand(i), other = second->getOperand(i);
    if (mine == other || i == decay)
      continue;
    std::optional<StringRef> slot = getReadSlot(mine, a);
    if (!slot || slot != getReadSlot(other, b))
      return false;
  }
  return true;
}

/// Whether one op can update the member together with the bucket, which has the
/// same update otherwise. Checks all members together: two constants, or a
/// constant and one number, can share an op, but two numbers cannot.
static bool hasCommonDecay(const Bucket &bucket, const Member &member) {
  if (!member.update || !getDecayOperand(member.update))
    return true;
  SmallVector<Operation *> updates = {member.update};
  for (const Member &other : bucket.members)
    updates.push_back(other.update);
  return chooseDecay(updates) != Value();
}

/// Whether one op can update both without factors by range.
static bool hasSameFactors(const Member &a, const Member &b) {
  auto first = dyn_cast_or_null<OptimizerOpInterface>(a.update);
  auto second = dyn_cast_or_null<OptimizerOpInterface>(b.update);
  if (!first || !second)
    return true;
  UpdateFactors mine = getUpdateFactors(first).front();
  UpdateFactors other = getUpdateFactors(second).front();
  return mine.hasSameLr(other) && mine.hasSameDecay(other) &&
         readSameDecay(first, second);
}

static void place(Bucket &bucket, int64_t align, int64_t slices) {
  for (Member &member : bucket.members) {
    bucket.begins.push_back(llvm::alignTo(bucket.elements, align));
    bucket.elements =
        bucket.begins.back() + member.param.getTensorType().getNumElements();
  }
  bucket.elements = llvm::alignTo(bucket.elements, align * slices);
}

/// Chooses NAME.flat, NAME.flat.1, ..., such that the names of the parameter
/// and of its states are free.
static std::string chooseName(const SymbolTable &symbols, StringRef unit,
                              const Bucket &bucket, llvm::StringSet<> &chosen) {
  auto isFree = [&](const Twine &name) {
    SmallString<64> text;
    StringRef symbol = name.toStringRef(text);
    return !symbols.lookup(symbol) && !chosen.contains(symbol);
  };
  const Member &first = bucket.members.front();
  std::string name = (unit + ".flat").str();
  auto areFree = [&] {
    return isFree(name) && llvm::all_of(first.states, [&](StateOp state) {
             return isFree(name + "." + *first.getSlot(state.getSymName()));
           });
  };
  for (unsigned number = 1; !areFree(); ++number)
    name = (unit + ".flat." + Twine(number)).str();
  chosen.insert(name);
  for (StateOp state : first.states)
    chosen.insert(name + "." + first.getSlot(state.getSymName())->str());
  return name;
}

/// Divides the parameters of a unit into buckets with the same storage and
/// update. With several ranks, factors must be equal too, because a range of
/// elements has a different position in each shard.
static std::vector<Bucket>
divide(const Unit &unit, bool hasRanks,
       const llvm::DenseMap<Operation *, const Member *> &memberOf) {
  std::vector<Bucket> buckets;
  for (ParamOp param : unit.params) {
    const Member &member = *memberOf.lookup(param);
    auto alike = llvm::find_if(buckets, [&](const Bucket &bucket) {
      const Member &first = bucket.members.front();
      return hasSameStorage(first, member) && hasSameUpdate(first, member) &&
             hasCommonDecay(bucket, member) &&
             (!hasRanks || hasSameFactors(first, member));
    });
    if (alike == buckets.end())
      alike = buckets.insert(buckets.end(), Bucket());
    alike->members.push_back(member);
  }
  return buckets;
}

std::vector<Bucket> formBuckets(ModuleOp module, ArrayRef<Member> members,
                                UnitRule rule, int64_t align) {
  SymbolTable symbols(module);
  llvm::StringSet<> chosen;
  dist::MeshOp mesh = dist::findMesh(module);
  int64_t slices = mesh ? mesh.getNumRanks() : 1;
  llvm::DenseMap<Operation *, const Member *> memberOf;
  SmallVector<ParamOp> params;
  for (const Member &member : members) {
    memberOf[member.param] = &member;
    params.push_back(member.param);
  }
  std::vector<Bucket> buckets;
  for (const Unit &unit : formUnits(params, rule, findAttentionModules(module)))
    for (Bucket &bucket : divide(unit, mesh != nullptr, memberOf)) {
      if (!mesh && bucket.members.size() < 2)
        continue;
      place(bucket, align, slices);
      bucket.unit = unit.name;
      bucket.name = chooseName(symbols, unit.name, bucket, chosen);
      buckets.push_back(std::move(bucket));
    }
  return buckets;
}

//===----------------------------------------------------------------------===//
// Flat states
//===----------------------------------------------------------------------===//

/// The segments of a bucket. Only parameters have a source.
static ArrayAttr getSegments(const Bucket &bucket, bool withSource) {
  SmallVector<Attribute> list;
  for (auto [member, begin] : llvm::zip(bucket.members, bucket.begins)) {
    ParamOp param = member.param;
    RankedTensorType type = param.getTensorType();
    list.push_back(SegmentAttr::get(
        param.getContext(), FlatSymbolRefAttr::get(param.getSymNameAttr()),
        type.getShape(), begin, begin + type.getNumElements(),
        withSource ? param.getSourceAttr() : StringAttr()));
  }
  return ArrayAttr::get(ParamOp(bucket.members.front().param).getContext(),
                        list);
}

static FlatState makeState(const Bucket &bucket, StringAttr name,
                           Type element) {
  return {FlatSymbolRefAttr::get(name),
          RankedTensorType::get({bucket.elements}, element),
          {}};
}

StringRef getCommonScope(StringRef a, StringRef b) {
  while (!a.empty() && a != b && !(b.starts_with(a) && b[a.size()] == '.'))
    a = a.contains('.') ? a.rsplit('.').first : StringRef();
  return a;
}

/// "h.0" of "h.0.attn" and "h.0.mlp", or null where there is none.
static StringAttr getScope(const Bucket &bucket) {
  auto getOwn = [](ParamOp param) { return param.getScope().value_or(""); };
  ParamOp first = bucket.members.front().param;
  StringRef common = getOwn(first);
  for (const Member &member : bucket.members)
    common = getCommonScope(common, getOwn(member.param));
  return common.empty() ? StringAttr()
                        : StringAttr::get(first.getContext(), common);
}

/// Whether the members decay, or null if only some do.
static BoolAttr getDecay(const Bucket &bucket) {
  ParamOp first = bucket.members.front().param;
  bool isSame = llvm::all_of(bucket.members, [&](const Member &member) {
    return ParamOp(member.param).decays() == first.decays();
  });
  return first.getTrainable() && isSame
             ? BoolAttr::get(first.getContext(), first.decays())
             : BoolAttr();
}

/// Copies the layout of the segments, if they have one.
static void copyLayout(Operation *part, Operation *whole) {
  if (dist::LayoutAttr layout = dist::getLayout(part))
    whole->setAttr(dist::DistDialect::kLayoutAttr, layout);
}

static FlatState declareParam(const Bucket &bucket, OpBuilder &builder) {
  ParamOp first = bucket.members.front().param;
  Type element = first.getTensorType().getElementType();
  FlatState state =
      makeState(bucket, builder.getStringAttr(bucket.name), element);
  for (auto [member, begin] : llvm::zip(bucket.members, bucket.begins)) {
    ParamOp param = member.param;
    state.parts.push_back({FlatSymbolRefAttr::get(param.getSymNameAttr()),
                           param.getTensorType(), begin, param.getLoc()});
  }
  builder.setInsertionPoint(first);
  auto whole = ParamOp::create(
      builder, first.getLoc(), state.symbol.getAttr(),
      TypeAttr::get(state.type), InitAttr(), first.getTrainableAttr(),
      getDecay(bucket), FlatSymbolRefAttr(), getScope(bucket), StringAttr(),
      getSegments(bucket, /*withSource=*/true), builder.getI64IntegerAttr(1));
  copyLayout(first, whole);
  return state;
}

/// Declares the flat state for state `number` of every member.
static FlatState declareState(const Bucket &bucket, unsigned number,
                              OpBuilder &builder) {
  const Member &front = bucket.members.front();
  StateOp first = front.states[number];
  StringRef slot = *front.getSlot(first.getSymName());
  FlatState state =
      makeState(bucket, builder.getStringAttr(bucket.name + "." + slot),
                first.getTensorType().getElementType());
  for (auto [member, begin] : llvm::zip(bucket.members, bucket.begins)) {
    StateOp own = member.states[number];
    state.parts.push_back({FlatSymbolRefAttr::get(own.getSymNameAttr()),
                           own.getTensorType(), begin, own.getLoc()});
  }
  builder.setInsertionPoint(first);
  auto whole = StateOp::create(
      builder, first.getLoc(), state.symbol.getAttr(),
      TypeAttr::get(state.type), first.getKindAttr(),
      FlatSymbolRefAttr::get(builder.getContext(), bucket.name),
      builder.getStringAttr(slot), getSegments(bucket, /*withSource=*/false),
      builder.getI64IntegerAttr(1));
  copyLayout(first, whole);
  return state;
}

std::vector<FlatState> declareFlatStates(const Bucket &bucket) {
  const Member &first = bucket.members.front();
  OpBuilder builder(ParamOp(first.param).getContext());
  std::vector<FlatState> states = {declareParam(bucket, builder)};
  for (unsigned i = 0; i != first.states.size(); ++i)
    states.push_back(declareState(bucket, i, builder));
  for (const Member &member : bucket.members) {
    for (StateOp state : member.states)
      state.erase();
    ParamOp(member.param).erase();
  }
  return states;
}

} // namespace weft
