//===- EvalPlan.cpp - Which batches an evaluation runs --------------------===//

#include "weft/Runtime/Run/EvalPlan.h"

#include <algorithm>

using namespace weft;

EvalPlan::EvalPlan(const Metadata &metadata, int64_t available,
                   int64_t mostBatches)
    : batch(metadata.batch), all(available) {
  full = available / batch;
  int64_t rest = available % batch;
  if (mostBatches > 0 && mostBatches <= full) {
    sample = mostBatches < full || rest > 0;
    full = mostBatches;
    rest = 0;
  }
  if (!metadata.rowMean)
    rest = 0;
  // The difference of two batches loses digits unless full batches are added to
  // it, so rows that do not fill a first batch have batches of their own.
  remainder = full == 0 ? rest : std::min<int64_t>(rest, 2);
  counted = full * batch + rest;
}

EvalBatch EvalPlan::at(int64_t index) const {
  if (index < full)
    return {index * batch, batch, batch};
  const int64_t begin = full * batch, rest = counted - begin;
  if (remainder == rest)
    return {begin + (index - full), 1, 1};
  if (index == full)
    return {begin, rest, batch};
  return {counted - 1, 1, rest - batch};
}
