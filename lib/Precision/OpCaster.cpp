//===- OpCaster.cpp - Casts the operands of one op ------------------------===//

#include "OpCaster.h"

#include "CastSummary.h"
#include "OperandTypes.h"

#include "weft/Support/TypeText.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Casts and remarks
//===----------------------------------------------------------------------===//

void OpCaster::remark(Operation *op, const Twine &text) {
  if (!summary)
    return;
  // The name that an override finds.
  auto rules = dyn_cast<CastPolicyOpInterface>(op);
  std::string name = rules ? castTableName(op->getName(), rules.getCastRule())
                           : op->getName().stripDialect().str();
  // Many ops of a model may stand at one place of a configuration.
  StringRef scope = getScope(op);
  remark::analysis(op->getLoc(),
                   remark::RemarkOpts::name("cast").category("casts"))
      << (name + Twine(scope.empty() ? "" : " of ") + scope + " " + text).str();
}

/// A cast stands in the module and the segment of the op that it is made for.
static void copyPlace(Operation *op, Operation *cast) {
  copyScope(op, cast);
  if (Attribute segment = op->getAttr(WeftDialect::kRecomputeAttr))
    cast->setAttr(WeftDialect::kRecomputeAttr, segment);
}

Value OpCaster::castParameter(ReadOp read, Type element) {
  Value &copy = copies[{read.getSourceAttr(), element}];
  if (copy)
    return copy;
  OpBuilder builder(read->getContext());
  builder.setInsertionPointAfter(read);
  auto type = cast<RankedTensorType>(read.getResult().getType());
  auto made = CastOp::create(builder, read.getLoc(), type.clone(element), read);
  copyScope(read, made);
  ++numCasts;
  ++numParameterCasts;
  return copy = made;
}

void OpCaster::castOperand(OpOperand &operand, Type element, const Twine &why) {
  Value value = operand.get();
  if (elementOf(value) == element)
    return;
  isTouched = true;
  Operation *op = operand.getOwner();
  std::string what =
      ("casts operand " + Twine(operand.getOperandNumber()) + " from " +
       getTypeText(elementOf(value)) + " to " + getTypeText(element))
          .str();
  auto read = value.getDefiningOp<ReadOp>();
  if (read && isLowPrecision(element) && elementOf(value).isF32()) {
    operand.set(castParameter(read, element));
    what += (", one cast for all uses of @" + read.getSource()).str();
  } else {
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(value.getType());
    auto made =
        CastOp::create(builder, op->getLoc(), type.clone(element), value);
    copyPlace(op, made);
    ++numCasts;
    operand.set(made);
  }
  remark(op, what + ": " + why);
}

void OpCaster::explainOp(CastPolicyOpInterface op, StringRef why) {
  Type first;
  for (Value operand : op->getOperands())
    if (isFloat(operand) && !first)
      first = elementOf(operand);
  if (!first)
    return;
  if (first.isF64())
    why = "f64 is never cast";
  if (summary)
    summary->add(op, castTableName(op->getName(), op.getCastRule()), why);
  if (!isTouched)
    remark(op, "runs in " + getTypeText(first) + ": " + why);
}

//===----------------------------------------------------------------------===//
// Policies
//===----------------------------------------------------------------------===//

void OpCaster::castAll(CastPolicyOpInterface op, Type element, StringRef why,
                       bool withFactors) {
  for (OpOperand &operand : op->getOpOperands())
    if (isEligible(operand.get()) && (withFactors || !isFactor(op, operand)))
      castOperand(operand, element, why);
}

LogicalResult OpCaster::promote(CastPolicyOpInterface op, Type low,
                                StringRef why) {
  auto f32 = Float32Type::get(op->getContext());
  Type target = low;
  for (OpOperand &operand : op->getOpOperands()) {
    Type element = elementOf(operand.get());
    if (!isEligible(operand.get()))
      continue;
    if (element == f32)
      target = f32;
    else if (element != low)
      return op->emitOpError("expects operands of ")
             << low << " or f32 for the policy promote, but got " << element
             << " for operand " << operand.getOperandNumber();
  }
  castAll(op, target, why);
  return success();
}

