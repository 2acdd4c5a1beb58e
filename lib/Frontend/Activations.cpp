//===- Activations.cpp - Activation functions by their names --------------===//

#include "DecoderBuilder.h"
#include "FamilyReader.h"

#include "weft/Base/Text.h"

using namespace mlir;
using namespace weft;

namespace {
struct ActivationName {
  llvm::StringRef name;
  Activation kind;
};
} // namespace

static const ActivationName kActivations[] = {
    {"gelu", Activation::Gelu},
    {"gelu_fast", Activation::GeluTanh},
    {"gelu_new", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"relu", Activation::Relu},
    {"silu", Activation::Silu},
    {"swish", Activation::Silu},
    {"tanh", Activation::Tanh},
    {"sigmoid", Activation::Sigmoid}};

Activation weft::readActivation(ConfigFields &fields, llvm::StringRef name,
                                llvm::StringRef missing) {
  const std::string value = fields.text(name, missing);
  for (const ActivationName &entry : kActivations)
    if (entry.name == value)
      return entry.kind;
  InFlightDiagnostic diag = fields.valueError(name);
  diag << "expects one of";
  for (const ActivationName &entry : kActivations)
    diag << " " << entry.name;
  diag << ", but got '" << printable(value, 80) << "'";
  return Activation::Silu;
}

Value weft::buildActivation(ModelBuilder &m, Activation kind, Value x) {
  MLIRContext *context = m.builder().getContext();
  switch (kind) {
  case Activation::Gelu:
    return m.create<GeluOp>("gelu", x,
                            GeluKindAttr::get(context, GeluKind::None));
  case Activation::GeluTanh:
    return m.create<GeluOp>("gelu", x,
                            GeluKindAttr::get(context, GeluKind::Tanh));
  case Activation::Relu:
    return m.create<ReluOp>("relu", x);
  case Activation::Silu:
    return m.create<SiluOp>("silu", x);
  case Activation::Tanh:
    return m.create<TanhOp>("tanh", x);
  case Activation::Sigmoid:
    return m.create<SigmoidOp>("sigmoid", x);
  }
  llvm_unreachable("every activation has a case");
}
