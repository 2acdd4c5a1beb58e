//===- TestModels.cpp - Rules, functions, commands and routines -----------===//

#include "TestDialect.h"

#include "weft/Analysis/KernelLibrary.h"
#include "weft/Interp/OpCall.h"
#include "weft/Lowering/Table/Routines.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace weft::test {
namespace {

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Zeros between the rows of the gradient, and after the last one.
struct StrideRule
    : DifferentiableOpInterface::ExternalModel<StrideRule, StrideOp> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ArrayRef<Value> grads, ArrayRef<bool>,
                             MutableArrayRef<Value> operandGrads) const {
    auto stride = cast<StrideOp>(op);
    auto shape = getShape(stride.getOperand());
    SmallVector<int64_t> low(shape.size()), high(low), interior(low);
    int64_t step = static_cast<int64_t>(stride.getStep());
    interior[0] = step - 1;
    high[0] = shape[0] - 1 - (getShape(stride.getResult())[0] - 1) * step;
    operandGrads[0] =
        PadOp::create(builder, op->getLoc(), grads[0], low, high, interior);
    return success();
  }
};

struct ScaleAddRule
    : DifferentiableOpInterface::ExternalModel<ScaleAddRule, ScaleAddOp> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ArrayRef<Value> grads, ArrayRef<bool> needed,
                             MutableArrayRef<Value> operandGrads) const {
    Type element = getElementTypeOrSelf(grads[0].getType());
    if (needed[0]) {
      auto type = RankedTensorType::get({}, element);
      double scale = cast<ScaleAddOp>(op).getScale().convertToDouble();
      Value factor = ConstantOp::create(
          builder, op->getLoc(), type,
          DenseElementsAttr::get(type, builder.getFloatAttr(element, scale)));
      operandGrads[0] = MulOp::create(builder, op->getLoc(), grads[0], factor);
    }
    if (needed[1])
      operandGrads[1] = grads[0];
    return success();
  }
};

/// A rule with a mistake.
template <Pieces::Gradient gradient>
struct WrongRule : DifferentiableOpInterface::ExternalModel<WrongRule<gradient>,
                                                            ScaleAddOp> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ArrayRef<Value> grads, ArrayRef<bool>,
                             MutableArrayRef<Value> operandGrads) const {
    auto type = cast<RankedTensorType>(grads[0].getType());
    if (gradient == Pieces::OfAnotherType)
      operandGrads[0] = CastOp::create(
          builder, op->getLoc(), type.clone(builder.getBF16Type()), grads[0]);
    if (gradient == Pieces::OfAnotherShape)
      operandGrads[0] = ReshapeOp::create(
          builder, op->getLoc(), type.clone({type.getNumElements()}), grads[0]);
    return failure(gradient == Pieces::Failing);
  }
};

