//===- WeftDialect.td - The weft dialect, for its document -*- tablegen -*-===//

#ifndef WEFT_DIALECT_TD
#define WEFT_DIALECT_TD

include "weft/Weft/WeftKernelOps.td"
include "weft/Weft/WeftOps.td"

#endif // WEFT_DIALECT_TD
