//===- Implementations.cpp - What can run an op ---------------------------===//

#include "weft/Analysis/Implementations.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

/// Floating-point types, as a set.
enum Floats : unsigned {
  NoFloat = 0,
  F32 = 1,
  F64 = 2,
  F16 = 4,
  BF16 = 8,
  UpToF32 = F32 | F16 | BF16,
  AnyFloat = F32 | F64 | F16 | BF16
};

/// Which values must have those types: all operands and results, or that many
/// operands from the first (the others have the one type the op allows).
constexpr int kAllValues = -1;

/// A kind of command and an op that it runs.
struct Routine {
  llvm::StringLiteral op, kind;
  unsigned floats = F32;
  int numValues = kAllValues;
  /// Operands that are f32 in any case, as bits.
  unsigned wideOperands = 0;
};

} // namespace

constexpr unsigned kAdamMoments = 1 << 1 | 1 << 2, kSgdMoments = 1 << 1;

/// The routines of an op stand in the order of preference. Ops of other
/// dialects bring their command (CommandSourceOpInterface).
static const Routine kRoutines[] = {
    {"weft.matmul", "gemm", UpToF32},
    {"weft.attention", "attention", UpToF32},
    {"weft.attention_grad", "attention_grad", UpToF32},
    {"weft.cross_entropy", "cross_entropy", UpToF32},
    {"weft.cross_entropy_grad", "cross_entropy_grad", UpToF32},
    {"weft.embedding", "embedding", UpToF32},
    {"weft.embedding_grad", "embedding_grad", UpToF32},
    {"weft.dropout", "dropout", UpToF32},
    {"weft.concat", "copy", AnyFloat},
    {"weft.pad", "copy", AnyFloat}, // and a fill with zeros
    {"weft.constant", "constant", AnyFloat},
    {"weft.random_normal", "random_normal"},
    {"weft.random_uniform", "random_uniform"},
    {"weft.norm_and_check", "norm_and_check", UpToF32, INT_MAX},
    {"weft.total_norm", "total_norm", NoFloat, 0},
    {"weft.clip_coefficient", "clip_coefficient", NoFloat, 0},
    {"weft.step_increment", "step_increment", NoFloat, 0},
    {"weft.scaler_update", "scaler_update", NoFloat, 0},
    {"weft.accumulate", "accumulate", UpToF32},
    {"weft.adamw", "optimizer", UpToF32, 4, kAdamMoments},
    {"weft.adam", "optimizer", UpToF32, 4, kAdamMoments},
    {"weft.sgd", "optimizer", UpToF32, 3, kSgdMoments},
};

static llvm::SmallVector<const Routine *> getRoutines(Operation *op) {
  llvm::SmallVector<const Routine *> routines;
  for (const Routine &routine : kRoutines)
    if (op->getName().getStringRef() == routine.op)
      routines.push_back(&routine);
  return routines;
}

static unsigned getFloats(Type type) {
  return type.isF32()    ? F32
         : type.isF64()  ? F64
         : type.isF16()  ? F16
         : type.isBF16() ? BF16
                         : NoFloat;
}

/// The first element type of the op that the routine does not take, or null.
static Type findUnsupported(const Routine &routine, Operation *op) {
  llvm::SmallVector<Type> types(op->getOperandTypes());
  if (routine.numValues == kAllValues)
    types.append(op->result_type_begin(), op->result_type_end());
  else
    types.resize(std::min<size_t>(types.size(), routine.numValues));
  for (auto [index, type] : llvm::enumerate(types)) {
    bool isWide = index < op->getNumOperands() && index < 32 &&
                  (routine.wideOperands >> index & 1);
    unsigned floats = getFloats(getElementTypeOrSelf(type));
    if (floats & ~(isWide ? F32 : routine.floats))
      return getElementTypeOrSelf(type);
  }
  return Type();
}

/// The same for an op that brings its command.
static Type findUnsupported(CommandSourceOpInterface op) {
  SmallVector<Type> types(op->getOperandTypes());
  types.append(op->result_type_begin(), op->result_type_end());
  for (Type type : types)
    if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
        element && !op.takesElement(element))
      return element;
  return Type();
}

