//===- RunState.cpp - The state that a run starts from --------------------===//

#include "weft/Runtime/Run/Run.h"

#include "weft/Formats/Json.h"
#include "weft/Runtime/Run/RunFlags.h"
#include "weft/Runtime/Run/Trainer.h"

#include <algorithm>
#include <utility>

using namespace weft;

Expected<TrainState> weft::resumedState(const Manifest &manifest,
                                        const RunOptions &options) {
  TrainState state = stateOf(manifest);
  if (!options.trains()) {
    // Only weights are loaded; the seed is for samples.
    state.seed = options.seedGiven ? options.seed : state.seed;
    return state;
  }
  if (options.seedGiven && options.seed != state.seed)
    return usageError("--seed expects ", state.seed,
                      ", the seed of the checkpoint, but got ", options.seed);
  if (options.shuffleGiven && options.shuffle != state.cursor.shuffle)
    return usageError("--shuffle expects ", state.cursor.shuffle ? "on" : "off",
                      ", as in the checkpoint")
        .hint("without the flag a resumed run keeps the order of its rows");
  return state;
}

/// Rows per step, over all ranks and micro-steps, in the run that saved
/// `manifest`; nothing if its record does not have them.
static std::optional<int64_t> rowsOfStep(const Manifest &manifest) {
  const auto batch = countOf(manifest.run->program, "batch");
  const auto accum = countOf(manifest.run->flags, "accum");
  int64_t rows = 0;
  if (!batch || !accum || __builtin_mul_overflow(*batch, *accum, &rows) ||
      __builtin_mul_overflow(rows, manifest.worldSize, &rows))
    return std::nullopt;
  return rows;
}

/// The flags that give a program the batch and the sequence length of the
/// checkpoint; "" if it has them.
static std::string hintOfSizes(const Settings &was, const Settings &now) {
  std::string flags;
  bool differs = false;
  for (const char *name : {"batch", "seq"}) {
    const std::string *before = findSetting(was, name);
    const std::string *after = findSetting(now, name);
    if (!before || !after)
      continue;
    differs |= *before != *after;
    flags += concat(flags.empty() ? "" : " ", "--", name, " ", *before);
  }
  return differs ? flags + " continue as before: flags of weft train and weft "
                           "compile"
                 : "";
}

/// Tokens of another tokenizer mean other text, so the loss says nothing.
void Run::warnOfTokenizer() const {
  if (!resume || options.byteTokenizer)
    return;
  // Runs that only load weights do without model.json.
  Expected<Json> model = readModelFile(resume->manifest, resume->directory);
  if (!model)
    return;
  if (std::string text = changedTokenizer(*model, metadata); !text.empty())
    tell(text, "compile a model with the tokenizer that the weights were "
               "trained with; weft ckpt export makes one of the checkpoint");
}

void Run::warnOfChanges() const {
  warnOfTokenizer();
  if (!resume || resume->weightsOnly)
    return;
  if (std::string thawed = resume->optimizer.describe(); !thawed.empty())
    tell(thawed);
  if (!resume->manifest.run)
    return;
  const RunRecord &was = *resume->manifest.run;
  const std::vector<std::string> changes = changedSettings(was, record);
  // Another number of ranks is a reason for another batch.
  const bool sameRanks = resume->manifest.worldSize == inputs.ranks();
  std::string hint = sameRanks ? hintOfSizes(was.program, record.program) : "";
  for (const std::string &text : changes)
    if (text.rfind("--batch ", 0) == 0 || text.rfind("--seq ", 0) == 0)
      tell(text, std::exchange(hint, ""));
    else
      tell(text);
  if (std::string jump = warnOfJump(options, was, record, state.step + 1);
      !jump.empty())
    tell(jump);
  const int64_t now = metadata.batch * options.accum * inputs.ranks();
  if (auto rows = rowsOfStep(resume->manifest); rows && *rows != now)
    tell(concat("a step had ", *rows, " rows in the checkpoint, now ", now,
                ": the data continue at row ", state.cursor.rows));
}

/// Takes the state of the chosen checkpoint.
Status Run::takeState() {
  if (Status s = assign(resumedState(resume->manifest, options), state); !s)
    return s;
  return checkLength();
}

/// Computes and checks the number of steps. Precondition: the data and the
/// start of the training are known.
Status Run::checkLength() {
  if (!options.trains())
    return Status::success();
  const int ranks = int(inputs.ranks());
  if (options.epochs) {
    // The rows of one step do not overflow.
    setSteps(options, state.step + 1);
    if (Status s = checkRowCount(state, options, metadata, ranks); !s)
      return s;
    auto steps = countEpochSteps(state, *options.epochs, data.train->rows(),
                                 metadata.batch * options.accum * ranks);
    if (!steps)
      return steps.takeError();
    setSteps(options, *steps);
    if (Status s = checkRates(options); !s)
      return s;
  }
  return checkRowCount(state, options, metadata, ranks);
}

