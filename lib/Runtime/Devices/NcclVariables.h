//===- NcclVariables.h - The environment of NCCL's sums ---------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_DEVICES_NCCLVARIABLES_H
#define WEFT_LIB_RUNTIME_DEVICES_NCCLVARIABLES_H

#include "weft/Formats/RunRecord.h"

namespace weft {

/// Fixes the variables that decide in which order NCCL adds, with `channels`
/// channels for each communicator. Warns of other values if `warns`. Call it
/// before the first call of NCCL.
void fixNcclVariables(int channels, bool warns);

/// Removes the variable that would replace the choice of --gather. Warns of it
/// if `warns`. Call it before the first call of NCCL.
void removeNcclCtaPolicy(bool warns);

/// The other variables of NCCL in the environment, sorted, except for messages:
/// the rings of a machine may depend on them.
Settings recordedNcclVariables();

/// Lines "name=value".
std::string ncclSettingsText(const Settings &settings);
/// The first line that only one of two such texts has: "NAME=A, and not set".
std::string describeDifference(const std::string &first,
                               const std::string &second);

} // namespace weft

#endif // WEFT_LIB_RUNTIME_DEVICES_NCCLVARIABLES_H
