//===- Interfaces.cpp - Interfaces of ops ---------------------------------===//

#include "weft/Interfaces/Interfaces.h"

#include "weft/Interfaces/Enums.cpp.inc"
#include "weft/Interfaces/Interfaces.cpp.inc"