ResumeTarget Run::resumeTarget() const {
  return {metadata, executable, /*weightsOnly=*/!options.trains()};
}

/// Opens the checkpoint that the first process has chosen in all processes. Its
/// path is sent; "" is no checkpoint.
Expected<std::optional<ResumePoint>>
Run::shareChoice(Expected<std::optional<ResumePoint>> own) {
  const std::string chosen = own && *own ? (*own)->directory : "";
  auto texts =
      ranks.reach(own ? Status::success() : Status(own.takeError()), chosen);
  if (!texts)
    return texts.takeError();
  if (isFirst() || texts->front().empty())
    return own;
  ResumeOptions same = options;
  same.resume = ResumeKind::Path;
  same.resumePath = texts->front();
  std::vector<std::string> warnings;
  return chooseCheckpoint(same, resumeTarget(), warnings);
}

/// Chooses the checkpoint to resume from, or else the initial weights.
Status Run::chooseState() {
  std::vector<std::string> warnings;
  auto own = isFirst() ? chooseCheckpoint(options, resumeTarget(), warnings)
                       : std::optional<ResumePoint>();
  for (const std::string &text : warnings)
    tell(text);
  if (Status s = assign(shareChoice(std::move(own)), resume); !s)
    return s;
  if (resume)
    return takeState();
  state.seed = options.seed;
  state.cursor.shuffle = options.shuffle;
  state.cursor.shuffleSeed = options.seed;
  if (Status s = checkLength(); !s)
    return s;
  return assign(WeightSource::open(options.initFrom, options.trains(), metadata,
                                   executable, executablePath),
                weights);
}

/// The damage that some process has found in the checkpoint, or "". Any other
/// failure of `read` is an error of all.
Expected<std::string> Run::findDamage(Status &read) {
  const bool isDamage =
      !read && options.resume == ResumeKind::Auto && read.error().isDamage();
  auto found = ranks.reach(isDamage ? Status::success() : std::move(read),
                           isDamage ? read.error().where() : "");
  if (!found)
    return found.takeError();
  for (const std::string &text : *found)
    if (!text.empty())
      return text;
  return std::string();
}

/// Reads the chosen checkpoint. If it is damaged and the run may skip damaged
/// ones, reads an older one.
Status Run::readCheckpoint() {
  const auto heartbeats = ranks.sendHeartbeats();
  for (;;) {
    Status read = ranks.inTurn(
        [&](RankPart &rank) { return rank.loadCheckpoint(*resume); });
    auto damage = findDamage(read);
    if (!damage)
      return damage.takeError();
    if (damage->empty())
      return Status::success();
    Expected<std::optional<ResumePoint>> own = std::optional<ResumePoint>();
    if (isFirst()) {
      std::vector<std::string> warnings;
      auto older =
          passOver(*resume, read ? checkpointError(*damage) : read.takeError(),
                   options, resumeTarget(), warnings);
      for (const std::string &text : warnings)
        tell(text);
      if (older)
        own = std::optional<ResumePoint>(std::move(*older));
      else
        own = older.takeError();
    }
    if (Status s = assign(shareChoice(std::move(own)), resume); !s)
      return s;
    if (Status s = takeState(); !s)
      return s;
  }
}

static bool areEqual(const std::vector<std::string> &texts) {
  return std::all_of(texts.begin(), texts.end(), [&](const std::string &text) {
    return text == texts.front();
  });
}

/// Processes that share files read their shards, and then each one checks a
/// share of the blocks. Processes with files of their own check all blocks, and
/// must have read the same bytes.
Status Run::readWeights() {
  const auto heartbeats = ranks.sendHeartbeats();
  auto own = weights->identity();
  auto known = ranks.reach(own ? Status::success() : own.takeError(),
                           own ? std::move(*own) : "");
  if (!known)
    return known.takeError();
  const bool isShared = known->size() > 1 && areEqual(*known);
  if (isShared)
    weights->readRangesAlone();
  if (Status s = ranks.inTurn([&](RankPart &rank) {
        return rank.loadWeights(*weights, state.seed);
      });
      !s)
    return s;
  if (!weights->isRecorded() && (isShared || known->size() == 1))
    return Status::success();
  auto share = isShared ? weights->shareDigests(inputs.process->rank(),
                                                inputs.process->ranks())
                        : weights->shareDigests(/*part=*/0, /*parts=*/1);
  Status read = !share     ? share.takeError()
                : isShared ? Status::success()
                           : weights->compareDigests({*share});
  auto shares = ranks.reach(std::move(read), share ? std::move(*share) : "");
  return shares ? weights->compareDigests(*shares) : shares.takeError();
}

/// Loads the state, before the run writes any output.
Status Run::loadState() {
  Status read = resume ? readCheckpoint() : readWeights();
  if (!read || options.dryRun)
    return read;
  const bool resumed = resume && !resume->weightsOnly;
  // On all ranks at once, since the refresh program may run collectives.
  return ranks.together(
      [&](RankPart &rank) { return rank.completeState(resumed); });
}
