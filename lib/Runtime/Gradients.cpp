//===- Gradients.cpp - Looking into gradients: dump, find, break ----------===//

#include "weft/Formats/Half.h"
#include "weft/Formats/Text.h"
#include "weft/Runtime/DTypes.h"
#include "weft/Runtime/Trainer.h"

#include <cmath>
#include <cstring>
#include <regex>

using namespace weft;

static std::vector<const WeftTensor *>
gradientsOf(const WeftExecutable &executable) {
  std::vector<const WeftTensor *> gradients;
  for (int32_t i = 0; i < executable.numTensors; ++i)
    if (executable.tensors[i].kind == WEFT_GRADIENT)
      gradients.push_back(&executable.tensors[i]);
  return gradients;
}

Status Trainer::dumpGradients() const {
  std::vector<TensorSpec> specs;
  auto gradients = gradientsOf(*context.executable());
  for (const WeftTensor *gradient : gradients)
    specs.push_back(
        {gradient->param, tensorTypeOf(gradient->dtype), shapeOf(*gradient)});
  auto writer = SafetensorsWriter::create(options.dumpGrads, specs);
  if (!writer)
    return writer.takeError();
  for (const WeftTensor *gradient : gradients)
    if (Status s = writer->write(context.data(*gradient), gradient->bytes); !s)
      return s;
  return writer->finish();
}

static bool isFiniteAt(const char *data, int32_t dtype) {
  uint16_t half;
  switch (dtype) {
  case WEFT_F64: {
    double value;
    std::memcpy(&value, data, sizeof value);
    return std::isfinite(value);
  }
  case WEFT_F16:
    std::memcpy(&half, data, sizeof half);
    return std::isfinite(halfToFloat(half));
  case WEFT_BF16:
    std::memcpy(&half, data, sizeof half);
    return std::isfinite(bf16ToFloat(half));
  default: {
    float value;
    std::memcpy(&value, data, sizeof value);
    return std::isfinite(value);
  }
  }
}

/// The first element that is not finite, or -1.
static int64_t firstBad(const WeftContext &context, const WeftTensor &tensor) {
  const char *data = static_cast<const char *>(context.data(tensor));
  int64_t size = dtypeBytes(tensor.dtype);
  for (int64_t i = 0, n = elementsOf(tensor); i < n; ++i)
    if (!isFiniteAt(data + i * size, tensor.dtype))
      return i;
  return -1;
}

Status Trainer::nonFinite(int64_t step) const {
  std::string what = "some gradient is not";
  for (const WeftTensor *gradient : gradientsOf(*context.executable())) {
    int64_t element = firstBad(context, *gradient);
    if (element < 0)
      continue;
    what = "that of " + inQuotes(gradient->param) + " is not (element " +
           std::to_string(element) + ")";
    break;
  }
  return Error(ExitCode::Numerics, "step " + std::to_string(step) +
                                       ": expects finite gradients, but " +
                                       what + "; nothing was updated")
      .hint("a smaller --lr, a --warmup or --clip 1 keeps a run finite");
}

void Trainer::injectFault() {
  const Fault *fault = faults.find(Fault::Kind::BadGradient, now.step + 1);
  if (!fault)
    return;
  for (const WeftTensor *gradient : gradientsOf(*context.executable())) {
    if (!std::regex_search(gradient->param, std::regex(fault->pattern)))
      continue;
    std::memcpy(context.data(*gradient), &fault->value, sizeof fault->value);
    return;
  }
}

static const WeftProgram *find(const WeftExecutable &executable,
                               const char *name) {
  for (int32_t i = 0; i < executable.numPrograms; ++i)
    if (std::strcmp(executable.programs[i].name, name) == 0)
      return &executable.programs[i];
  return nullptr;
}

static Status missing(const char *what) {
  return Error(ExitCode::Internal,
               std::string("the executable has no ") + what);
}

Status weft::checkTrainable(const WeftExecutable &executable,
                            const DataSet &data) {
  const WeftProgram *micro = find(executable, "micro");
  const WeftProgram *apply = find(executable, "apply");
  if (!micro)
    return missing("program 'micro'");
  if (!apply)
    return missing("program 'apply'");
  if (!WeftContext::findOutput(*micro, "loss"))
    return missing("output 'loss' of program 'micro'");
  if (!WeftContext::findOutput(*apply, "found_inf"))
    return missing("output 'found_inf' of program 'apply'");
  const WeftProgram *eval = find(executable, "eval");
  if (data.val && (!eval || !WeftContext::findOutput(*eval, "loss")))
    return missing("output 'loss' of program 'eval'");
  return Status::success();
}

Status weft::checkHyperParameters(const WeftExecutable &executable,
                                  const Metadata &metadata,
                                  const RunOptions &options) {
  const WeftProgram *apply = find(executable, "apply");
  for (std::string flag : options.given) {
    std::string port = flag;
    for (char &c : port)
      c = c == '-' ? '_' : c;
    if (apply && WeftContext::findInput(*apply, port.c_str()))
      continue;
    std::string kinds;
    for (const std::string &kind : metadata.optimizers)
      kinds += (kinds.empty() ? "" : ", ") + kind;
    return usageError("--" + flag +
                      " has no meaning for the optimizer of this "
                      "program, " +
                      kinds);
  }
  return Status::success();
}
