//===- RefusedModels.h - Models that weft does not import -------*- C++ -*-===//
//
// A configuration of transformers may describe a model of no family. Its fields
// show the reason: experts, an encoder, images.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FRONTEND_REFUSEDMODELS_H
#define WEFT_LIB_FRONTEND_REFUSEDMODELS_H

#include "weft/Formats/Json.h"

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace weft {

/// Why a configuration whose `model_type` is no family is refused, and what to
/// do; "" if its fields do not tell. `file` is its path.
std::string hintOfModel(llvm::StringRef modelType, const Json &config,
                        const std::string &file);

/// The feature that an unknown field asks for, and a next step; "" for a field
/// that has no entry.
std::string hintOfField(llvm::StringRef name, const Json &value);

/// The class in `architectures` that has another head than a language model,
/// such as "LlamaForSequenceClassification"; "" if there is none.
std::string otherHead(const Json &config);

/// "'a', 'b', 'c', 'd' and 5 others"
std::string listInQuotes(const std::vector<std::string> &names);

/// A command of transformers that writes a configuration with all fields.
std::string completeConfigCommand(const std::string &file);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_REFUSEDMODELS_H
