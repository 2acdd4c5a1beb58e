//===- WorkingCopies.cpp - Low-precision copies of parameters -------------===//

#include "weft/Abi/Names.h"
#include "weft/Precision/Passes.h"
#include "weft/Weft/Precision.h"
#include "weft/Weft/Programs.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace weft {
#define GEN_PASS_DEF_WORKINGCOPIESPASS
#include "weft/Precision/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// The casts of one parameter to one low type, in all programs.
struct LowUse {
  ParamOp param;
  Type element;
  SmallVector<CastOp> casts;
};

/// Uses of a parameter in the programs of a module.
struct ParameterUses {
  /// One entry for each low type.
  SmallVector<LowUse, 1> low;
  /// Reads outside of @apply, with or without casts.
  SmallVector<ReadOp> reads;
  /// A use that is no cast to a low type.
  bool isUsedWhole = false;
};

class CopyBuilder {
public:
  CopyBuilder(ModuleOp module, bool persistent, bool master)
      : module(module), symbols(module), builder(module.getContext()),
        persistent(persistent), master(master) {}

  LogicalResult run();
  int64_t numCopies = 0, numLow = 0;

private:
  LogicalResult collect();
  void collectRead(ParamOp param, ReadOp read);
  LogicalResult makeLow(ParamOp param, ParameterUses &uses);
  LogicalResult makeCopy(LowUse &use);
  FailureOr<StateOp> declareCopy(const LowUse &use);
  LogicalResult writeCopy(const LowUse &use, StateOp copy);
  void writeRounded(ProgramOp program, const LowUse &use, StringRef copy,
                    Value value);
  ProgramOp getRefresh();

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  bool persistent, master;
  llvm::MapVector<Operation *, ParameterUses> parameters;
  ProgramOp init, apply, refresh;
  /// Writes of copies by program, which the terminators get at once.
  llvm::MapVector<Operation *, SmallVector<std::pair<StringRef, Value>>> writes;
};

} // namespace

void CopyBuilder::collectRead(ParamOp param, ReadOp read) {
  ParameterUses &uses = parameters[param];
  uses.reads.push_back(read);
  for (Operation *user : read->getUsers()) {
    auto cast = dyn_cast<CastOp>(user);
    Type element = getElementTypeOrSelf(user->getResultTypes().empty()
                                            ? read.getType()
                                            : user->getResult(0).getType());
    if (!cast || !isLowPrecision(element)) {
      uses.isUsedWhole = true;
      continue;
    }
    auto found = llvm::find_if(
        uses.low, [&](LowUse &use) { return use.element == element; });
    if (found == uses.low.end())
      found = uses.low.insert(found, LowUse{param, element, {}});
    found->casts.push_back(cast);
  }
}

LogicalResult CopyBuilder::collect() {
  FailureOr<ProgramOp> inits = findOnlyProgram(module, ProgramKind::Init);
  FailureOr<ProgramOp> updates = findOnlyProgram(module, ProgramKind::Apply);
  if (failed(inits) || failed(updates))
    return failure();
  init = *inits;
  apply = *updates;
  for (auto program : module.getOps<ProgramOp>())
    if (program != init && program != apply)
      for (auto read : program.getOps<ReadOp>())
        if (auto param = symbols.lookup<ParamOp>(read.getSource()))
          collectRead(param, read);
  if (!init || !apply)
    return module.emitError("expects programs of kind init and apply, but got "
                            "none; run weft-expand-optimizer first");
  return success();
}

//===----------------------------------------------------------------------===//
// Persistent copies
//===----------------------------------------------------------------------===//

FailureOr<StateOp> CopyBuilder::declareCopy(const LowUse &use) {
  ParamOp param = use.param;
  std::string name =
      (param.getSymName() + (use.element.isF16() ? ".f16" : ".bf16")).str();
  if (Operation *other = symbols.lookup(name)) {
    InFlightDiagnostic error = param.emitOpError("expects the symbol @")
                               << name
                               << " to be free for its working copy, but it is "
                                  "taken";
    error.attachNote(other->getLoc()) << "taken here";
    return error;
  }
  builder.setInsertionPointAfter(param);
  return StateOp::create(
      builder, param.getLoc(), builder.getStringAttr(name),
      TypeAttr::get(param.getTensorType().clone(use.element)),
      StateKindAttr::get(module.getContext(), StateKind::Working),
      FlatSymbolRefAttr::get(param.getSymNameAttr()));
}

/// Ends `program` with a write of the rounded `value` to the copy.
void CopyBuilder::writeRounded(ProgramOp program, const LowUse &use,
                               StringRef copy, Value value) {
  ReturnOp terminator = program.getTerminator();
  builder.setInsertionPoint(terminator);
  ParamOp param = use.param;
  auto rounded = CastOp::create(
      builder, param.getLoc(), param.getTensorType().clone(use.element), value);
  if (std::optional<StringRef> scope = param.getScope())
    setScope(rounded, builder.getStringAttr(*scope));
  writes[program].push_back({copy, rounded});
}

