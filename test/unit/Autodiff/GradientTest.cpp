//===- GradientTest.cpp - Contexts with right and wrong adjoints ----------===//

#include "GradientTest.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

namespace weft::test {

namespace {

/// Negates the first gradient of the right adjoint, which is the one of a
/// context of its own.
struct BrokenModel : DifferentiableOpInterface::FallbackModel<BrokenModel> {
  LogicalResult buildAdjoint(Operation *op, OpBuilder &builder,
                             ArrayRef<Value> resultGrads, ArrayRef<bool> needed,
                             MutableArrayRef<Value> operandGrads) const {
    MLIRContext right;
    loadWeft(right);
    OperationName name(op->getName().getStringRef(), &right);
    auto *rule = name.getInterface<DifferentiableOpInterface>();
    if (failed(rule->buildAdjoint(rule, op, builder, resultGrads, needed,
                                  operandGrads)))
      return failure();
    for (Value &grad : operandGrads)
      if (grad) {
        grad = NegOp::create(builder, op->getLoc(), grad);
        break;
      }
    return success();
  }
};

/// Attaches the wrong adjoint. The right one, which comes later, is left out.
struct BreakAdjoint : DialectExtension<BreakAdjoint, WeftDialect> {
  explicit BreakAdjoint(std::string op) : op(std::move(op)) {}

  void apply(MLIRContext *context, WeftDialect *) const override {
    RegisteredOperationName::lookup(op, context)
        ->attachInterface<BrokenModel>();
  }

  std::string op;
};

} // namespace

void loadWeft(MLIRContext &context, const std::string &broken) {
  DialectRegistry registry;
  registry.insert<WeftDialect>();
  if (!broken.empty())
    registry.addExtension(TypeID::get<BreakAdjoint>(),
                          std::make_unique<BreakAdjoint>(broken));
  registerAutodiffModels(registry);
  registerInterpreter(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<WeftDialect>();
}

FailureOr<GradientCheck> checkText(MLIRContext &context,
                                   const std::string &text,
                                   const GradientCheckOptions &options) {
  auto module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context), "model.mlir");
  if (!module)
    return failure();
  return checkGradients(*module, options);
}

} // namespace weft::test
