//===- Device.cpp - Where memory is and commands run ----------------------===//

#include "weft/Runtime/Devices/Device.h"

using namespace weft;

Device::~Device() = default;

Expected<int64_t> Device::tune(WeftContext &, const std::string &) {
  return usageError("--tune expects a program with products on a CUDA device, "
                    "but got one without");
}

bool Device::run(WeftContext &context, const WeftProgram &program) {
  while (runsInFlight() > 0)
    if (!finish(context))
      return false;
  return start(context, program) && finish(context);
}
