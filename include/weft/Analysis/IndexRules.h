//===- IndexRules.h - What plans say of inputs that are indices -*- C++ -*-===//

#ifndef WEFT_ANALYSIS_INDEXRULES_H
#define WEFT_ANALYSIS_INDEXRULES_H

#include "weft/Plan/Plan.h"

#include "llvm/ADT/SetVector.h"

namespace weft {

/// The numbers of classes that the integers of an input are compared with: by
/// lookups, and by kernels that compare them with positions along a
/// dimension. Empty if nothing tells.
llvm::SmallSetVector<int64_t, 2> findClassCounts(plan::InputOp input);

} // namespace weft

#endif // WEFT_ANALYSIS_INDEXRULES_H
