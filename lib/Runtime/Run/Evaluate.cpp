//===- Evaluate.cpp - The loss of validation data -------------------------===//

#include "weft/Runtime/Run/Evaluate.h"

#include "weft/Formats/Names.h"
#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Collectives/RankNumbers.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace weft;

Status weft::fillRows(const WeftContext &context,
                      const std::vector<WeftPort> &ports,
                      const DataSource &source, const RowOrder &rows,
                      int64_t firstRow) {
  std::vector<int64_t> batch; // all inputs read the same rows
  for (const WeftPort &port : ports) {
    const int64_t count = port.dims[0], bytes = port.bytes / count;
    for (int64_t i = int64_t(batch.size()); i < count; ++i)
      batch.push_back(rows.dataRow(firstRow + i));
    char *out = context.device().inputBytes(port);
    for (int64_t i = 0; i < count; ++i)
      if (Status s = source.fill(port, batch[size_t(i)], out + i * bytes); !s)
        return s;
  }
  return Status::success();
}

void weft::addLosses(const WeftContext &context, const WeftProgram &program,
                     double &loss, NamedNumbers &losses) {
  size_t next = 0;
  for (int32_t i = 0; i < program.numOutputs; ++i) {
    const WeftPort &port = program.outputs[i];
    if (std::strcmp(port.name, names::kLoss) == 0) {
      loss += readNumber(context, port);
      continue;
    }
    if (next == losses.size())
      losses.push_back({port.name, 0.0});
    losses[next++].second += readNumber(context, port);
  }
}

void weft::takeMeans(int64_t count, double &loss, NamedNumbers &losses) {
  loss /= double(count);
  for (auto &[name, value] : losses)
    value /= double(count);
}

int64_t weft::countBatches(const DataSource &val, int64_t batch, int64_t most) {
  int64_t batches = val.rows() / batch;
  return most > 0 ? std::min(batches, most) : batches;
}

namespace {
/// What a rank has of an evaluation.
struct EvalPart {
  EvalReport sums;
  int64_t batches = 0; // that they are of
  Status rows;         // how it went to read them

  void add(const EvalReport &one, bool counts);
};
} // namespace

/// A rank that has no batch left knows the names of the terms too.
void EvalPart::add(const EvalReport &one, bool counts) {
  for (size_t i = sums.losses.size(); i < one.losses.size(); ++i)
    sums.losses.push_back({one.losses[i].first, 0.0});
  if (!counts)
    return;
  ++batches;
  sums.loss += one.loss;
  for (size_t i = 0; i < one.losses.size(); ++i)
    sums.losses[i].second += one.losses[i].second;
}

static void clearInputs(const WeftContext &context,
                        const std::vector<WeftPort> &ports) {
  for (const WeftPort &port : ports)
    std::memset(context.device().inputBytes(port), 0, size_t(port.bytes));
}

/// All ranks run the program equally often, since it may gather: one without a
/// batch left takes the first, and one that cannot read its rows takes zeros.
static Status runBatches(WeftContext &context, const Metadata &metadata,
                         const DataSource &val, int64_t batches,
                         EvalPart &part) {
  const WeftProgram &program = *context.findProgram(names::kEval);
  const std::vector<WeftPort> ports = dataInputs(program);
  const RowOrder inOrder(val.rows(), /*shuffle=*/false, /*seed=*/0);
  for (int64_t first = 0; first < batches; first += metadata.ranks()) {
    const int64_t batch = first + context.rank();
    const bool counts = batch < batches;
    if (part.rows)
      part.rows = fillRows(context, ports, val, inOrder,
                           (counts ? batch : 0) * metadata.batch);
    if (!part.rows && metadata.ranks() == 1)
      return Status::success();
    if (!part.rows)
      clearInputs(context, ports);
    if (Status s = runChecked(context, program); !s)
      return s;
    EvalReport one;
    addLosses(context, program, one.loss, one.losses);
    part.add(one, counts);
  }
  return Status::success();
}

/// The sums of all ranks, unless one of them could not read its rows.
static Status joinParts(WeftContext &context, EvalPart &part, bool &isWhole) {
  std::vector<double> own = {double(!part.rows), double(part.batches),
                             part.sums.loss};
  for (const auto &[name, loss] : part.sums.losses)
    own.push_back(loss);
  auto all = gatherNumbers(context, own, "the validation loss");
  if (!all)
    return all.takeError();
  isWhole = sumOverRanks(*all, 0) == 0;
  part.batches = int64_t(sumOverRanks(*all, 1));
  part.sums.loss = sumOverRanks(*all, 2);
  for (size_t i = 0; i < part.sums.losses.size(); ++i)
    part.sums.losses[i].second = sumOverRanks(*all, i + 3);
  return Status::success();
}

Expected<std::optional<EvalReport>> weft::evaluate(WeftContext &context,
                                                   const Metadata &metadata,
                                                   const DataSource &val,
                                                   int64_t batches) {
  EvalPart part;
  bool isWhole = true;
  Status done = runBatches(context, metadata, val, batches, part);
  if (done && metadata.ranks() > 1)
    done = joinParts(context, part, isWhole);
  if (!done) {
    leaveRanks(context);
    return done.takeError();
  }
  if (!part.rows)
    return part.rows.takeError();
  if (!isWhole)
    return std::optional<EvalReport>();
  EvalReport &report = part.sums;
  takeMeans(part.batches, report.loss, report.losses);
  // With terms, the loss is a weighted sum and no cross-entropy of tokens.
  if (metadata.isLanguageModel() && report.losses.empty())
    report.perplexity = std::exp(report.loss);
  return std::optional(std::move(report));
}
