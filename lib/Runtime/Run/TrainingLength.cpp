//===- TrainingLength.cpp - How many steps a training has -----------------===//

#include "weft/Runtime/Run/Run.h"

#include <algorithm>

using namespace weft;

void weft::setSteps(RunOptions &options, int64_t steps) {
  options.steps = steps;
  if (options.decaysToEnd)
    options.schedule.decaySteps = steps;
}

Expected<int64_t> weft::countEpochSteps(const TrainState &state, int64_t epochs,
                                        int64_t rows, int64_t rowsOfStep) {
  int64_t last = 0;
  if (__builtin_mul_overflow(epochs, rows, &last) || last > mostRows)
    return usageError("--epochs expects a training of at most " +
                      std::to_string(mostRows) + " rows, but got " +
                      std::to_string(epochs) + " times " +
                      std::to_string(rows));
  const int64_t left = std::max<int64_t>(last - state.cursor.rows, 0);
  return state.step + left / rowsOfStep + (left % rowsOfStep != 0);
}
