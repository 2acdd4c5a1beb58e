//===- InspectSchedule.h - When the commands of a program run ---*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_INSPECTSCHEDULE_H
#define WEFT_TOOLS_WEFT_INSPECTSCHEDULE_H

#include "weft/Formats/Json.h"

namespace weft {

/// How the collectives of each program hide, where something travels.
void printOverlap(const Json &overlap);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_INSPECTSCHEDULE_H
