//===- InterpretedPrograms.cpp - Programs over values and over buffers ----===//

#include "PlanInterpreter.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Programs over values
//===----------------------------------------------------------------------===//

/// Number of rows that an integer input selects from: of the table or logits
/// that it reaches through ops that move elements, or 2.
static int64_t countChoices(BlockArgument argument) {
  SetVector<Value> reached;
  reached.insert(argument);
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i].getUsers()) {
      if (auto embedding = dyn_cast<EmbeddingOp>(user))
        return embedding.getTable().getType().getDimSize(0);
      if (auto mean = dyn_cast<CountedMeanOpInterface>(user))
        return mean.getClassCount();
      if (movesElements(user) || isa<CastOp>(user))
        reached.insert(user->getResult(0));
    }
  return 2;
}

ProgramInfo weft::describeProgram(ProgramOp program) {
  ProgramInfo info;
  info.op = program;
  info.name = program.getSymName().str();
  info.kind = program.getKind();
  for (BlockArgument argument : program.getBody().getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    bool isIndex = !isa<FloatType>(type.getElementType());
    info.inputs.push_back({program.getInputName(argument.getArgNumber()).str(),
                           type, isIndex ? countChoices(argument) : 0});
  }
  for (auto target :
       program.getTerminator().getTargets().getAsRange<FlatSymbolRefAttr>())
    info.written.push_back(target.getValue().str());
  return info;
}

//===----------------------------------------------------------------------===//
// Programs over buffers
//===----------------------------------------------------------------------===//

RankedTensorType weft::getTensorType(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

/// The same from the facts of the module, since formulas do not tell.
static int64_t countChoices(plan::InputOp input) {
  auto training =
      input->getParentOfType<ModuleOp>()->getAttrOfType<TrainingAttr>(
          WeftDialect::kTrainingAttr);
  if (training && training.getIndexInputs())
    for (auto each : training.getIndexInputs().getAsRange<IndexInputAttr>())
      if (each.getName() == input.getName())
        return each.getLimit();
  return 2;
}

ProgramInfo weft::describeProgram(plan::ProgramOp program) {
  ProgramInfo info;
  info.op = program;
  info.name = program.getSymName().str();
  info.kind = program.getKind();
  SetVector<Value> written;
  for (Operation &op : program.getBody().front()) {
    if (auto input = dyn_cast<plan::InputOp>(op))
      info.inputs.push_back({input.getName().str(),
                             getTensorType(input.getBuffer()),
                             countChoices(input)});
    if (auto command = dyn_cast<plan::CommandOpInterface>(op))
      for (const plan::Access &access : command.getAccesses())
        if (access.isWritten)
          written.insert(plan::getRoot(access.buffer));
  }
  for (auto use : program.getBody().front().getOps<plan::UseOp>())
    if (written.contains(use.getBuffer()))
      info.written.push_back(use.getState().str());
  return info;
}

//===----------------------------------------------------------------------===//
// Shared by both interpreters
//===----------------------------------------------------------------------===//

bool ProgramInfo::hasInput(StringRef input) const {
  return llvm::any_of(inputs, [&](const Input &i) { return i.name == input; });
}

static bool isSameClass(ElementKind a, ElementKind b) {
  bool isBool = a == ElementKind::I1;
  return isFloat(a) == isFloat(b) && isBool == (b == ElementKind::I1);
}

FailureOr<Tensor> ModuleRunner::adopt(Tensor value, RankedTensorType type,
                                      Location loc, StringRef what) const {
  std::optional<ElementKind> kind = elementKindOf(type.getElementType());
  if (!kind || ArrayRef<int64_t>(value.shape()) != type.getShape() ||
      !isSameClass(*kind, value.kind()))
    return mlir::emitError(loc) << what << " expects the type " << type
                                << ", but got " << value.typeText();
  for (int64_t element : value.intValues())
    if (wrapTo(*kind, element) != element)
      return mlir::emitError(loc) << what << " expects values of the type "
                                  << type << ", but got " << element;
  value = value.renamed(*kind);
  if (mode == ComputeMode::F32)
    value.roundElements();
  return value;
}

FailureOr<std::vector<Tensor>>
ModuleRunner::bindInputs(const ProgramInfo &program,
                         const TensorMap &inputs) const {
  for (const auto &[name, value] : inputs)
    if (!program.hasInput(name))
      return program.op->emitError() << "program '@" << program.name
                                     << "' has no input '" << name << "'";
  std::vector<Tensor> values;
  for (const ProgramInfo::Input &input : program.inputs) {
    auto found = inputs.find(input.name);
    if (found == inputs.end())
      return program.op->emitError()
             << "program '@" << program.name << "' expects the input '"
             << input.name << "'";
    FailureOr<Tensor> value =
        adopt(found->second, input.type, program.op->getLoc(),
              "input '" + input.name + "'");
    if (failed(value))
      return failure();
    values.push_back(std::move(*value));
  }
  return values;
}

std::unique_ptr<ModuleRunner>
weft::makeRunner(ModuleOp module, ComputeMode mode, uint64_t streamOrder) {
  if (module.getOps<plan::ProgramOp>().empty())
    return std::make_unique<Interpreter>(module, mode);
  return std::make_unique<PlanInterpreter>(module, mode, streamOrder);
}
