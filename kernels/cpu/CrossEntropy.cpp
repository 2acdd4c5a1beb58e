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
  const WeftCrossEntropyRecord &record;
  FloatBuffer logits;
  Indices targets;
  const float *weights;
  double weightSum;

  bool counts(int64_t n) const { return targets[n] != record.ignoreIndex; }
  CrossEntropyRow row(int64_t n) const {
    return {static_cast<int>(logits.dtype),
            logits.at(n * record.classes),
            weights,
            record.classes,
            targets[n],
            record.labelSmoothing,
            weightSum};
  }
  double weightOf(int64_t n) const {
    return weights ? weights[targets[n]] : 1.0;
  }
};

/// Rows per part: about kElementGrain logits.
int64_t rowGrain(const WeftCrossEntropyRecord &record) {
  return std::max<int64_t>(1, kElementGrain / record.classes);
}

bool checkArguments(WeftContext &context, const WeftCommand &command,
                    const WeftCrossEntropyRecord &record, int64_t buffers) {
  return checkBuffers(context, command, buffers + (record.hasWeights != 0)) &&
         checkRange(context, command, "rows", record.rows, 1) &&
         checkRange(context, command, "classes", record.classes, 1) &&
         checkRange(context, command, "isSum", record.isSum, 0, 1) &&
         checkIndexType(context, command, record.dtypeTargets) &&
         checkFloatType(context, command, "logits", record.dtype) &&
         checkProbability(context, command, "label smoothing",
                          record.labelSmoothing);
}

Loss readLoss(const WeftCrossEntropyRecord &record, void *logits,
              const void *targets, const void *weights) {
  Loss loss = {record,
               {logits, record.dtype},
               Indices(targets, record.dtypeTargets),
               static_cast<const float *>(weights),
               static_cast<double>(record.classes)};
  if (loss.weights) {
    loss.weightSum = 0.0;
    for (int64_t c = 0; c < record.classes; ++c)
      loss.weightSum += loss.weights[c];
  }
  return loss;
}

bool checkTargets(WeftContext &context, const WeftCommand &command,
                  const Loss &loss) {
  const WeftCrossEntropyRecord &record = loss.record;
  for (int64_t n = 0; n < record.rows; ++n) {
    int64_t target = loss.targets[n];
    if (!loss.counts(n) || (target >= 0 && target < record.classes))
      continue;
    failCommand(context, command, kInputError,
                "expects targets in [0, " + std::to_string(record.classes) +
                    ") or " + std::to_string(record.ignoreIndex) +
                    ", but got " + std::to_string(target) + " at row " +
                    std::to_string(n));
    return false;
  }
  return true;
}

/// Writes the losses of all rows and their lse.
void runRows(WeftContext &context, const Loss &loss, double *losses,
             float *lse) {
  const Loops &loops = loopsOf(context);
  const WeftCrossEntropyRecord &record = loss.record;
  context.parallelFor(record.rows, rowGrain(record), [&](RangePart part) {
    for (int64_t n = part.begin; n < part.end; ++n) {
      lse[n] =
          loops.logSumExp(static_cast<int>(loss.logits.dtype),
                          loss.logits.at(n * record.classes), record.classes);
      losses[n] =
          loss.counts(n) ? loops.crossEntropyRow(loss.row(n), lse[n]) : 0.0;
    }
  });
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_cross_entropy(WeftContext *context,
                                       const WeftCommand *command,
                                       void *const *buffers) {
  const auto *record = recordOf<WEFT_CROSS_ENTROPY>(*context, *command);
  if (!record || !checkArguments(*context, *command, *record, 5))
    return;
  Loss loss = readLoss(*record, buffers[0], buffers[1],
                       record->hasWeights ? buffers[5] : nullptr);
  if (!checkTargets(*context, *command, loss))
    return;
  double *losses = reinterpret_cast<double *>(workspaceOf(
      *context, *command, buffers, crossEntropyWorkspaceBytes(*record)));
  if (!losses)
    return;
  runRows(*context, loss, losses, as<float>(buffers[3]));
  double total = 0.0, denominator = 0.0;
  for (int64_t n = 0; n < record->rows; ++n)
    if (loss.counts(n)) {
      total += losses[n];
      denominator += loss.weightOf(n);
    }
  *as<float>(buffers[2]) =
      static_cast<float>(record->isSum ? total : total / denominator);
  *as<float>(buffers[4]) =
      record->isSum ? 1.0f : static_cast<float>(denominator);
}

extern "C" void weft_cpu_cross_entropy_grad(WeftContext *context,
                                            const WeftCommand *command,
                                            void *const *buffers) {
  const auto *record = recordOf<WEFT_CROSS_ENTROPY_GRAD>(*context, *command);
  if (!record || !checkArguments(*context, *command, *record, 6))
    return;
  Loss loss = readLoss(*record, buffers[1], buffers[2],
                       record->hasWeights ? buffers[6] : nullptr);
  if (!checkTargets(*context, *command, loss))
    return;
  const Loops &loops = loopsOf(*context);
  double scale = static_cast<double>(scalar<float>(buffers[0])) /
                 scalar<float>(buffers[4]);
  const float *lse = as<float>(buffers[3]);
  const int64_t classes = record->classes;
  FloatBuffer dlogits = {buffers[5], record->dtype};
  context->parallelFor(record->rows, rowGrain(*record), [&](RangePart part) {
    for (int64_t n = part.begin; n < part.end; ++n) {
      void *row = dlogits.at(n * classes);
      if (loss.counts(n))
        loops.crossEntropyGradRow(loss.row(n), lse[n], scale, row);
      else
        std::memset(row, 0, classes * floatBytes(dlogits.dtype));
    }
  });
}
