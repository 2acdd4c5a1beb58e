//===- Gradients.cpp - Looking into gradients: dump, find, break ----------===//

#include "weft/Formats/Text.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/Ports.h"
#include "weft/Runtime/Run/Trainer.h"

#include <cmath>

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

/// The first element that is not finite, or -1.
static int64_t firstBad(const WeftContext &context, const WeftTensor &tensor) {
  const char *data = static_cast<const char *>(context.data(tensor));
  int64_t size = dtypeBytes(tensor.dtype);
  for (int64_t i = 0, n = elementsOf(tensor); i < n; ++i)
    if (!std::isfinite(loadNumber(data + i * size, tensor.dtype)))
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
      .hint(adviceAgainstBad());
}

/// Writes the value to the first element.
static void breakGradient(WeftContext &context, const WeftTensor &gradient,
                          float value) {
  WeftPort port = {gradient.name, gradient.dtype,  gradient.rank,
                   gradient.dims, gradient.offset, gradient.bytes};
  writeNumber(context, port, value);
}

/// The gradient that a fault breaks: of the first parameter whose name matches.
static const WeftTensor *victimOf(const Fault &fault,
                                  const WeftExecutable &executable) {
  for (const WeftTensor *gradient : gradientsOf(executable))
    if (fault.matches(gradient->param))
      return gradient;
  return nullptr;
}

Status weft::checkFaults(const WeftExecutable &executable,
                         const Faults &faults) {
  for (const Fault &fault : faults.all())
    if (fault.kind == Fault::Kind::BadGradient && !victimOf(fault, executable))
      return usageError("WEFT_FAULT expects a parameter that is trained and "
                        "matches " +
                        inQuotes(fault.pattern) + ", but the program has none");
  return Status::success();
}

void Trainer::injectFaults() {
  for (const Fault &fault : faults.all()) {
    if (fault.kind != Fault::Kind::BadGradient ||
        !fault.happensAt(now.step + 1))
      continue;
    const WeftTensor *victim = victimOf(fault, *context.executable());
    breakGradient(context, *victim, fault.value);
    if (hunt)
      hunt->blame("the gradient of " + inQuotes(victim->param) +
                  " came in with " + (std::isnan(fault.value) ? "nan" : "inf") +
                  " in element 0, which WEFT_FAULT put there");
  }
}
