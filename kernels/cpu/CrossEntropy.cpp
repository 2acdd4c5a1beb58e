//===- CrossEntropy.cpp - weft_cpu_cross_entropy and its gradient ---------===//
//
// Formulas: torch.nn.CrossEntropyLoss (documentation) with class indices.
//
//===----------------------------------------------------------------------===//

#include "FloatRuns.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

struct Loss {
  int64_t rows, classes, ignored, reduction, hasWeights, dtype;
  double smoothing;
  FloatBuffer logits;
  Indices targets;
  const float *weights;
  double weightSum;

  CrossEntropyRow row(int64_t n) const {
    return {static_cast<int>(logits.dtype),
            logits.at(n * classes),
            weights,
            classes,
            targets[n],
            smoothing,
            weightSum};
  }
  double weightOf(int64_t n) const {
    return weights ? weights[targets[n]] : 1.0;
  }
};

/// Rows per part: about kElementGrain logits.
int64_t rowGrain(const Loss &loss) {
  return std::max<int64_t>(1, kElementGrain / loss.classes);
}

bool checkArguments(WeftContext &context, const WeftCommand &command,
                    int64_t buffers) {
  if (!checkCounts(context, command, buffers, 7, 1))
    return false;
  const int64_t *ints = command.ints;
  return checkCounts(context, command, buffers + (ints[4] != 0), 0, 0) &&
         checkRange(context, command, "N", ints[0], 1) &&
         checkRange(context, command, "V", ints[1], 1) &&
         checkRange(context, command, "reduction", ints[3], 0, 1) &&
         checkIndexType(context, command, ints[5]) &&
         checkFloatType(context, command, "logits", ints[6]) &&
         checkProbability(context, command, "label smoothing",
                          command.floats[0]);
}

Loss readLoss(const WeftCommand &command, void *logits, const void *targets,
              const void *weights) {
  const int64_t *ints = command.ints;
  Loss loss = {ints[0],
               ints[1],
               ints[2],
               ints[3],
               ints[4],
               ints[5],
               command.floats[0],
               {logits, ints[6]},
               Indices(targets, ints[5]),
               ints[4] ? static_cast<const float *>(weights) : nullptr,
               static_cast<double>(ints[1])};
  if (loss.weights) {
    loss.weightSum = 0.0;
    for (int64_t c = 0; c < loss.classes; ++c)
      loss.weightSum += loss.weights[c];
  }
  return loss;
}

bool checkTargets(WeftContext &context, const WeftCommand &command,
                  const Loss &loss) {
  for (int64_t n = 0; n < loss.rows; ++n) {
    int64_t target = loss.targets[n];
    if (target == loss.ignored || (target >= 0 && target < loss.classes))
      continue;
    failCommand(context, command, kInputError,
                "expects targets in [0, " + std::to_string(loss.classes) +
                    ") or " + std::to_string(loss.ignored) + ", but got " +
                    std::to_string(target) + " at row " + std::to_string(n));
    return false;
  }
  return true;
}

/// The losses of all rows.
int64_t scratchBytes(const int64_t *ints) {
  return ints[0] * static_cast<int64_t>(sizeof(double));
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_cross_entropy(WeftContext *context,
                                       const WeftCommand *command,
                                       void *const *buffers) {
  if (!checkArguments(*context, *command, 5))
    return;
  Loss loss = readLoss(*command, buffers[0], buffers[1],
                       command->ints[4] ? buffers[5] : nullptr);
  int64_t bytes = scratchBytes(command->ints);
  if (!checkTargets(*context, *command, loss) ||
      !context->reserveScratch(1, bytes))
    return;
  const Loops &loops = loopsOf(*context);
  double *losses = reinterpret_cast<double *>(context->scratch(0));
  float *lse = as<float>(buffers[3]);
  context->parallelFor(loss.rows, rowGrain(loss), [&](RangePart part) {
    for (int64_t n = part.begin; n < part.end; ++n) {
      lse[n] = loops.logSumExp(static_cast<int>(loss.logits.dtype),
                               loss.logits.at(n * loss.classes), loss.classes);
      losses[n] = loss.targets[n] == loss.ignored
                      ? 0.0
                      : loops.crossEntropyRow(loss.row(n), lse[n]);
    }
  });
  double total = 0.0, denominator = 0.0;
  for (int64_t n = 0; n < loss.rows; ++n)
    if (loss.targets[n] != loss.ignored) {
      total += losses[n];
      denominator += loss.weightOf(n);
    }
  bool mean = loss.reduction == 0;
  *as<float>(buffers[2]) =
      static_cast<float>(mean ? total / denominator : total);
  *as<float>(buffers[4]) = mean ? static_cast<float>(denominator) : 1.0f;
}

extern "C" void weft_cpu_cross_entropy_grad(WeftContext *context,
                                            const WeftCommand *command,
                                            void *const *buffers) {
  if (!checkArguments(*context, *command, 6))
    return;
  Loss loss = readLoss(*command, buffers[1], buffers[2],
                       command->ints[4] ? buffers[6] : nullptr);
  if (!checkTargets(*context, *command, loss))
    return;
  const Loops &loops = loopsOf(*context);
  double scale = static_cast<double>(scalar<float>(buffers[0])) /
                 scalar<float>(buffers[4]);
  const float *lse = as<float>(buffers[3]);
  FloatBuffer dlogits = {buffers[5], loss.logits.dtype};
  context->parallelFor(loss.rows, rowGrain(loss), [&](RangePart part) {
    for (int64_t n = part.begin; n < part.end; ++n) {
      void *row = dlogits.at(n * loss.classes);
      if (loss.targets[n] == loss.ignored)
        std::memset(row, 0, loss.classes * floatBytes(dlogits.dtype));
      else
        loops.crossEntropyGradRow(loss.row(n), lse[n], scale, row);
    }
  });
}

extern "C" void weft_cpu_cross_entropy_scratch_bytes(const int64_t *ints,
                                                     int64_t *bytes,
                                                     int32_t /*threads*/) {
  raiseScratch(bytes, 1, scratchBytes(ints));
}