void OpCaster::narrow(CastPolicyOpInterface op, Type low, StringRef why) {
  bool hasLow = false;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isFloat(value) || isScalar(value) || isFactor(op, operand))
      continue;
    // Doubles and another low type have rules of their own.
    if (elementOf(value) != low && !elementOf(value).isF32())
      return;
    hasLow |= elementOf(value) == low;
  }
  for (OpOperand &operand : op->getOpOperands())
    if (hasLow && isEligible(operand.get()) && !isScalar(operand.get()) &&
        !isFactor(op, operand))
      castOperand(operand, low, why);
}

void OpCaster::lowerLeaves(CastPolicyOpInterface op, Type low, StringRef why) {
  // The program's own casts keep their type.
  if (isa<CastOp>(op.getOperation()))
    return;
  bool keepsFactors = op.getCastRule().operands == CastOperands::Equal;
  for (OpOperand &operand : op->getOpOperands())
    if (isEligible(operand.get()) && isLeaf(operand.get()) &&
        !(keepsFactors && isFactor(op, operand)))
      castOperand(operand, low, why);
}

LogicalResult OpCaster::applyPolicy(CastPolicyOpInterface op, Type low,
                                    const CastDecision &decision) {
  std::string why = decision.spell();
  auto f32 = Float32Type::get(op->getContext());
  switch (decision.policy) {
  case CastPolicy::Lower:
    castAll(op, low, why, /*withFactors=*/false);
    return success();
  case CastPolicy::F32:
    castAll(op, f32, why);
    return success();
  case CastPolicy::F32SetDtype:
    if (isEligible(op->getOperand(0)))
      castOperand(op->getOpOperand(0), f32, why);
    return success();
  case CastPolicy::Promote:
    return promote(op, low, why);
  case CastPolicy::Follow:
    if (policies.lowersLeaves())
      lowerLeaves(op, low, why);
    return success();
  case CastPolicy::Narrow:
    narrow(op, low, why);
    return success();
  case CastPolicy::Banned:
    return op->emitOpError("does not support ")
           << low << ": it is " << why << "; use " << op.getCastRule().instead
           << " instead";
  }
  llvm_unreachable("unknown cast policy");
}

//===----------------------------------------------------------------------===//
// Operand types of an op
//===----------------------------------------------------------------------===//

LogicalResult OpCaster::checkEqual(CastPolicyOpInterface op) {
  auto f32 = Float32Type::get(op->getContext());
  Type first;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isFloat(operand.get()))
      continue;
    Type element = elementOf(operand.get());
    if (!first)
      first = element;
    if (element == first || (isFactor(op, operand) && element == f32))
      continue;
    if (!isFactor(op, operand))
      return op->emitOpError("expects operands of one element type, as "
                             "PyTorch's op does, but got ")
             << first << " and " << element << " for operand "
             << operand.getOperandNumber()
             << "; cast one of them with weft.cast";
    castOperand(operand, first, "its first operand has that type");
  }
  return success();
}

void OpCaster::joinPromoted(CastPolicyOpInterface op, bool keepFactors) {
  Type common = promotedType(op, /*withFactors=*/!keepFactors);
  StringRef why = "the widest type of its operands";
  // PyTorch keeps numbers in f32 while it computes: so do the tensors here. A
  // comparison rounds its number, as PyTorch's.
  if (isLowPrecision(common) && llvm::any_of(op->getResults(), isFloat) &&
      llvm::any_of(op->getOperands(),
                   [&](Value value) { return isInexact(value, common); })) {
    roundTo = common;
    common = Float32Type::get(op->getContext());
    why = "a number that it takes has no exact value in the low type";
  }
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    bool keeps = keepFactors && isFactor(op, operand) &&
                 isLowPrecision(common) && elementOf(value).isF32();
    if (isFloat(value) && !keeps)
      castOperand(operand, common, why);
  }
}

