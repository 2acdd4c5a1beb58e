//===- DriverVersion.cpp - The version of the emulated driver -------------===//

#include "Driver.h"

int weft::emulation::driverVersion() { return WEFT_EMULATED_VERSION; }
