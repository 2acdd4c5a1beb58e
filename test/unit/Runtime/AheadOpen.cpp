//===- AheadOpen.cpp - Links a toy program with AheadDevice ---------------===//

#include "AheadDevice.h"

using namespace weft;

Expected<std::unique_ptr<WeftContext>>
weft::openDevice(const WeftExecutable &executable,
                 const DeviceOptions &options) {
  if (std::string wrong = checkTables(executable, options.ranks);
      !wrong.empty())
    return Error(ExitCode::Internal, wrong);
  auto context = std::make_unique<WeftContext>(options);
  auto device = AheadDevice::fromEnvironment(context->threads());
  if (!device->arena.allocate(executable.arenaBytes))
    return Error(ExitCode::DoesNotFit, "has no memory");
  char *base = device->arena.data();
  context->attach(executable, std::move(device), base);
  return context;
}

void weft::enterProcess(char **) {}
void weft::leaveProcess() {}