template <Pieces::Formula formula>
struct WrongFormula : CompositeOpInterface::ExternalModel<WrongFormula<formula>,
                                                          BareScaleAddOp> {
  FailureOr<SmallVector<Value>> decompose(Operation *op,
                                          OpBuilder &builder) const {
    Value x = op->getOperand(0);
    auto type = cast<RankedTensorType>(x.getType());
    if (formula == Pieces::OtherType)
      return SmallVector<Value>{CastOp::create(
          builder, op->getLoc(), type.clone(builder.getBF16Type()), x)};
    if (formula == Pieces::Empty)
      return SmallVector<Value>();
    if (formula == Pieces::NoValue)
      return SmallVector<Value>{Value()};
    return failure();
  }
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

template <typename Function> LogicalResult fill(OpCall &call, Function value) {
  for (int64_t i = 0; i != call.result().size(); ++i)
    call.result().at(i) = value(i);
  return success();
}

struct StrideFunction
    : InterpretedOpInterface::ExternalModel<StrideFunction, StrideOp> {
  LogicalResult interpret(Operation *op, OpCall &call) const {
    int64_t rows = call.result().dim(0);
    int64_t columns = call.result().size() / rows;
    int64_t step = static_cast<int64_t>(cast<StrideOp>(op).getStep());
    return fill(call, [&](int64_t i) {
      return call.operand(0).at(i / columns * step * columns + i % columns);
    });
  }
};

/// Of the op and of its command.
template <typename OpT>
struct ScaleAddFunction
    : InterpretedOpInterface::ExternalModel<ScaleAddFunction<OpT>, OpT> {
  LogicalResult interpret(Operation *op, OpCall &call) const {
    double scale = cast<OpT>(op).getScale().convertToDouble();
    return fill(call, [&](int64_t i) {
      return scale * call.operand(0).at(i) + call.operand(1).at(i);
    });
  }
};

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

template <typename OpT>
struct ScaleAddKind
    : CommandKindOpInterface::ExternalModel<ScaleAddKind<OpT>, OpT> {
  static StringRef getCommandKind() { return "run_scale_add"; }
};

template <typename OpT>
struct ScaleAddSource
    : CommandSourceOpInterface::ExternalModel<ScaleAddSource<OpT>, OpT> {
  bool takesElement(Operation *, Type element) const { return element.isF32(); }
  /// Rows at any distance.
  bool canRead(Operation *, unsigned, const Layout &layout) const {
    return layout.strides.back() == 1;
  }
  Operation *buildCommand(Operation *op, OpBuilder &builder,
                          ValueRange operands, ValueRange results) const {
    return RunScaleAddOp::create(
        builder, op->getLoc(), ValueRange{operands[0], operands[1], results[0]},
        cast<OpT>(op).getScaleAttr());
  }
};

template <typename OpT>
struct ScaleAddCost : CostOpInterface::ExternalModel<ScaleAddCost<OpT>, OpT> {
  double getFlops(Operation *op) const {
    return 2.0 *
           static_cast<double>(
               cast<ShapedType>(op->getResult(0).getType()).getNumElements());
  }
};

struct NoCommand
    : CommandSourceOpInterface::ExternalModel<NoCommand, ScaleAddOp> {
  bool takesElement(Operation *, Type) const { return true; }
  bool canRead(Operation *, unsigned, const Layout &) const { return true; }
  Operation *buildCommand(Operation *op, OpBuilder &builder, ValueRange,
                          ValueRange results) const {
    return plan::OutputOp::create(builder, op->getLoc(), "y", results[0]);
  }
};

//===----------------------------------------------------------------------===//
// Routines
//===----------------------------------------------------------------------===//

/// The record: rows, columns, distances between rows of a and b, the factor.
template <typename Model>
struct ScaleAddModel : RoutineOpInterface::ExternalModel<Model, RunScaleAddOp> {
  WeftCommandKind getKind(Operation *) const { return WEFT_EXTENSION; }
  StringRef getRoutine(Operation *) const { return "test_cpu_scale_add"; }
  LogicalResult makeRecord(Operation *op, RecordWords &record) const {
    auto command = cast<RunScaleAddOp>(op);
    auto layout = [](Value buffer) {
      return Layout::get(cast<MemRefType>(buffer.getType()));
    };
    Layout a = layout(command.getA()), b = layout(command.getB());
    double scale = command.getScale().convertToDouble();
    record.append({a.sizes[0], a.sizes[1], a.strides[0], b.strides[0],
                   llvm::bit_cast<int64_t>(scale)});
    return success();
  }
};

struct ScaleAddRoutine : ScaleAddModel<ScaleAddRoutine> {};

struct NamelessRoutine : ScaleAddModel<NamelessRoutine> {
  StringRef getRoutine(Operation *) const { return ""; }
};

/// So many bytes for each row and thread.
template <int64_t bytes>
struct WorkingRoutine : ScaleAddModel<WorkingRoutine<bytes>> {
  int64_t getWorkspaceBytes(Operation *, ArrayRef<int64_t> record,
                            int64_t threads) const {
    return bytes * record[0] * threads;
  }
};

struct BareRoutine : RoutineOpInterface::ExternalModel<BareRoutine, RunBareOp> {
  WeftCommandKind getKind(Operation *) const { return WEFT_EXTENSION; }
  StringRef getRoutine(Operation *) const { return "test_cpu_bare"; }
  LogicalResult makeRecord(Operation *, RecordWords &) const {
    return success();
  }
  int64_t getWorkspaceBytes(Operation *, ArrayRef<int64_t>, int64_t) const {
    return 24;
  }
};

//===----------------------------------------------------------------------===//
// A library
//===----------------------------------------------------------------------===//

/// Has a routine for each op with a command, and for one that may lack it.
struct TestLibrary final : KernelLibrary {
  StringRef getName() const override { return "test"; }
  StringRef getTitle() const override { return "the test"; }
  LibraryAnswer find(Operation *op) const override {
    return {isa<ScaleAddOp, CommandKindOpInterface>(op), Type()};
  }
  bool hasPart(ProductPart) const override { return false; }
};

} // namespace

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static void attachRoutine(MLIRContext *context, const Pieces &pieces) {
  RunBareOp::attachInterface<BareRoutine>(*context);
  if (pieces.hidesRoutine)
    RunScaleAddOp::attachInterface<NamelessRoutine>(*context);
  else if (pieces.workspace == Pieces::HundredPerRow)
    RunScaleAddOp::attachInterface<WorkingRoutine<100>>(*context);
  else if (pieces.workspace == Pieces::LessThanNothing)
    RunScaleAddOp::attachInterface<WorkingRoutine<-1>>(*context);
  else
    RunScaleAddOp::attachInterface<ScaleAddRoutine>(*context);
}

