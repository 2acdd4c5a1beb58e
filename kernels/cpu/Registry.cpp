//===- Registry.cpp - Library routines by name ----------------------------===//

#include "weft/Abi/CpuRoutineAbi.h"

#include <cstring>

extern "C" WeftLibraryFn weftFindLibraryRoutine(const char *name) {
#define WEFT_FIND_ROUTINE(symbol)                                              \
  if (std::strcmp(name, #symbol) == 0)                                         \
    return symbol;
  WEFT_LIBRARY_ROUTINES(WEFT_FIND_ROUTINE)
#undef WEFT_FIND_ROUTINE
  return nullptr;
}
