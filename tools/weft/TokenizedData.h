//===- TokenizedData.h - Text for programs that read tokens -----*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_TOKENIZEDDATA_H
#define WEFT_TOOLS_WEFT_TOKENIZEDDATA_H

#include "CachedProgram.h"
#include "PrepareTokens.h"

#include "weft/Runtime/Execute/Metadata.h"

namespace weft {

/// The metadata in a compiled program.
Expected<Metadata> metadataOf(const Program &program);

/// The path of the tokenizer of a program's model, as Tokenizer::load() takes
/// it; "" if the model has none, or only in files that are not read.
std::string tokenizerOf(const Metadata &metadata, const Program &program);

/// The same for a run with these flags: "" if bytes are its tokens, by its flag
/// --tokenizer or by the one in the checkpoint that it resumes from.
std::string usedTokenizer(const FlagValues &flags, const Metadata &metadata,
                          const Program &program);

/// Whether a training samples text, by its flag --generate or by the one in the
/// checkpoint that it resumes from.
bool samplesText(const FlagValues &flags);

/// Starts the tokenizer of a program's model beside a run that samples text,
/// unless bytes are its tokens.
Status offerTokenizer(const FlagValues &flags, const Metadata &metadata,
                      const Program &program);

/// Warns of a tokenizer, loaded from `path`, with more tokens than the
/// vocabulary of its model has.
void warnOfExtraTokens(const std::string &path, const Tokenizer &tokenizer,
                       int64_t vocab);

/// Loads the tokenizer of a model. One with more tokens than the model's
/// vocabulary is a warning: text that has one of the others is an error. One
/// without a token that ends a document is an error with the hint `noEndHint`,
/// unless that is null.
Expected<TextTokenizer> loadTokenizer(const std::string &path,
                                      const Metadata &metadata,
                                      const std::string *noEndHint = nullptr);

/// The run flags of a program, with a token file from the cache in place of
/// each text of --data and --val-data. A model without a tokenizer, and one
/// with --tokenizer=bytes, keeps its text.
Expected<FlagValues> withTokens(const FlagValues &flags,
                                const Program &program);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_TOKENIZEDDATA_H
