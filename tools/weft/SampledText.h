//===- SampledText.h - Samples of models with a tokenizer -------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_SAMPLEDTEXT_H
#define WEFT_TOOLS_WEFT_SAMPLEDTEXT_H

#include "CachedProgram.h"
#include "PrepareTokens.h"
#include "ToolCommands.h"

namespace weft {

struct TextPrompt {
  std::string text;
  std::string stop; // the sample ends before it; "": only at end of text
};

/// Prints a prompt and its continuation by a program that takes and gives token
/// ids. The program runs in a process of its own; each of its ids is decoded
/// and printed as soon as it arrives.
Expected<ExitCode> sampleText(const Program &program, const ProgramRanks &ranks,
                              const Arguments &runFlags,
                              const TextTokenizer &tokenizer,
                              const TextPrompt &prompt);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_SAMPLEDTEXT_H
