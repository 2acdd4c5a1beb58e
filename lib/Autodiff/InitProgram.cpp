//===- InitProgram.cpp - The program that draws initial values ------------===//

#include "InitProgram.h"

#include "weft/Abi/Names.h"

using namespace mlir;

namespace weft {
namespace {

Value splat(OpBuilder &builder, ParamOp param, double number) {
  RankedTensorType type = param.getTensorType();
  Attribute element = builder.getFloatAttr(type.getElementType(), number);
  return ConstantOp::create(
      builder, param.getLoc(),
      cast<ElementsAttr>(DenseElementsAttr::get(type, element)));
}

/// The initial value of `param`. The parameter's name keys random draws, so
/// they do not depend on what other parameters there are.
Value initialValue(OpBuilder &builder, ParamOp param, Value seed) {
  InitAttr init = *param.getInit();
  APFloat first(init.getFirst()), second(init.getSecond());
  switch (init.getKind()) {
  case InitKind::Zeros:
    return splat(builder, param, 0);
  case InitKind::Ones:
    return splat(builder, param, 1);
  case InitKind::Constant:
    return splat(builder, param, init.getFirst());
  case InitKind::Normal:
    return RandomNormalOp::create(builder, param.getLoc(),
                                  param.getTensorType(), seed,
                                  param.getSymName(), first, second);
  case InitKind::Uniform:
    return RandomUniformOp::create(builder, param.getLoc(),
                                   param.getTensorType(), seed,
                                   param.getSymName(), first, second);
  }
  llvm_unreachable("unknown init kind");
}

} // namespace

LogicalResult buildInitProgram(ModuleOp module, OpBuilder &builder) {
  MLIRContext *context = module.getContext();
  auto program =
      ProgramOp::create(builder, module.getLoc(), names::kInit,
                        FunctionType::get(context, {}, {}), ProgramKind::Init,
                        /*arg_attrs=*/nullptr, /*res_attrs=*/nullptr);
  program.getBody().emplaceBlock();
  Value seed = program.addInput(
      names::kSeed, RankedTensorType::get({}, builder.getI64Type()));
  OpBuilder body = OpBuilder::atBlockEnd(&program.getBody().front());
  SmallVector<Value> values;
  SmallVector<Attribute> targets;
  for (ParamOp param : module.getOps<ParamOp>()) {
    if (param.getTie())
      continue;
    if (!param.getInit())
      return param.emitOpError("expects initial values (init), but got none");
    Value value = initialValue(body, param, seed);
    if (std::optional<StringRef> scope = param.getScope())
      setScope(value.getDefiningOp(), builder.getStringAttr(*scope));
    values.push_back(value);
    targets.push_back(FlatSymbolRefAttr::get(param.getSymNameAttr()));
  }
  ReturnOp::create(body, module.getLoc(), /*outputs=*/ValueRange{}, values,
                   builder.getArrayAttr(targets));
  return success();
}

} // namespace weft