template <typename OpT> static void attachSource(MLIRContext *context) {
  OpT::template attachInterface<ScaleAddKind<OpT>, ScaleAddSource<OpT>>(
      *context);
}

static void attachRules(MLIRContext *context, Pieces::Gradient gradient) {
  StrideOp::attachInterface<StrideRule>(*context);
  switch (gradient) {
  case Pieces::Right:
    return ScaleAddOp::attachInterface<ScaleAddRule>(*context);
  case Pieces::Missing:
    return ScaleAddOp::attachInterface<WrongRule<Pieces::Missing>>(*context);
  case Pieces::OfAnotherType:
    return ScaleAddOp::attachInterface<WrongRule<Pieces::OfAnotherType>>(
        *context);
  case Pieces::OfAnotherShape:
    return ScaleAddOp::attachInterface<WrongRule<Pieces::OfAnotherShape>>(
        *context);
  case Pieces::Failing:
    return ScaleAddOp::attachInterface<WrongRule<Pieces::Failing>>(*context);
  }
}

static void attachFormula(MLIRContext *context, Pieces::Formula formula) {
  switch (formula) {
  case Pieces::NoFormula:
    return;
  case Pieces::OtherType:
    return BareScaleAddOp::attachInterface<WrongFormula<Pieces::OtherType>>(
        *context);
  case Pieces::Empty:
    return BareScaleAddOp::attachInterface<WrongFormula<Pieces::Empty>>(
        *context);
  case Pieces::NoValue:
    return BareScaleAddOp::attachInterface<WrongFormula<Pieces::NoValue>>(
        *context);
  case Pieces::Fails:
    return BareScaleAddOp::attachInterface<WrongFormula<Pieces::Fails>>(
        *context);
  }
}

static void attach(MLIRContext *context, const Pieces &pieces) {
  if (pieces.rules)
    attachRules(context, pieces.gradient);
  attachFormula(context, pieces.formula);
  if (pieces.functions) {
    StrideOp::attachInterface<StrideFunction>(*context);
    ScaleAddOp::attachInterface<ScaleAddFunction<ScaleAddOp>>(*context);
    RunScaleAddOp::attachInterface<ScaleAddFunction<RunScaleAddOp>>(*context);
  }
  if (pieces.makesNoCommand)
    ScaleAddOp::attachInterface<ScaleAddKind<ScaleAddOp>, NoCommand>(*context);
  else if (pieces.sources)
    attachSource<ScaleAddOp>(context);
  if (pieces.sources) {
    attachSource<BareScaleAddOp>(context);
    attachSource<AddingScaleAddOp>(context);
  }
  if (pieces.costs) {
    ScaleAddOp::attachInterface<ScaleAddCost<ScaleAddOp>>(*context);
    BareScaleAddOp::attachInterface<ScaleAddCost<BareScaleAddOp>>(*context);
    AddingScaleAddOp::attachInterface<ScaleAddCost<AddingScaleAddOp>>(*context);
  }
  if (pieces.routines)
    attachRoutine(context, pieces);
}

namespace {
struct AttachModels : DialectExtension<AttachModels, TestDialect> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttachModels)
  explicit AttachModels(const Pieces &pieces) : pieces(pieces) {}
  void apply(MLIRContext *context, TestDialect *) const final {
    attach(context, pieces);
  }
  Pieces pieces;
};
} // namespace

void registerTestDialect(DialectRegistry &registry, const Pieces &pieces) {
  registry.insert<TestDialect>();
  registry.addExtension(TypeID::get<AttachModels>(),
                        std::make_unique<AttachModels>(pieces));
  registry.addExtension(+[](MLIRContext *, WeftDialect *dialect) {
    KernelLibraries::of(*dialect).add(std::make_unique<TestLibrary>());
  });
}

} // namespace weft::test
