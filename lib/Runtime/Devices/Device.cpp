//===- Device.cpp - Where memory is and commands run ----------------------===//

#include "weft/Runtime/Devices/Device.h"

#include "weft/Runtime/Execute/RankMeetings.h"

#include <algorithm>

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

Error weft::failTogether(RankMeetings &meetings, Error own, FailureCause cause,
                         double seconds) {
  auto place = meetings.placeIn(0);
  // The others hear that this rank has left, and has said why.
  if (!place || cause == FailureCause::Own)
    return own;
  meetings.setTimeout(seconds);
  auto all = meetings.gather(0, int(cause), "an exchange of devices");
  if (!all)
    return Error(ExitCode::Communication, all.error().message());
  const int speaker =
      int(std::min_element(all->begin(), all->end()) - all->begin());
  if (speaker != place->rank)
    meetings.leaveWordTo(speaker);
  return own;
}
