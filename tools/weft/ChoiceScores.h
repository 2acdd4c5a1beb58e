//===- ChoiceScores.h - Multiple choice by log-likelihood -------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_CHOICESCORES_H
#define WEFT_TOOLS_WEFT_CHOICESCORES_H

#include "CachedProgram.h"
#include "ChoiceQuestions.h"
#include "ToolCommands.h"

#include "weft/Runtime/Execute/Metadata.h"

namespace weft {

/// Of questions: the part that is answered right by the choice with the largest
/// log-likelihood, and by the one with the largest log-likelihood divided by
/// the bytes of its text. The first of equal choices is the answer.
struct ChoiceAccuracy {
  double accuracy = 0.0, accuracyNorm = 0.0;
};

/// `logLikelihoods` has a number for each choice of each question in order.
ChoiceAccuracy scoreChoices(const std::vector<ChoiceQuestion> &questions,
                            const std::vector<float> &logLikelihoods);

/// weft predict with a file of questions: the results of each choice.
Expected<ExitCode> predictChoices(const FlagValues &flags,
                                  const Program &program,
                                  const Metadata &metadata);

/// weft evaluate with a file of questions: prints the accuracy.
Expected<ExitCode> evaluateChoices(const FlagValues &flags,
                                   const Program &program,
                                   const Metadata &metadata);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_CHOICESCORES_H
