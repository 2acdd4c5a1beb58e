//===- Evaluate.h - The loss of validation data -----------------*- C++ -*-===//
//
// Runs a program over batches of a data source and takes the mean of its losses
// over rows, added in f64. Ranks take turns: rank n mod W runs batch n.
// Where losses have denominators that data decides, these are counted over all
// batches first.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_EVALUATE_H
#define WEFT_RUNTIME_RUN_EVALUATE_H

#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/RunFlags.h"
#include "weft/Runtime/Run/Signals.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace weft {

/// The programs of the micro-steps of a step. Most executables have one for
/// all; see Formats/MicroSteps.h.
class MicroPrograms {
public:
  /// The executable has the program `micro`.
  explicit MicroPrograms(const WeftExecutable &executable);

  /// Of micro-step `number` (from 0) of `count` in a step.
  const WeftProgram &get(int64_t number, int64_t count) const;
  /// Those that a step of `count` micro-steps runs, each once.
  std::vector<const WeftProgram *> list(int64_t count) const;

private:
  /// The one of a step of one micro-step; of several, those in their order.
  const WeftProgram *only, *first, *middle, *last;
};

/// The programs that count the targets of a step, ahead of its micro-steps.
class DenominatorPrograms {
public:
  explicit DenominatorPrograms(const WeftExecutable &executable);

  /// Whether a loss has a denominator that data decides.
  bool exist() const { return last != nullptr; }
  /// Of micro-batch `number` (from 0) of `count`.
  const WeftProgram &get(int64_t number, int64_t count) const {
    return number == count - 1 ? *last : *keep;
  }
  /// Those that a step of `count` micro-steps runs, each once.
  std::vector<const WeftProgram *> list(int64_t count) const;

private:
  const WeftProgram *last, *keep;
};

/// One run of a program: `rows` rows from `first` on, the last of them repeated
/// until the batch is full.
struct EvalBatch {
  int64_t first = 0, rows = 0;
  /// How many rows its loss stands for; negative for one that is subtracted.
  int64_t weight = 0;
};

/// An evaluation of R rows counts each of them once, with a program for B rows.
/// Full batches come first. The remaining r = R mod B rows share one more
/// batch, which is filled up with copies of the last row; a second one holds
/// that row alone, and its loss is subtracted for the copies. This needs a loss
/// that is a mean over rows (`weft.row_mean`); of others the remainder is left
/// out.
class EvalPlan {
public:
  /// `available` is the rows of the data; `mostBatches` 0: all of them.
  EvalPlan(const Metadata &metadata, int64_t available, int64_t mostBatches);

  /// Rows that count; the weights of the batches add up to it.
  int64_t rows() const { return counted; }
  /// Rows that there are.
  int64_t available() const { return all; }
  /// Whether rows are left out because no more batches were asked for.
  bool isSample() const { return sample; }
  /// Batches that the rows make, the last of which may not be full.
  int64_t batches() const { return (counted + batch - 1) / batch; }
  /// Runs of the program.
  int64_t size() const { return full + remainder; }
  EvalBatch at(int64_t index) const;

private:
  int64_t batch, all;
  int64_t full = 0;      // batches without copies
  int64_t remainder = 0; // batches of the remaining rows
  int64_t counted = 0;
  bool sample = false;
};

/// Fills the inputs `ports` of a program with the rows of `source` that `rows`
/// lists, as many as a port has.
Status fillRows(const WeftContext &context, const std::vector<WeftPort> &ports,
                const DataSource &source, const std::vector<int64_t> &rows);

/// Adds the loss, its named terms and the metrics of one run of a program.
void addOutputs(const WeftContext &context, const Metadata &metadata,
                const WeftProgram &program, ReportedMeans &sums);
/// Sums over `count` runs or rows become means.
void takeMeans(int64_t count, ReportedMeans &sums);

/// The means over the rows of `plan` in `val`, in file order, the same on all
/// ranks. NaN where no target counts. Nothing if another rank cannot read its
/// rows, which has the error. A rank that fails otherwise leaves them.
Expected<std::optional<EvalReport>> evaluate(WeftContext &context,
                                             const Metadata &metadata,
                                             const DataSource &val,
                                             const EvalPlan &plan);

//===- Samples ------------------------------------------------------------===//

// Tokens are bytes, or ids of a tokenizer that the caller has. The choice of a
// token is a function of the logits, the seed and the position alone.

struct SampleOptions {
  double temperature = 1.0; // 0: the most probable token
  int64_t topK = 0;         // 0: all
  int64_t seed = 0;
  double topP = 1.0;              // 1: all
  double minP = 0.0;              // 0: all
  double repetitionPenalty = 1.0; // 1: none
};

/// Chooses among `count` logits, in double arithmetic, in the order of Hugging
/// Face's transformers:
///
/// 1. `repetitionPenalty` divides positive logits of the tokens `seen`, and
///    multiplies negative ones.
/// 2. Probabilities are proportional to exp(logit / temperature).
/// 3. `topK`, `topP` and `minP` leave the largest logits (a tie goes to the
///    smaller token), at least one.
/// 4. One Philox number of (seed, `index`) draws.
///
/// -1 if a logit is NaN or infinity.
int64_t sampleToken(const float *logits, int64_t count,
                    const SampleOptions &options, uint64_t index,
                    const std::vector<bool> &seen = {});

/// Whether the program can generate text for these options. Sets the ids of the
/// prompt in them, which the bytes of the prompt are or the tokenizer beside
/// the run makes (TextClient).
Status checkGenerate(RunOptions &options, const Metadata &metadata,
                     const WeftExecutable &executable);

/// Takes the ids of a sample, or its text; an error ends the sample.
using IdReader = std::function<Status(int32_t)>;
using TextReader = std::function<Status(std::string_view)>;

/// Draws the tokens behind the ids of the prompt in `options`, and gives each
/// to `reader`. Ends before one of the stop ids.
Status generateIds(WeftContext &context, const Metadata &metadata,
                   const RunOptions &options, int64_t seed,
                   const IdReader &reader);

/// The text of a sample. A rank that loses its tokenizer ends the sample of all
/// ranks: then each has a `failure`, and the text so far.
struct SampledText {
  std::string text;
  std::optional<Error> failure;
};

/// The continuation of the prompt in `options`, without the prompt. It ends
/// before the stop text and before the tokenizer's end of text, and early when
/// a signal asks the run to stop. `reader` gets each part as soon as no stop
/// text can begin in it.
Expected<SampledText> generateText(WeftContext &context,
                                   const Metadata &metadata,
                                   const RunOptions &options, int64_t seed,
                                   const StopRequest *signals = nullptr,
                                   const TextReader &reader = {});

} // namespace weft

#endif // WEFT_RUNTIME_RUN_EVALUATE_H
