//===- ValueRules.h - Values of flags of other commands ---------*- C++ -*-===//
//
// Private to lib/Base.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_BASE_VALUERULES_H
#define WEFT_LIB_BASE_VALUERULES_H

#include "weft/Base/Flags.h"

namespace weft {

/// The rule for the values of a flag, where a word or a number can be wrong;
/// null for other flags. Name, kind, choices and range are set. A compiled
/// program and `weft compile` have no table of each other's flags. A test
/// compares the rules with the tables of the commands.
const FlagSpec *findValueRule(const std::string &name);

} // namespace weft

#endif // WEFT_LIB_BASE_VALUERULES_H
