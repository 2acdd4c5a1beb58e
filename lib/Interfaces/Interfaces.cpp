//===- Interfaces.cpp - What an op knows about itself ---------------------===//

#include "weft/Interfaces/Interfaces.h"

#include "weft/Interfaces/Enums.cpp.inc"
#include "weft/Interfaces/Interfaces.cpp.inc"
