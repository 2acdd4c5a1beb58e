//===- PredictRun.cpp - A run that writes predictions ---------------------===//

#include "weft/Abi/Names.h"
#include "weft/Base/CountText.h"
#include "weft/Base/ReadProgress.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Runtime/Run/Run.h"

#include <atomic>

using namespace weft;

/// "scores F32 [10]", or "tokens I32" of an output with one number per row.
static std::string describeOutput(const TensorSpec &spec) {
  std::string text = spec.name + " " + tensorTypeName(spec.type);
  if (spec.shape.size() > 1)
    text += " " + shapeText({spec.shape.begin() + 1, spec.shape.end()});
  return text;
}

void Run::sayPredictions(const std::vector<std::string> &outputs) const {
  if (options.progress == ProgressKind::Json) {
    Json line = Json::object();
    line.set("step", state.step);
    line.set("rows", data.train->rows());
    line.set("predictions", options.predictions);
    printText(line.compact() + "\n");
  } else if (isForPeople(options.progress)) {
    printEscaped("wrote     " + options.predictions + ": " +
                 countText(data.train->rows(), "row") + " of " +
                 joined(outputs) + "\n");
  }
}

Status Run::predictAlone() {
  warnOfRandomWeights("predicting with");
  const std::vector<TensorSpec> specs = describePredictions(
      *findProgram(executable, names::kPredict), data.train->rows());
  std::optional<SafetensorsRowWriter> file;
  Status begun;
  if (isFirst())
    begun = assign(
        SafetensorsRowWriter::create(options.predictions, specs,
                                     {{writtenByKey, "predictions"},
                                      {kStepKey, std::to_string(state.step)}}),
        file);
  if (Status s = ranks.settle(std::move(begun)); !s)
    return s;
  ReadProgress progress("predicting", options.nameOf(options.data),
                        data.train->rows());
  auto write = [&](size_t index, int64_t rows, const char *values) {
    if (index == 0)
      progress.advance(rows);
    return file->write(index, rows, values);
  };
  // False where another rank has the error; its own vote reports it.
  std::atomic<bool> areWhole = true;
  Status done = ranks.together([&](RankPart &rank) -> Status {
    auto isWhole = rank.predict(data, write);
    if (!isWhole)
      return isWhole.takeError();
    if (!*isWhole)
      areWhole = false;
    return Status::success();
  });
  if (done && file && areWhole)
    done = file->finish();
  if (Status s = ranks.settle(std::move(done)); !s || !isFirst())
    return s;
  std::vector<std::string> outputs;
  for (const TensorSpec &spec : specs)
    outputs.push_back(describeOutput(spec));
  sayPredictions(outputs);
  return Status::success();
}
