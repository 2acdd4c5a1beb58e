//===- Environment.h - What launchers say in the environment ----*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_ENVIRONMENT_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_ENVIRONMENT_H

#include <string>

namespace weft {

/// Whether a variable has a value that is not empty.
bool isSet(const char *name);
/// Its value; "" if there is none.
std::string valueOf(const char *name);

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_ENVIRONMENT_H
