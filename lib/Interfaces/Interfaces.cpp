//===- Interfaces.cpp - What an op knows about itself ---------------------===//

#include "weft/Interfaces/Interfaces.h"

#include "weft/Interfaces/Interfaces.cpp.inc"
