//===- Fingerprint.cpp - Identity of a model ------------------------------===//

#include "weft/Pipeline/Fingerprint.h"

#include "weft/Formats/Digest.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;

/// The parameters, with what decides their meaning.
static void printParams(ModuleOp module, raw_ostream &stream) {
  for (auto param : module.getOps<ParamOp>()) {
    stream << param.getSymName() << ":" << param.getType();
    if (param.getTie())
      stream << "=" << *param.getTie();
    stream << "\n";
  }
}

namespace {
/// Prints the computation without types, so that batch and length do not enter,
/// nor do precision and recomputation: regions are seen through.
class ComputationPrinter {
public:
  explicit ComputationPrinter(raw_ostream &stream) : stream(stream) {}

  void print(ProgramOp program) {
    for (BlockArgument argument : program.getArguments())
      number(argument);
    print(program.getBody().front());
  }

private:
  void number(Value value) { numbers[value] = next++; }
  void print(Block &block);
  void print(Operation &op);

  raw_ostream &stream;
  llvm::DenseMap<Value, unsigned> numbers;
  unsigned next = 0;
};
} // namespace

void ComputationPrinter::print(Operation &op) {
  stream << op.getName();
  for (Value operand : op.getOperands())
    stream << " " << numbers.lookup(operand);
  if (!isa<ReshapeOp, BroadcastOp>(op))
    for (NamedAttribute attr : op.getAttrDictionary())
      if (attr.getName() != WeftDialect::kScopeAttr &&
          attr.getName() != WeftDialect::kRecomputeAttr)
        stream << " " << attr.getName() << "=" << attr.getValue();
  stream << "\n";
  for (Value result : op.getResults())
    number(result);
}

void ComputationPrinter::print(Block &block) {
  for (Operation &op : block) {
    if (!op.hasTrait<InlinedRegion>()) {
      if (!isa<YieldOp>(op))
        print(op);
      continue;
    }
    Block &body = op.getRegion(0).front();
    print(body);
    for (auto [result, value] :
         llvm::zip(op.getResults(), body.getTerminator()->getOperands()))
      numbers[result] = numbers.lookup(value);
  }
}

void weft::storeFingerprint(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printParams(module, stream);
  if (auto config = module->getAttrOfType<DictionaryAttr>("weft.config")) {
    // The configuration decides the computation; its slices and tables would
    // bring in the batch and the length.
    stream << module->getAttr("weft.family") << "\n";
    for (NamedAttribute field : config) {
      auto entry = dyn_cast<DictionaryAttr>(field.getValue());
      stream << field.getName() << "="
             << (entry ? entry.get("value") : field.getValue()) << "\n";
    }
  } else {
    for (auto program : module.getOps<ProgramOp>())
      if (program.getKind() == ProgramKind::Model)
        ComputationPrinter(stream).print(program);
  }
  module->setAttr("weft.fingerprint",
                  StringAttr::get(module.getContext(), digest128(text)));
}
