//===- ModelBuilder.cpp - Builds the programs of a language model ---------===//

#include "ModelBuilder.h"

#include "weft/Abi/Names.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace weft;

ModelBuilder::Scope::Scope(ModelBuilder &builder, const llvm::Twine &name)
    : builder(builder), before(builder.scope) {
  const std::string part = name.str();
  if (!part.empty())
    builder.scope = before.empty() ? part : before + "." + part;
}

Location ModelBuilder::location(llvm::StringRef name) {
  std::string path = scope.empty() ? name.str() : scope + "." + name.str();
  return NameLoc::get(b.getStringAttr(path), fileLoc);
}

ArrayRef<int64_t> ModelBuilder::shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

InitAttr ModelBuilder::zeros() {
  return InitAttr::get(b.getContext(), InitKind::Zeros, 0.0, 0.0);
}
InitAttr ModelBuilder::ones() {
  return InitAttr::get(b.getContext(), InitKind::Ones, 0.0, 0.0);
}
InitAttr ModelBuilder::normal(double std) {
  return InitAttr::get(b.getContext(), InitKind::Normal, 0.0, std);
}

void ModelBuilder::param(const llvm::Twine &name, ArrayRef<int64_t> shape,
                         InitAttr init, llvm::StringRef tie) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  auto type = RankedTensorType::get(shape, b.getF32Type());
  std::string symbol = name.str();
  paramTypes[symbol] = type;
  auto tieAttr = tie.empty() ? FlatSymbolRefAttr()
                             : FlatSymbolRefAttr::get(b.getContext(), tie);
  ParamOp::create(b, NameLoc::get(b.getStringAttr(symbol), fileLoc),
                  b.getStringAttr(symbol), TypeAttr::get(type),
                  tie.empty() ? init : InitAttr(), b.getBoolAttr(true),
                  /*decay=*/BoolAttr(), tieAttr,
                  scope.empty() ? StringAttr() : b.getStringAttr(scope),
                  /*source=*/StringAttr());
}

