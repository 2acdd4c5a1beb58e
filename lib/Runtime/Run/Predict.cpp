//===- Predict.cpp - Results of rows of data ------------------------------===//

#include "weft/Runtime/Run/Predict.h"

#include "weft/Abi/Names.h"
#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Run/Evaluate.h"

#include <algorithm>
#include <cstring>

using namespace weft;

Status weft::checkPredict(const RunOptions &options,
                          const WeftExecutable &executable) {
  if (!options.predicts || findProgram(executable, names::kPredict))
    return Status::success();
  return usageError("expects a program with results for rows, but this one has "
                    "none")
      .hint("weft compile MODEL --predict adds them, weft predict MODEL "
            "compiles a model with them");
}

std::vector<TensorSpec> weft::describePredictions(const WeftProgram &program,
                                                  int64_t rows) {
  std::vector<TensorSpec> specs;
  for (const WeftPort &port : outputsOf(program)) {
    TensorSpec spec = {port.name, tensorTypeOf(port.dtype), shapeOf(port)};
    spec.shape[0] = rows;
    specs.push_back(std::move(spec));
  }
  return specs;
}

namespace {
/// The part of a prediction that one rank runs.
class Prediction {
public:
  Prediction(WeftContext &context, const Metadata &metadata,
             const DataSource &source, const RowSink &sink)
      : context(context), program(*context.findProgram(names::kPredict)),
        source(source), sink(sink), batch(metadata.batch),
        ranks(metadata.ranks()) {}

  Status run();
  /// Whether all rows are written.
  bool isWhole() const { return first >= source.rows(); }

  Status rows; // reading and writing of this rank

private:
  int64_t countRows(int64_t rank) const;
  void readRows();
  Expected<bool> mayGoOn();
  Status collect();
  void writeRows();

  WeftContext &context;
  const WeftProgram &program;
  const DataSource &source;
  const RowSink &sink;
  const int64_t batch, ranks;

  int64_t first = 0;            // row of the round
  std::vector<char> own, every; // outputs of a batch, and of each rank's
};
} // namespace

/// The rows of a rank's batch in this round.
int64_t Prediction::countRows(int64_t rank) const {
  return std::clamp<int64_t>(source.rows() - first - rank * batch, 0, batch);
}

/// A batch that is not full repeats its last row; one without rows has the last
/// row of the data.
void Prediction::readRows() {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < batch; ++i)
    list.push_back(
        std::min(first + context.rank() * batch + i, source.rows() - 1));
  if (rows)
    rows = fillRows(context, dataInputs(program), source, list);
}

/// All ranks run the program, since it may gather parameters, or none does.
Expected<bool> Prediction::mayGoOn() {
  if (ranks == 1)
    return bool(rows);
  auto failed = gatherNumbers(context, {double(!rows)}, "rows to predict");
  if (!failed)
    return failed.takeError();
  return sumOverRanks(*failed, 0) == 0;
}

/// The outputs of all ranks, by rank.
Status Prediction::collect() {
  own.clear();
  for (const WeftPort &port : outputsOf(program)) {
    const char *data = context.device().outputBytes(port);
    own.insert(own.end(), data, data + port.bytes);
  }
  if (ranks == 1) {
    every.swap(own);
    return Status::success();
  }
  Communicator *all = findRanks(context, 0);
  if (!all)
    return internalError("rank ", context.rank(), " has left the run");
  every.resize(own.size() * size_t(ranks));
  return all->allGather(own.data(), every.data(), int64_t(own.size()),
                        "predictions", Collective::Numbers);
}

void Prediction::writeRows() {
  const char *data = every.data();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const int64_t count = countRows(rank);
    size_t index = 0;
    for (const WeftPort &port : outputsOf(program)) {
      if (rows && count > 0)
        rows = sink(index, count, data);
      data += port.bytes;
      ++index;
    }
  }
}

Status Prediction::run() {
  for (; first < source.rows(); first += batch * ranks) {
    readRows();
    auto goesOn = mayGoOn();
    if (!goesOn)
      return goesOn.takeError();
    if (!*goesOn)
      break;
    if (Status s = runChecked(context, program); !s)
      return s;
    if (Status s = collect(); !s)
      return s;
    if (context.rank() == 0)
      writeRows();
  }
  return Status::success();
}

Expected<bool> weft::predictRows(WeftContext &context, const Metadata &metadata,
                                 const DataSource &source,
                                 const RowSink &sink) {
  Prediction part(context, metadata, source, sink);
  if (Status done = part.run(); !done) {
    leaveRanks(context);
    return done.takeError();
  }
  if (!part.rows)
    return part.rows.takeError();
  return part.isWhole();
}
