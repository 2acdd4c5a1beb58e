//===- Evaluate.cpp - The loss of validation data -------------------------===//

#include "weft/Runtime/Run/Evaluate.h"

#include "weft/Formats/Names.h"
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

Expected<EvalReport> weft::evaluate(WeftContext &context,
                                    const Metadata &metadata,
                                    const DataSource &val, int64_t batches) {
  const WeftProgram &program = *context.findProgram(names::kEval);
  const std::vector<WeftPort> ports = dataInputs(program);
  const RowOrder inOrder(val.rows(), /*shuffle=*/false, /*seed=*/0);
  EvalReport report;
  for (int64_t i = 0; i < batches; ++i) {
    if (Status s = fillRows(context, ports, val, inOrder, i * metadata.batch);
        !s)
      return s.takeError();
    if (Status s = runChecked(context, program); !s)
      return s.takeError();
    addLosses(context, program, report.loss, report.losses);
  }
  takeMeans(batches, report.loss, report.losses);
  // With terms, the loss is a weighted sum and no cross-entropy of tokens.
  if (metadata.isLanguageModel() && report.losses.empty())
    report.perplexity = std::exp(report.loss);
  return report;
}
