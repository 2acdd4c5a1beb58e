//===- CastTable.h - The cast policies as a document ------------*- C++ -*-===//

#ifndef WEFT_PRECISION_CASTTABLE_H
#define WEFT_PRECISION_CASTTABLE_H

#include <string>

namespace weft {

/// A table of all ops that may stand in a model: their policies in PyTorch's
/// lists and in the recipes, and PyTorch's names.
std::string castPoliciesMarkdown();

} // namespace weft

#endif // WEFT_PRECISION_CASTTABLE_H
