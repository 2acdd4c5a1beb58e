//===- AddedPasses.h - The pipelines of --add-pass --------------*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_DRIVER_ADDEDPASSES_H
#define WEFT_LIB_PIPELINE_DRIVER_ADDEDPASSES_H

#include "weft/Base/Error.h"
#include "weft/Pipeline/Driver/PhaseTable.h"

#include <string>
#include <vector>

namespace weft {

/// The pipelines that --add-pass names, each with the index of its phase. A
/// usage error for a phase that the table lacks and for a pipeline that does
/// not parse. Passes must be registered.
Expected<std::vector<AddedPasses>> parseAddedPasses(const PhaseTable &phases,
                                                    const FlagValues &flags);

} // namespace weft

#endif // WEFT_LIB_PIPELINE_DRIVER_ADDEDPASSES_H