static const Routine *findRoutine(Operation *op) {
  for (const Routine *routine : getRoutines(op))
    if (!findUnsupported(*routine, op))
      return routine;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Accumulations
//===----------------------------------------------------------------------===//

/// The value behind reshapes that nothing else reads.
static Value skipOwnReshapes(Value value) {
  while (renames(value.getDefiningOp()) && value.hasOneUse())
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Operation *findFoldableProducer(AccumulateOp op) {
  Value value = skipOwnReshapes(op.getValue());
  Operation *producer = value.getDefiningOp();
  auto destination = dyn_cast_or_null<DestinationOpInterface>(producer);
  bool folds = destination && destination.canAccumulate() &&
               findRoutine(producer) && value.hasOneUse() &&
               op.getOld().hasOneUse();
  return folds ? producer : nullptr;
}

/// The accumulation that adds the result of `op` and of nothing else, or null.
static AccumulateOp findAccumulation(Operation *op) {
  while (op->getNumResults() == 1 && op->hasOneUse()) {
    Operation *user = *op->user_begin();
    if (auto accumulate = dyn_cast<AccumulateOp>(user))
      return accumulate;
    if (!renames(user))
      break;
    op = user;
  }
  return nullptr;
}

StringRef getImplementation(Operation *op) {
  auto impl = op->getAttrOfType<StringAttr>(WeftDialect::kImplAttr);
  return impl ? impl.getValue() : StringRef();
}

bool isFolded(AccumulateOp op) { return getImplementation(op) == kFoldedImpl; }

//===----------------------------------------------------------------------===//
// Choice and check
//===----------------------------------------------------------------------===//

/// All that can run the op, the best first.
static llvm::SmallVector<StringRef> getImplementations(Operation *op) {
  if (isViewOp(op))
    return {kViewImpl};
  if (isa<CallOp>(op))
    return {kGeneratedImpl};
  llvm::SmallVector<StringRef> all;
  if (auto accumulate = dyn_cast<AccumulateOp>(op))
    if (findFoldableProducer(accumulate))
      all.push_back(kFoldedImpl);
  for (const Routine *routine : getRoutines(op))
    if (!findUnsupported(*routine, op))
      all.push_back(routine->kind);
  if (auto source = dyn_cast<CommandSourceOpInterface>(op))
    if (!findUnsupported(source))
      all.push_back(source.getCommandKind());
  return all;
}

LogicalResult reportNoCommand(Operation *op) {
  return op->emitOpError("expects a command that runs it, but there is none; "
                         "run weft-fuse before weft-select-kernels");
}

FailureOr<StringRef> chooseImplementation(Operation *op) {
  llvm::SmallVector<StringRef> all = getImplementations(op);
  if (!all.empty())
    return all.front();
  llvm::SmallVector<const Routine *> routines = getRoutines(op);
  auto source = dyn_cast<CommandSourceOpInterface>(op);
  if (routines.empty() && !source)
    return reportNoCommand(op);
  return op->emitOpError("does not support ")
         << (source ? findUnsupported(source)
                    : findUnsupported(*routines.front(), op))
         << " on the CPU yet; cast to f32 before it";
}

static LogicalResult verifyFolded(Operation *op) {
  if (auto accumulate = dyn_cast<AccumulateOp>(op);
      accumulate && isFolded(accumulate)) {
    Operation *producer = findFoldableProducer(accumulate);
    if (producer->hasAttr(kFoldedAttr))
      return success();
    InFlightDiagnostic error =
        op->emitOpError("expects weft.folded on the op whose result it adds");
    error.attachNote(producer->getLoc()) << "has no weft.folded";
    return error;
  }
  if (!op->hasAttr(kFoldedAttr))
    return success();
  AccumulateOp accumulate = findAccumulation(op);
  if (accumulate && isFolded(accumulate))
    return success();
  return op->emitOpError("expects weft.folded only where a weft.accumulate "
                         "with weft.impl = \"folded\" adds the result");
}

LogicalResult verifyImplementation(Operation *op) {
  if (isa<ReadOp>(op))
    return success();
  StringRef impl = getImplementation(op);
  if (impl.empty())
    return op->emitOpError("expects weft.impl, the choice of "
                           "weft-select-kernels, but got none");
  llvm::SmallVector<StringRef> all = getImplementations(op);
  if (all.empty())
    return chooseImplementation(op);
  if (!llvm::is_contained(all, impl))
    return op->emitOpError("expects weft.impl to be ")
           << llvm::join(all, " or ") << ", but got \"" << impl << "\"";
  return verifyFolded(op);
}

} // namespace weft
