//===- Optimizers.cpp - weft_cpu_adamw, weft_cpu_adam, weft_cpu_sgd -------===//
//
// Numbers that are the same for all elements are computed in double and rounded
// to f32 once, as PyTorch's Python scalars are.
//
//===----------------------------------------------------------------------===//

#include "FloatRuns.h"

#include <cmath>

namespace weft {
namespace {

/// Positions of the Adam routines' buffers.
enum AdamBuffer {
  kParam,
  kFirst,
  kSecond,
  kGrad,
  kCoef,
  kBad,
  kStep,
  kLr,
  kDecay,
  kBeta1,
  kBeta2,
  kEps,
  kNumAdamBuffers
};

/// Whether the buffers and the fields that both records have are right. The
/// working copy, if there is one, is the buffer behind `buffers` others.
template <typename Record>
bool checkUpdate(WeftContext &context, const WeftCommand &command,
                 const Record &record, int64_t buffers) {
  if (!checkBuffers(context, command, buffers) ||
      !checkRange(context, command, "elements", record.elements, 0) ||
      !checkFloatType(context, command, "the parameter", record.dtypeParam) ||
      !checkFloatType(context, command, "the gradient", record.dtypeGrad))
    return false;
  return record.dtypeWorking == -1 ||
         (checkFloatType(context, command, "the working copy",
                         record.dtypeWorking) &&
          checkBuffers(context, command, buffers + 1));
}

/// Calls update(count, param, grad, at) for runs of the elements, unless `bad`,
/// and writes the working copy.
template <typename Update>
void forEachElement(WeftContext &context, int64_t elements, FloatBuffer param,
                    FloatBuffer grad, FloatBuffer working, bool bad,
                    Update update) {
  if (bad && !working.data)
    return;
  const Loops &loops = loopsOf(context);
  context.parallelFor(elements, kElementGrain, [&](RangePart part) {
    FloatRun params(loops, param), grads(loops, grad);
    forEachRun(part.begin, part.end, [&](int64_t at, int64_t count) {
      float *values = params.read(at, count);
      if (!bad) {
        update(loops, count, values, grads.read(at, count), at);
        params.write(at, count);
      }
      // From the parameter as it is kept, which may be low itself.
      if (working.data)
        loops.narrow(static_cast<int>(working.dtype), count,
                     params.read(at, count), working.at(at));
    });
  });
}

AdamNumbers getAdamNumbers(const WeftAdamRecord &record, void *const *buffers,
                           bool decoupled) {
  auto number = [&](AdamBuffer b) { return scalar<double>(buffers[b]); };
  double step = static_cast<double>(scalar<int64_t>(buffers[kStep]));
  double lr = number(kLr) * record.lrScale;
  double decay = number(kDecay) * record.decayScale;
  double beta1 = number(kBeta1), beta2 = number(kBeta2);
  AdamNumbers n;
  n.coef = scalar<float>(buffers[kCoef]);
  n.keep = decoupled ? static_cast<float>(1.0 - lr * decay) : 1.0f;
  n.decay = decoupled ? 0.0f : static_cast<float>(decay);
  n.lerp1 = static_cast<float>(1.0 - beta1);
  n.beta2 = static_cast<float>(beta2);
  n.lerp2 = static_cast<float>(1.0 - beta2);
  n.stepSize = static_cast<float>(lr / (1.0 - std::pow(beta1, step)));
  n.rootScale = static_cast<float>(std::sqrt(1.0 - std::pow(beta2, step)));
  n.eps = static_cast<float>(number(kEps));
  return n;
}

/// Whether the update is skipped; otherwise its number must be one.
bool isSkipped(const void *bad) { return scalar<uint8_t>(bad) != 0; }
bool checkStep(WeftContext &context, const WeftCommand &command,
               const void *bad, const void *step) {
  return isSkipped(bad) ||
         checkRange(context, command, "step", scalar<int64_t>(step), 1);
}

void runAdam(WeftContext &context, const WeftCommand &command,
             const WeftAdamRecord &record, void *const *buffers,
             bool decoupled) {
  if (!checkUpdate(context, command, record, kNumAdamBuffers) ||
      !checkStep(context, command, buffers[kBad], buffers[kStep]))
    return;
  AdamNumbers n = getAdamNumbers(record, buffers, decoupled);
  void *working =
      record.dtypeWorking == -1 ? nullptr : buffers[kNumAdamBuffers];
  forEachElement(context, record.elements, {buffers[kParam], record.dtypeParam},
                 {buffers[kGrad], record.dtypeGrad},
                 {working, record.dtypeWorking}, isSkipped(buffers[kBad]),
                 [&](const Loops &loops, int64_t count, float *param,
                     const float *grad, int64_t at) {
                   loops.adam(n, count, param, as<float>(buffers[kFirst]) + at,
                              as<float>(buffers[kSecond]) + at, grad);
                 });
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_adamw(WeftContext *context, const WeftCommand *command,
                               void *const *buffers) {
  if (const auto *record = recordOf<WEFT_ADAMW>(*context, *command))
    runAdam(*context, *command, *record, buffers, /*decoupled=*/true);
}

extern "C" void weft_cpu_adam(WeftContext *context, const WeftCommand *command,
                              void *const *buffers) {
  if (const auto *record = recordOf<WEFT_ADAM>(*context, *command))
    runAdam(*context, *command, *record, buffers, /*decoupled=*/false);
}

extern "C" void weft_cpu_sgd(WeftContext *context, const WeftCommand *command,
                             void *const *buffers) {
  const auto *record = recordOf<WEFT_SGD>(*context, *command);
  if (!record || !checkUpdate(*context, *command, *record, 9) ||
      !checkStep(*context, *command, buffers[4], buffers[5]))
    return;
  SgdNumbers n;
  n.coef = scalar<float>(buffers[3]);
  n.first = scalar<int64_t>(buffers[5]) == 1;
  n.lr = static_cast<float>(scalar<double>(buffers[6]) * record->lrScale);
  n.decay = static_cast<float>(scalar<double>(buffers[7]) * record->decayScale);
  n.momentum = static_cast<float>(scalar<double>(buffers[8]));
  n.nesterov = record->nesterov != 0;
  void *working = record->dtypeWorking == -1 ? nullptr : buffers[9];
  forEachElement(*context, record->elements, {buffers[0], record->dtypeParam},
                 {buffers[2], record->dtypeGrad},
                 {working, record->dtypeWorking}, isSkipped(buffers[4]),
                 [&](const Loops &loops, int64_t count, float *param,
                     const float *grad, int64_t at) {
                   loops.sgd(n, count, param, as<float>(buffers[1]) + at, grad);
                 });
}