LogicalResult OpCaster::joinOperands(CastPolicyOpInterface op,
                                     bool keepFactors) {
  switch (op.getCastRule().operands) {
  case CastOperands::Equal:
    return checkEqual(op);
  case CastOperands::Promoted:
    joinPromoted(op, keepFactors);
    return success();
  case CastOperands::Statistics:
    for (OpOperand &operand : op->getOpOperands().drop_front())
      if (isEligible(operand.get()))
        castOperand(operand, Float32Type::get(op->getContext()),
                    "it is combined in f32");
    return success();
  }
  llvm_unreachable("unknown rule of operands");
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult OpCaster::castExplicit(CastPolicyOpInterface op) {
  Type dtype = op.getExplicitDtype();
  std::string why = "the caller asks for " + getTypeText(dtype);
  castOperand(op->getOpOperand(0), dtype, why);
  op->removeAttr("dtype");
  explainOp(op, why);
  return inferTypes(op);
}

void OpCaster::roundResults(Operation *op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    if (!roundTo || !isFloat(result))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    auto made =
        CastOp::create(builder, op->getLoc(), type.clone(roundTo), result);
    copyPlace(op, made);
    ++numCasts;
    result.replaceAllUsesExcept(made, made);
    remark(op, "rounds its result to " + getTypeText(roundTo));
  }
}

LogicalResult OpCaster::castOp(Operation *op, CastSettings settings) {
  isTouched = false;
  roundTo = {};
  auto rules = dyn_cast<CastPolicyOpInterface>(op);
  if (rules && rules.getExplicitDtype())
    return castExplicit(rules);
  if (!settings.dtype)
    return success();
  if (!rules)
    return op->emitOpError("expects an op with a cast policy in a model, but "
                           "this one has none");
  // Also where nothing is cast: an override that names the op has found it.
  CastDecision decision = policies.decide(rules);
  if (llvm::none_of(op->getOperands(), isFloat))
    return success();
  std::string why = "autocast is disabled here";
  bool keepFactors = false;
  bool mayBeLow = !settings.enabled || decision.policy == CastPolicy::Follow ||
                  decision.policy == CastPolicy::Narrow ||
                  decision.policy == CastPolicy::Promote;
  // Results of ops with statistics are f32 anyway.
  bool keepsLoss = lossOps.contains(op) && mayBeLow && !decision.isOverride &&
                   rules.getCastRule().operands != CastOperands::Statistics;
  if (keepsLoss) {
    why = "a loss is computed in f32";
    castAll(rules, Float32Type::get(op->getContext()), why);
  } else if (settings.enabled) {
    why = decision.spell();
    keepFactors = decision.policy == CastPolicy::Lower ||
                  decision.policy == CastPolicy::Narrow;
    if (failed(applyPolicy(rules, settings.dtype, decision)))
      return failure();
  }
  if (failed(joinOperands(rules, keepFactors)))
    return failure();
  explainOp(rules, why);
  if (failed(inferTypes(op)))
    return failure();
  roundResults(op);
  return success();
}

void OpCaster::keepLosses(ProgramOp model) {
  SmallVector<Value> values;
  for (auto [index, output] :
       llvm::enumerate(model.getTerminator().getOutputs()))
    if (model.getOutputName(index) == kLossName ||
        model.getResultAttr(index, kLossWeightAttr) ||
        model.getResultAttr(index, WeftDialect::kMetricAttr))
      values.push_back(output);
  while (!values.empty()) {
    Value value = values.pop_back_val();
    Operation *op = value.getDefiningOp();
    // The program's own casts keep their type.
    if (!op || !isScalar(value) || isa<ReadOp, CastOp>(op) ||
        !lossOps.insert(op).second)
      continue;
    llvm::append_range(values, op->getOperands());
  }
}

void OpCaster::castResults(ReturnOp terminator) {
  auto program = cast<ProgramOp>(terminator->getParentOp());
  Operation *module = program->getParentOp();
  unsigned numOutputs = terminator.getOutputs().size();
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    Type declared;
    if (index < numOutputs) {
      declared = program.getResultTypes()[index];
    } else {
      auto target =
          cast<FlatSymbolRefAttr>(terminator.getTargets()[index - numOutputs]);
      Operation *state = SymbolTable::lookupSymbolIn(module, target.getAttr());
      declared = cast<TypeAttr>(state->getAttr("type")).getValue();
    }
    castOperand(operand, getElementTypeOrSelf(declared),
                "outputs and states keep their types");
  }
}
