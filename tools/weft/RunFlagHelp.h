//===- RunFlagHelp.h - The flags of a run, as the compiler knows them -----===//

#ifndef WEFT_TOOLS_WEFT_RUNFLAGHELP_H
#define WEFT_TOOLS_WEFT_RUNFLAGHELP_H

#include "weft/Base/Flags.h"

#include <vector>

namespace weft {

/// The flags of a run. Their help names the defaults of optimizers, which an
/// executable knows of its own alone.
std::vector<FlagSpec> describedRunFlags();

} // namespace weft

#endif // WEFT_TOOLS_WEFT_RUNFLAGHELP_H