/// The program that runs after parameters were loaded, or null with an error.
ProgramOp CopyBuilder::getRefresh() {
  if (refresh)
    return refresh;
  if (Operation *other = symbols.lookup(names::kRefresh)) {
    other->emitOpError("expects another name than @refresh, which working "
                       "copies need");
    return ProgramOp();
  }
  builder.setInsertionPointToEnd(module.getBody());
  refresh = ProgramOp::create(
      builder, module.getLoc(), builder.getStringAttr(names::kRefresh),
      TypeAttr::get(builder.getFunctionType({}, {})),
      ProgramKindAttr::get(module.getContext(), ProgramKind::Refresh),
      /*arg_attrs=*/ArrayAttr(), /*res_attrs=*/ArrayAttr());
  builder.createBlock(&refresh.getBody());
  ReturnOp::create(builder, module.getLoc(), ValueRange{});
  return refresh;
}

/// Writes the copy wherever the parameter is written or may have been loaded.
LogicalResult CopyBuilder::writeCopy(const LowUse &use, StateOp copy) {
  ParamOp param = use.param;
  StringRef name = param.getSymName();
  Value initial = init.getTerminator().findWrite(name);
  if (!initial)
    return init.emitOpError("expects a write of @") << name << ", but got none";
  writeRounded(init, use, copy.getSymName(), initial);

  if (Value updated = apply.getTerminator().findWrite(name)) {
    auto update = updated.getDefiningOp<OptimizerOpInterface>();
    if (!update)
      return apply.emitOpError("expects the new value of @")
             << name << " to come from an optimizer op, but it does not";
    // One copy is the update's own; another type of it is cast.
    if (update.getWorking())
      writeRounded(apply, use, copy.getSymName(), updated);
    else
      writes[apply].push_back(
          {copy.getSymName(), update.addWorkingCopy(builder, use.element)});
  }

  ProgramOp program = getRefresh();
  if (!program)
    return failure();
  builder.setInsertionPoint(program.getTerminator());
  Value read = ReadOp::create(builder, param.getLoc(), param.getTensorType(),
                              FlatSymbolRefAttr::get(param.getSymNameAttr()));
  writeRounded(program, use, copy.getSymName(), read);
  return success();
}

LogicalResult CopyBuilder::makeCopy(LowUse &use) {
  FailureOr<StateOp> copy = declareCopy(use);
  if (failed(copy) || failed(writeCopy(use, *copy)))
    return failure();
  for (CastOp cast : use.casts) {
    auto read = cast.getOperand().getDefiningOp<ReadOp>();
    builder.setInsertionPoint(read);
    auto low = ReadOp::create(builder, read.getLoc(), cast.getType(),
                              FlatSymbolRefAttr::get(copy->getSymNameAttr()));
    copyScope(cast, low);
    cast.replaceAllUsesWith(low.getResult());
    cast.erase();
  }
  ++numCopies;
  return success();
}

//===----------------------------------------------------------------------===//
// No master weights
//===----------------------------------------------------------------------===//

/// Keeps the parameter itself in the low type.
LogicalResult CopyBuilder::makeLow(ParamOp param, ParameterUses &uses) {
  LowUse &use = uses.low.front();
  StringRef name = param.getSymName();
  RankedTensorType type = param.getTensorType().clone(use.element);
  Value initial = init.getTerminator().findWrite(name);
  if (!initial)
    return init.emitOpError("expects a write of @") << name << ", but got none";
  builder.setInsertionPoint(init.getTerminator());
  auto rounded = CastOp::create(builder, param.getLoc(), type, initial);
  init.getTerminator().replaceWrite(name, rounded);
  for (CastOp cast : use.casts) {
    cast.replaceAllUsesWith(cast.getOperand());
    cast.erase();
  }
  for (ReadOp read : uses.reads)
    read.getResult().setType(type);
  for (auto read : apply.getOps<ReadOp>())
    if (read.getSource() == name)
      read.getResult().setType(type);
  if (Value updated = apply.getTerminator().findWrite(name))
    updated.setType(type);
  param.setType(type);
  ++numLow;
  return success();
}

LogicalResult CopyBuilder::run() {
  if (failed(collect()))
    return failure();
  for (auto &[op, uses] : parameters) {
    if (!master && uses.low.size() == 1 && !uses.isUsedWhole) {
      if (failed(makeLow(cast<ParamOp>(op), uses)))
        return failure();
      continue;
    }
    for (LowUse &use : uses.low)
      if (persistent && failed(makeCopy(use)))
        return failure();
    for (ReadOp read : uses.reads)
      if (read->use_empty())
        read.erase();
  }
  for (auto &[program, copies] : writes)
    cast<ProgramOp>(program).getTerminator().addWrites(copies);
  return success();
}

namespace {
struct WorkingCopiesPass
    : weft::impl::WorkingCopiesPassBase<WorkingCopiesPass> {
  using WorkingCopiesPassBase::WorkingCopiesPassBase;

  void runOnOperation() override {
    CopyBuilder copies(getOperation(), persistent, master);
    if (failed(copies.run()))
      return signalPassFailure();
    numCopies += copies.numCopies;
    numLow += copies.numLow;
  }
};
} // namespace
