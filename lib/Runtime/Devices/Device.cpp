//===- Device.cpp - Where memory is and commands run ----------------------===//

#include "weft/Runtime/Devices/Device.h"

weft::Device::~Device() = default;

bool weft::Device::run(WeftContext &context, const WeftProgram &program) {
  while (runsUnderWay() > 0)
    if (!finish(context))
      return false;
  return start(context, program) && finish(context);
}
