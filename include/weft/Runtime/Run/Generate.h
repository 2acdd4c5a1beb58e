//===- Generate.h - Samples of a language model -----------------*- C++ -*-===//
//
// Tokens are bytes. The choice of a token is a function of the logits, the seed
// and the position alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_GENERATE_H
#define WEFT_RUNTIME_RUN_GENERATE_H

#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Run/RunFlags.h"
#include "weft/Runtime/Run/Signals.h"

namespace weft {

struct SampleOptions {
  double temperature = 1.0; // 0: the most probable token
  int64_t topK = 0;         // 0: all
  int64_t seed = 0;
};

/// Chooses among `count` logits: the `topK` largest (a tie goes to the smaller
/// token), probabilities proportional to exp(logit / temperature) in double
/// arithmetic, and one Philox number of (seed, `index`). -1 if a logit that
/// counts is not a number.
int64_t sampleToken(const float *logits, int64_t count,
                    const SampleOptions &options, uint64_t index);

/// Whether the program can generate text for these options.
Status checkGenerate(const RunOptions &options, const Metadata &metadata,
                     const WeftExecutable &executable);

/// The continuation of the prompt in `options`, without the prompt. It ends
/// early when a signal asks the run to stop.
Expected<std::string> generateText(WeftContext &context,
                                   const Metadata &metadata,
                                   const RunOptions &options, int64_t seed,
                                   const StopRequest *signals = nullptr);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_GENERATE_H
