//===- FailTogether.cpp - How ranks that failed find out why --------------===//

#include "weft/Runtime/Execute/RankMeetings.h"

using namespace weft;

Error weft::failTogether(RankMeetings &meetings, Error own, bool isOfOther,
                         double seconds) {
  auto place = meetings.placeIn(0);
  // The others hear that this rank has left, and has said why.
  if (!place || !isOfOther)
    return own;
  meetings.setTimeout(seconds);
  auto all = meetings.gather(0, place->rank, "an exchange of devices");
  if (!all)
    return Error(ExitCode::Communication, all.error().message());
  if (place->rank != 0)
    meetings.leaveWordTo(0);
  return own;
}
