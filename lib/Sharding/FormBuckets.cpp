//===- FormBuckets.cpp - Parameters in one flat state ---------------------===//

#include "FormBuckets.h"

#include "Updates.h"
#include "weft/Dist/Dist.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;

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
    return param.emitOpError("expects a parameter outside of flat states, but "
                             "got one with segments");
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
                           DenseMap<StringAttr, Operation *> &updates) {
  for (auto program : module.getOps<ProgramOp>()) {
    if (program.getKind() != ProgramKind::Apply)
      continue;
    ReturnOp end = program.getTerminator();
    for (auto [target, value] : llvm::zip(end.getTargets(), end.getValues()))
      updates[cast<FlatSymbolRefAttr>(target).getAttr()] =
          value.getDefiningOp();
  }
}

FailureOr<std::vector<Member>> weft::collectMembers(ModuleOp module) {
  DenseMap<StringAttr, Operation *> updates;
  collectUpdates(module, updates);
  DenseMap<StringAttr, unsigned> numbers;
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

static void place(Bucket &bucket, int64_t align, int64_t shards) {
  for (Member &member : bucket.members) {
    bucket.begins.push_back(llvm::alignTo(bucket.elements, align));
    bucket.elements =
        bucket.begins.back() + member.param.getTensorType().getNumElements();
  }
  bucket.elements = llvm::alignTo(bucket.elements, align * shards);
}

/// Chooses NAME.flat, NAME.flat.1, ..., such that the names of the parameter
/// and of its states are free.
static std::string chooseName(const SymbolTable &symbols, StringRef unit,
                              const Bucket &bucket, StringSet<> &chosen) {
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
       const DenseMap<Operation *, const Member *> &memberOf) {
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

std::vector<Bucket> weft::formBuckets(ModuleOp module, ArrayRef<Member> members,
                                      UnitRule rule, int64_t align) {
  SymbolTable symbols(module);
  StringSet<> chosen;
  dist::MeshOp mesh = dist::findMesh(module);
  int64_t shards = mesh ? mesh.getNumRanks() : 1;
  DenseMap<Operation *, const Member *> memberOf;
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
      place(bucket, align, shards);
      bucket.unit = unit.name;
      bucket.name = chooseName(symbols, unit.name, bucket, chosen);
      buckets.push_back(std::move(bucket));
    }
  return buckets;
}