LogicalResult ModelBuilder::verifyParams() {
  for (ParamOp param : module.getOps<ParamOp>())
    if (failed(verify(param)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

ValueRange ModelBuilder::begin(llvm::StringRef name, ProgramKind kind,
                               ArrayRef<Port> inputs, Port output) {
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  SmallVector<Attribute> inputNames;
  for (auto [inputName, type] : inputs) {
    types.push_back(type);
    inputNames.push_back(b.getDictionaryAttr(
        b.getNamedAttr(WeftDialect::kInputAttr, b.getStringAttr(inputName))));
  }
  Attribute outputName = b.getDictionaryAttr(
      b.getNamedAttr(WeftDialect::kOutputAttr, b.getStringAttr(output.first)));
  auto function = b.getFunctionType(types, output.second);
  auto program = ProgramOp::create(
      b, fileLoc, b.getStringAttr(name), TypeAttr::get(function),
      ProgramKindAttr::get(b.getContext(), kind), b.getArrayAttr(inputNames),
      b.getArrayAttr(outputName));
  Block &block = program.getBody().emplaceBlock();
  block.addArguments(types, SmallVector<Location>(types.size(), fileLoc));
  b.setInsertionPointToStart(&block);
  return block.getArguments();
}

void ModelBuilder::lossProgram(const LanguageModelSizes &sizes,
                               std::function<Value(Value)> logitsOfTokens) {
  auto ids = RankedTensorType::get({sizes.batch, sizes.seq}, b.getI32Type());
  auto scalar = RankedTensorType::get({}, b.getF32Type());
  ValueRange inputs = begin(names::kModel, ProgramKind::Model,
                            {{names::kTokens, ids}, {names::kTargets, ids}},
                            {names::kLoss, scalar});
  Value logits = logitsOfTokens(inputs[0]);
  Scope inLoss(*this, "loss");
  auto loss = create<CrossEntropyOp>(
      "cross_entropy", logits, inputs[1], /*weight=*/Value(),
      /*ignore_index=*/b.getI64IntegerAttr(-100),
      /*label_smoothing=*/b.getF64FloatAttr(0.0),
      LossReductionAttr::get(b.getContext(), LossReduction::Mean));
  ReturnOp::create(b, fileLoc, ValueRange{loss.getLoss()});
}

void ModelBuilder::logitsProgram(const LanguageModelSizes &sizes,
                                 std::function<Value(Value)> hidden,
                                 std::function<Value(Value)> head) {
  auto ids = RankedTensorType::get({1, sizes.seq}, b.getI32Type());
  auto position = RankedTensorType::get({1}, b.getI32Type());
  auto row = RankedTensorType::get({1, sizes.vocab}, b.getF32Type());
  ValueRange inputs =
      begin(names::kLogits, ProgramKind::Logits,
            {{names::kTokens, ids}, {names::kPosition, position}},
            {names::kLogits, row});
  Value x = hidden(inputs[0]);
  // The hidden state at the position, as a row of a table.
  Value rows = reshape(x, shapeOf(x).drop_front());
  ReturnOp::create(b, fileLoc, ValueRange{head(embedding(rows, inputs[1]))});
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value ModelBuilder::read(const llvm::Twine &name) {
  std::string symbol = name.str();
  return create<ReadOp>("read", paramTypes.at(symbol), llvm::StringRef(symbol));
}

Value ModelBuilder::linear(Value x, const llvm::Twine &weight, bool transposed,
                           const llvm::Twine &bias) {
  Value weightValue = read(weight), biasValue;
  if (!bias.isTriviallyEmpty())
    biasValue = read(bias);
  return create<MatmulOp>("matmul", x, weightValue, biasValue,
                          /*transpose_lhs=*/false, transposed,
                          /*out=*/TypeAttr());
}

Value ModelBuilder::add(Value x, Value y) { return create<AddOp>("add", x, y); }

Value ModelBuilder::embedding(Value table, Value ids) {
  return create<EmbeddingOp>("embedding", table, ids);
}

Value ModelBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(x.getType()).clone(shape);
  return create<ReshapeOp>("reshape", type, x);
}

Value ModelBuilder::slice(Value x, unsigned dim, int64_t begin, int64_t size) {
  SmallVector<int64_t> sizes(shapeOf(x));
  SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
  offsets[dim] = begin;
  sizes[dim] = size;
  return create<SliceOp>("slice", x, offsets, sizes, strides);
}

Value ModelBuilder::concat(ValueRange values, int64_t dim) {
  return create<ConcatOp>("concat", values, b.getI64IntegerAttr(dim));
}

Value ModelBuilder::dropout(Value x, double p) {
  if (p == 0.0)
    return x;
  return create<DropoutOp>("dropout", x, /*rng=*/Value(), b.getF64FloatAttr(p),
                           b.getI64IntegerAttr(opId++));
}

Value ModelBuilder::attention(Value query, Value key, Value value, double scale,
                              double dropout, int64_t window, double softcap) {
  return create<AttentionOp>(
             "attention", query, key, value, /*rng=*/Value(),
             /*segments=*/Value(), b.getF64FloatAttr(scale), b.getUnitAttr(),
             window ? b.getI64IntegerAttr(window) : IntegerAttr(),
             softcap != 0 ? b.getF64FloatAttr(softcap) : FloatAttr(),
             b.getF64FloatAttr(dropout),
             b.getI64IntegerAttr(dropout > 0 ? opId++ : 0),
             /*stores_bits=*/UnitAttr())
      .getOut();
}

Value ModelBuilder::constant(ArrayRef<int64_t> shape, ArrayRef<float> values) {
  auto type = RankedTensorType::get(shape, b.getF32Type());
  return create<ConstantOp>("constant", DenseElementsAttr::get(type, values));
}
