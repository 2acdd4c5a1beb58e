//===- Optimizers.cpp - weft_cpu_adamw, weft_cpu_adam, weft_cpu_sgd -------===//
//
// Numbers that are the same for all elements are computed in double and rounded
// to f32 once, as PyTorch's Python scalars are.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Dispatch.h"

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

/// Whether the arguments are complete and the update is not to be skipped.
bool shouldUpdate(WeftContext &context, const WeftCommand &command,
                  int64_t buffers, int64_t ints, const void *bad,
                  const void *step) {
  if (!checkCounts(context, command, buffers, ints, 2) ||
      !checkRange(context, command, "count", command.ints[0], 0))
    return false;
  return !scalar<uint8_t>(bad) &&
         checkRange(context, command, "step", scalar<int64_t>(step), 1);
}

void runAdam(WeftContext &context, const WeftCommand &command,
             void *const *buffers, bool decoupled) {
  if (!checkCounts(context, command, kNumAdamBuffers, 1, 2) ||
      !shouldUpdate(context, command, kNumAdamBuffers, 1, buffers[kBad],
                    buffers[kStep]))
    return;
  auto number = [&](AdamBuffer b) { return scalar<double>(buffers[b]); };
  double step = static_cast<double>(scalar<int64_t>(buffers[kStep]));
  double lr = number(kLr) * command.floats[0];
  double decay = number(kDecay) * command.floats[1];
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
  const Loops &loops = loopsOf(context);
  context.parallelFor(command.ints[0], kElementGrain, [&](RangePart part) {
    loops.adam(n, part.end - part.begin,
               as<float>(buffers[kParam]) + part.begin,
               as<float>(buffers[kFirst]) + part.begin,
               as<float>(buffers[kSecond]) + part.begin,
               as<float>(buffers[kGrad]) + part.begin);
  });
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_adamw(WeftContext *context, const WeftCommand *command,
                               void *const *buffers) {
  runAdam(*context, *command, buffers, /*decoupled=*/true);
}

extern "C" void weft_cpu_adam(WeftContext *context, const WeftCommand *command,
                              void *const *buffers) {
  runAdam(*context, *command, buffers, /*decoupled=*/false);
}

extern "C" void weft_cpu_sgd(WeftContext *context, const WeftCommand *command,
                             void *const *buffers) {
  if (!checkCounts(*context, *command, 9, 2, 2) ||
      !shouldUpdate(*context, *command, 9, 2, buffers[4], buffers[5]))
    return;
  SgdNumbers n;
  n.coef = scalar<float>(buffers[3]);
  n.first = scalar<int64_t>(buffers[5]) == 1;
  n.lr = static_cast<float>(scalar<double>(buffers[6]) * command->floats[0]);
  n.decay = static_cast<float>(scalar<double>(buffers[7]) * command->floats[1]);
  n.momentum = static_cast<float>(scalar<double>(buffers[8]));
  n.nesterov = command->ints[1] != 0;
  const Loops &loops = loopsOf(*context);
  context->parallelFor(command->ints[0], kElementGrain, [&](RangePart part) {
    loops.sgd(n, part.end - part.begin, as<float>(buffers[0]) + part.begin,
              as<float>(buffers[1]) + part.begin,
              as<float>(buffers[2]) + part.begin);
  });
}
