//===- WeightFiles.h - Weights that weft does not read ----------*- C++ -*-===//
//
// A model folder may hold its weights in a form that ModelWeights does not
// open: PyTorch files, shards without an index, unfinished downloads. Training
// from random values instead would go unnoticed for long.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_WEIGHTFILES_H
#define WEFT_FORMATS_WEIGHTFILES_H

#include "weft/Base/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Paths of the files in `folder` that look like weights, sorted;
/// ModelWeights opens none of them by the folder's name alone. By their
/// names; a `.bin` file, which may hold tokens, also by its first bytes. A
/// folder that cannot be listed is an error.
Expected<std::vector<std::string>> findUnreadWeights(const std::string &folder);

/// Whether the file has changes to the weights of another model (LoRA).
bool isAdapter(const std::string &path);

/// How a run gets the weights of such a file, or does without.
std::string unreadWeightsHint(const std::string &path);

/// "'m/pytorch_model.bin' and 2 other files"
std::string unreadWeightsText(const std::vector<std::string> &paths);

/// Whether a tensor in a model's weights is no weight, by its name: attention
/// masks and rotary frequencies of older versions of transformers.
bool isModelBuffer(std::string_view tensor);

/// Names of files beside the weights that an export takes along: tokenizer,
/// chat template, generation settings.
const std::vector<std::string> &companionNames();

/// An error if `path` is a link to no file.
Status checkLink(const std::string &path);

} // namespace weft

#endif // WEFT_FORMATS_WEIGHTFILES_H
