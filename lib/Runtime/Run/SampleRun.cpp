//===- SampleRun.cpp - A run that prints a sample -------------------------===//

#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Run/Run.h"

#include <atomic>

using namespace weft;

bool Run::hasShownSample() const {
  const int64_t firstStep = state.step;
  if (!options.trains() || options.sampleEvery == 0 ||
      options.progress == ProgressKind::None || firstStep >= *options.steps)
    return false;
  const int64_t ownEnd = firstStep + options.stopAfter;
  const bool isCut = options.stopAfter > 0 && ownEnd < *options.steps;
  return (isCut ? ownEnd : *options.steps) % options.sampleEvery == 0;
}

/// Prints a part of a sample. If nobody reads it, the sample ends; the message
/// is the one of finishOutput().
static Status printSample(const std::string &text) {
  printText(text);
  flushOutput();
  if (!outputHasFailed())
    return Status::success();
  return storageError("cannot write to standard output").saidBy(false);
}

/// Prints each token as soon as it is drawn.
Status Run::sampleIds() {
  Status done = ranks.together([&](RankPart &rank) -> Status {
    const bool speaks = &rank == &ranks.first() && isFirst();
    return rank.sampleIds(state.seed, [&](int32_t id) {
      return speaks ? printSample(std::to_string(id) + "\n")
                    : Status::success();
    });
  });
  return ranks.settle(std::move(done));
}

Status Run::sample() {
  warnOfRandomWeights("sampling from");
  if (options.generateIds)
    return sampleIds();
  // A terminal gets whole characters.
  std::string held = *options.generate;
  bool hasPart = false;
  std::atomic<bool> isLost = false; // on all ranks
  auto print = [&](size_t bytes) {
    const std::string text = forTerminal(held.substr(0, bytes));
    held.erase(0, bytes);
    return printSample(text);
  };
  Status done = ranks.together([&](RankPart &rank) -> Status {
    const bool speaks = &rank == &ranks.first() && isFirst();
    auto text = rank.sample(state.seed, [&](std::string_view part) {
      if (!speaks)
        return Status::success();
      hasPart = true;
      held += part;
      return print(wholeCharacters(held));
    });
    if (!text)
      return text.takeError();
    if (!text->failure)
      return Status::success();
    // The result of a training is its weights.
    if (!options.trains())
      return std::move(*text->failure);
    if (speaks)
      warn("the run ends without a sample: " + text->failure->where());
    isLost = true;
    return Status::success();
  });
  if (isFirst() && ((done && !isLost) || hasPart)) {
    held += "\n";
    Status last = print(held.size());
    if (done)
      done = std::move(last);
  }
  return ranks.settle(std::move(done));
}
