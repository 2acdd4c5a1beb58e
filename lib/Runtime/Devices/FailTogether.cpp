//===- FailTogether.cpp - How ranks that failed find out why --------------===//

#include "weft/Runtime/Execute/RankMeetings.h"

#include <algorithm>

using namespace weft;

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
