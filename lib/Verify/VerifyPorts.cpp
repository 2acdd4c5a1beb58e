//===- VerifyPorts.cpp - Check the inputs and outputs of programs ---------===//
//
// The host writes inputs and reads outputs by name. An unknown input would have
// the old contents of the arena, and an unknown output would be lost.
//
//===----------------------------------------------------------------------===//

#include "weft/Verify/VerifyExecutable.h"

#include "weft/Abi/Names.h"
#include "weft/Analysis/PlanQueries.h"
#include "weft/Base/CountText.h"
#include "weft/Formats/ProgramPorts.h"
#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Programs.h"

using namespace mlir;
using namespace weft;

template <typename OpT> static auto portsOf(plan::ProgramOp program) {
  return program.getBody().front().getOps<OpT>();
}

static MemRefType typeOf(plan::InputOp input) {
  return cast<MemRefType>(input.getBuffer().getType());
}
/// An output may be a dense view of a larger buffer. The host reads its bytes
/// at their offset, so the type of the port has no strides and no offset.
static MemRefType typeOf(plan::OutputOp output) {
  auto type = cast<MemRefType>(output.getBuffer().getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

static bool isData(plan::ProgramOp program, plan::InputOp input) {
  return readsData(program.getKindName()) && !isFilledByHost(input.getName());
}

int64_t weft::getBatchRows(ModuleOp module) {
  if (auto batch = module->getAttrOfType<IntegerAttr>("weft.batch"))
    return batch.getInt();
  for (auto program : module.getOps<plan::ProgramOp>())
    if (program.getKind() == ProgramKind::Micro ||
        program.getKind() == ProgramKind::Eval)
      for (plan::InputOp input : portsOf<plan::InputOp>(program))
        if (isData(program, input) && typeOf(input).getRank() > 0)
          return typeOf(input).getDimSize(0);
  return 1;
}

namespace {
class PortVerifier {
public:
  explicit PortVerifier(ModuleOp module)
      : module(module), b(module.getContext()), batch(getBatchRows(module)),
        vocab(getSize("weft.vocab")), seq(getSize("weft.seq")),
        optimizers(findOptimizers(module)) {}

  LogicalResult run();

private:
  int64_t getSize(StringRef name) {
    auto size = module->getAttrOfType<IntegerAttr>(name);
    return size ? size.getInt() : 0;
  }
  bool isLanguageModel() const { return vocab && seq; }
  Type getElement(StringRef text);
  MemRefType getType(const PortRule &rule);
  std::vector<std::string> getDecays();

  LogicalResult verifyProgram(plan::ProgramOp program);
  LogicalResult verifyInput(plan::ProgramOp program, plan::InputOp input);
  LogicalResult verifyData(plan::InputOp input, ArrayRef<std::string> known);
  LogicalResult verifyOutput(plan::ProgramOp program, plan::OutputOp output);
  LogicalResult verifyRows(plan::OutputOp output);
  LogicalResult verifyPresent();
  LogicalResult verifyApply(plan::ProgramOp apply);
  LogicalResult verifyScale(plan::ProgramOp apply);
  LogicalResult verifyLogits(plan::ProgramOp logits);

  ModuleOp module;
  Builder b;
  int64_t batch, vocab, seq;
  SmallVector<const OptimizerInfo *> optimizers;
};
} // namespace

Type PortVerifier::getElement(StringRef text) {
  if (text == "f32")
    return b.getF32Type();
  if (text == "f64")
    return b.getF64Type();
  unsigned bits = 0;
  bool isNumber = !text.drop_front().getAsInteger(10, bits);
  assert(isNumber && "a rule has a type of floats or integers");
  (void)isNumber;
  return b.getIntegerType(bits);
}

MemRefType PortVerifier::getType(const PortRule &rule) {
  SmallVector<int64_t> shape;
  if (rule.size != 0)
    shape.push_back(rule.size);
  return MemRefType::get(shape, getElement(rule.type));
}

/// The inputs of `apply` with the weight decay of a single optimizer.
std::vector<std::string> PortVerifier::getDecays() {
  std::vector<std::string> decays;
  for (const OptimizerInfo *optimizer : optimizers) {
    std::string decay = getDecayInput(*optimizer, optimizers);
    if (decay != names::kWeightDecay)
      decays.push_back(std::move(decay));
  }
  return decays;
}

//===----------------------------------------------------------------------===//
// One port
//===----------------------------------------------------------------------===//

template <typename PortOp>
static LogicalResult verifyType(PortOp port, StringRef what, Type expected) {
  if (typeOf(port) == expected)
    return success();
  return port.emitOpError("expects ")
         << what << " '" << port.getName() << "' of type " << expected
         << ", but got " << typeOf(port);
}

/// Checks an input of data rows. The model chooses their names, except for
/// tokens.
LogicalResult PortVerifier::verifyData(plan::InputOp input,
                                       ArrayRef<std::string> known) {
  StringRef name = input.getName();
  if (isLanguageModel() && (name == names::kTokens || name == names::kTargets))
    return verifyType(input, "input",
                      MemRefType::get({batch, seq}, b.getI32Type()));
  MemRefType type = typeOf(input);
  bool isBatch = type.getRank() > 0 && type.getDimSize(0) == batch;
  if (isBatch && !isLanguageModel())
    return success();
  std::vector<std::string> names = known.vec();
  if (isLanguageModel())
    names.insert(names.begin(), {names::kTokens, names::kTargets});
  InFlightDiagnostic error = input.emitOpError("expects ");
  if (!isLanguageModel())
    error << "data of " << countText(batch, "row") << " (weft.batch) or ";
  return error << "an input that a run writes, " << spellNames(names)
               << ", but got '" << name << "' of type " << type;
}

LogicalResult PortVerifier::verifyInput(plan::ProgramOp program,
                                        plan::InputOp input) {
  StringRef kind = program.getKindName(), name = input.getName();
  if (const PortRule *rule = findInputRule(kind, name))
    return verifyType(input, "input", getType(*rule));
  std::vector<std::string> known = namesOfRules(inputRules(), kind);
  if (isData(program, input))
    return verifyData(input, known);
  if (givesLogits(kind)) {
    if (name == names::kTokens || name == names::kPosition)
      return success(); // verifyLogits
    known.insert(known.begin(), {names::kTokens, names::kPosition});
  }
  if (kind == names::kApply)
    for (std::string &decay : getDecays()) {
      if (name == decay)
        return verifyType(input, "input", MemRefType::get({}, b.getF64Type()));
      known.push_back(std::move(decay));
    }
  return input.emitOpError("expects an input of ")
         << kind << " that a run writes, " << spellNames(known) << ", but got '"
         << name << "'";
}

/// Checks an output with an entry for each row of data.
LogicalResult PortVerifier::verifyRows(plan::OutputOp output) {
  MemRefType type = typeOf(output);
  if (type.getRank() > 0 && type.getDimSize(0) == batch)
    return success();
  return output.emitOpError("expects an output of ")
         << countText(batch, "row") << " (weft.batch), but got '"
         << output.getName() << "' of type " << type;
}

LogicalResult PortVerifier::verifyOutput(plan::ProgramOp program,
                                         plan::OutputOp output) {
  StringRef kind = program.getKindName(), name = output.getName();
  if (const PortRule *rule = findOutputRule(kind, name))
    return verifyType(output, "output", getType(*rule));
  if (givesRows(kind))
    return verifyRows(output);
  // Terms of the loss and metrics.
  if (readsData(kind))
    return verifyType(output, "output", MemRefType::get({}, b.getF32Type()));
  if (givesLogits(kind) && name == names::kLogits)
    return success(); // verifyLogits
  std::vector<std::string> known = namesOfRules(outputRules(), kind);
  if (givesLogits(kind))
    known.push_back(names::kLogits);
  return output.emitOpError("expects an output of ")
         << kind << " that a run reads, " << spellNames(known) << ", but got '"
         << name << "'";
}

LogicalResult PortVerifier::verifyProgram(plan::ProgramOp program) {
  StringRef kind = program.getKindName();
  if (!llvm::is_contained(programKinds(), std::string_view(kind))) {
    std::vector<std::string> kinds(programKinds().begin(),
                                   programKinds().end());
    return program.emitOpError("expects the kind ")
           << spellNames(kinds) << ", but got '" << kind << "'";
  }
  for (plan::InputOp input : portsOf<plan::InputOp>(program))
    if (failed(verifyInput(program, input)))
      return failure();
  for (plan::OutputOp output : portsOf<plan::OutputOp>(program))
    if (failed(verifyOutput(program, output)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Required ports
//===----------------------------------------------------------------------===//

template <typename PortOp>
static PortOp findPort(plan::ProgramOp program, StringRef name) {
  for (PortOp port : portsOf<PortOp>(program))
    if (port.getName() == name)
      return port;
  return nullptr;
}

template <typename PortOp>
static LogicalResult requirePort(plan::ProgramOp program, StringRef name) {
  if (findPort<PortOp>(program, name))
    return success();
  return program.emitOpError(std::is_same_v<PortOp, plan::InputOp>
                                 ? "expects an input '"
                                 : "expects an output '")
         << name << "', but got none";
}

/// Checks that each number that flags of a run set has an input.
LogicalResult PortVerifier::verifyApply(plan::ProgramOp apply) {
  if (isWithoutTraining(module))
    return apply.emitOpError("expects optimizers in ")
           << WeftDialect::kTrainingAttr << " of the module, but got none";
  SmallVector<StringRef> needed = {names::kMaxNorm};
  for (const OptimizerInfo *optimizer : optimizers)
    llvm::append_range(needed, optimizer->numbers);
  std::vector<std::string> decays = getDecays();
  llvm::append_range(needed, decays);
  for (StringRef name : needed)
    if (failed(requirePort<plan::InputOp>(apply, name)))
      return failure();
  return verifyScale(apply);
}

/// A run with a loss scale reads its value, and whether it can decrease
/// further.
LogicalResult PortVerifier::verifyScale(plan::ProgramOp apply) {
  for (auto state : module.getOps<plan::StateOp>()) {
    if (state.getKind() != StateKind::Scaler)
      continue;
    StringRef name = state.getSymName();
    if (name != names::kLossScale && name != names::kLossScaleState)
      return state.emitOpError("expects a state of kind scaler called ")
             << spellNames({names::kLossScale, names::kLossScaleState})
             << ", but got '" << name << "'";
    StringRef output =
        name == names::kLossScale ? names::kLossScale : names::kScaleExhausted;
    if (failed(requirePort<plan::OutputOp>(apply, output)))
      return failure();
  }
  return success();
}

LogicalResult PortVerifier::verifyLogits(plan::ProgramOp logits) {
  const int64_t tokens = logits.getKind() == ProgramKind::Decode ? 1 : seq;
  for (auto [name, shape] :
       {std::pair<StringRef, SmallVector<int64_t>>{names::kTokens, {1, tokens}},
        {names::kPosition, {1}}})
    if (failed(requirePort<plan::InputOp>(logits, name)) ||
        failed(verifyType(findPort<plan::InputOp>(logits, name), "input",
                          MemRefType::get(shape, b.getI32Type()))))
      return failure();
  if (failed(requirePort<plan::OutputOp>(logits, names::kLogits)))
    return failure();
  return verifyType(findPort<plan::OutputOp>(logits, names::kLogits), "output",
                    MemRefType::get({1, vocab}, b.getF32Type()));
}

/// Checks that both programs read the same data and return the same losses and
/// metrics.
template <typename PortOp>
static LogicalResult verifySamePorts(plan::ProgramOp program,
                                     plan::ProgramOp other, StringRef what) {
  auto isShared = [&](PortOp port) {
    if constexpr (std::is_same_v<PortOp, plan::InputOp>)
      return !isFilledByHost(port.getName());
    return true;
  };
  for (PortOp port : portsOf<PortOp>(program)) {
    if (!isShared(port))
      continue;
    std::vector<std::string> names;
    for (PortOp known : portsOf<PortOp>(other))
      if (isShared(known))
        names.push_back(known.getName().str());
    if (PortOp same = findPort<PortOp>(other, port.getName())) {
      if (failed(verifyType(port, what, typeOf(same))))
        return failure();
      continue;
    }
    InFlightDiagnostic error = port.emitOpError("expects an ")
                               << what << " that @" << other.getSymName()
                               << " has, too, " << spellNames(names)
                               << ", but got '" << port.getName() << "'";
    error.attachNote(other.getLoc()) << "the other program is here";
    return error;
  }
  return success();
}

/// Checks that a program of the kind exists, and has the output.
static LogicalResult verifyKind(ModuleOp module, ProgramKind kind,
                                StringRef output) {
  auto programs = module.getOps<plan::ProgramOp>();
  if (llvm::none_of(programs, [&](plan::ProgramOp program) {
        return program.getKind() == kind;
      }))
    return module.emitError("expects a plan.program of kind ")
           << stringifyProgramKind(kind) << ", but got none";
  auto program = findProgram(module, kind);
  return program && !output.empty()
             ? requirePort<plan::OutputOp>(program, output)
             : success();
}

LogicalResult PortVerifier::verifyPresent() {
  SmallVector<std::pair<ProgramKind, StringRef>> kinds = {
      {ProgramKind::Init, ""}, {ProgramKind::Eval, names::kLoss}};
  if (!isWithoutTraining(module))
    kinds = {{ProgramKind::Init, ""},
             {ProgramKind::Micro, names::kLoss},
             {ProgramKind::Eval, names::kLoss},
             {ProgramKind::Apply, names::kFoundInf}};
  for (auto [kind, output] : kinds) {
    if (failed(verifyKind(module, kind, output)))
      return failure();
    // If several programs could be meant, the target reports an error.
    if (!findProgram(module, kind))
      return success();
  }
  auto micro = findProgram(module, ProgramKind::Micro);
  auto eval = findProgram(module, ProgramKind::Eval);
  if (micro && eval &&
      (failed(verifySamePorts<plan::InputOp>(micro, eval, "input")) ||
       failed(verifySamePorts<plan::InputOp>(eval, micro, "input")) ||
       failed(verifySamePorts<plan::OutputOp>(micro, eval, "output")) ||
       failed(verifySamePorts<plan::OutputOp>(eval, micro, "output"))))
    return failure();
  for (auto program : module.getOps<plan::ProgramOp>())
    if (micro && program.getKind() == ProgramKind::Denominators &&
        failed(verifySamePorts<plan::InputOp>(program, micro, "input")))
      return failure();
  for (auto program : module.getOps<plan::ProgramOp>())
    if (givesLogits(program.getKindName()) && failed(verifyLogits(program)))
      return failure();
  if (findProgram(module, ProgramKind::Decode) &&
      failed(verifyKind(module, ProgramKind::Prefill, names::kLogits)))
    return failure();
  auto apply = findProgram(module, ProgramKind::Apply);
  return apply ? verifyApply(apply) : success();
}

LogicalResult PortVerifier::run() {
  for (auto program : module.getOps<plan::ProgramOp>())
    if (failed(verifyProgram(program)))
      return failure();
  return verifyPresent();
}

LogicalResult weft::verifyPorts(ModuleOp module) {
  return PortVerifier(module).run();
}
