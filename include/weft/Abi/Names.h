//===- Names.h - Names of programs, ports and states ------------*- C++ -*-===//
//
// Names of programs and of their inputs, outputs and states. The compiler
// defines them in an executable and the runtime looks them up. Keys of metrics
// and manifests and flags may have the same spelling, but are separate names.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_NAMES_H
#define WEFT_ABI_NAMES_H

namespace weft::names {

// Programs.
inline constexpr char kModel[] = "model"; // before weft-derive-programs
inline constexpr char kInit[] = "init";
inline constexpr char kMicro[] = "micro";
inline constexpr char kApply[] = "apply";
inline constexpr char kEval[] = "eval";
inline constexpr char kLogits[] = "logits";   // its output as well
inline constexpr char kPrefill[] = "prefill"; // logits that fill the cache
inline constexpr char kDecode[] = "decode";   // logits of one token, from it
inline constexpr char kPredict[] = "predict"; // a result for each row
inline constexpr char kRefresh[] = "refresh";
inline constexpr char kDenominators[] = "denominators";

// Inputs of init, and of models that drop: the seed and the first row.
inline constexpr char kSeed[] = "seed";
inline constexpr char kRng[] = "rng";

// Input of any program: the number of the rank that runs it, i64.
inline constexpr char kRank[] = "rank";

// Inputs of language models.
inline constexpr char kTokens[] = "tokens";
inline constexpr char kTargets[] = "targets";
inline constexpr char kPosition[] = "position"; // of logits

// Inputs of micro; the second one of denominators as well.
inline constexpr char kLossSeed[] = "loss_seed";
inline constexpr char kAccumulate[] = "accumulate";

// Input of denominators: the share of a micro-batch in the mean of a step (1/K
// for K micro-batches). It multiplies the count of the targets.
inline constexpr char kBatchShare[] = "batch_share";

// Inputs of apply. Those of an optimizer are operands of its op, too.
inline constexpr char kLr[] = "lr";
inline constexpr char kWeightDecay[] = "weight_decay";
inline constexpr char kBeta1[] = "beta1";
inline constexpr char kBeta2[] = "beta2";
inline constexpr char kEps[] = "eps";
inline constexpr char kMomentum[] = "momentum";
inline constexpr char kMaxNorm[] = "max_norm";

// Outputs.
inline constexpr char kLoss[] = "loss"; // of micro and eval
inline constexpr char kGradNorm[] = "grad_norm";
inline constexpr char kFoundInf[] = "found_inf";
inline constexpr char kFoundInfOf[] = "found_inf."; // and the instance
inline constexpr char kScaleExhausted[] = "scale_exhausted";
inline constexpr char kNoTargets[] = "no_targets"; // of apply

// Outputs of predict in a language model, for each row. The second one is named
// kTokens.
inline constexpr char kLogLikelihood[] = "log_likelihood";

// States of the loss scale; the first is an output of apply as well.
inline constexpr char kLossScale[] = "loss_scale";
inline constexpr char kLossScaleState[] = "loss_scale.state";

// States of denominators: this and the number of the loss, and 1 where a step
// has no target that counts, else 0.
inline constexpr char kDenominator[] = "denominator.";
inline constexpr char kNoTargetsState[] = "denominator.none";

} // namespace weft::names

#endif // WEFT_ABI_NAMES_H
