//===- Ext.h - The dialect ext ----------------------------------*- C++ -*-===//

#ifndef EXT_H
#define EXT_H

#include "weft/Weft/Weft.h"

#include "mlir/Pass/Pass.h"

#include "ExtDialect.h.inc"

#define GET_OP_CLASSES
#include "ExtOps.h.inc"

namespace ext {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ExtPasses.h.inc"

} // namespace ext

#endif // EXT_H
