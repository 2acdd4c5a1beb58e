//===- Launches.cpp - Launches of a program's kernels ---------------------===//

#include "weft/Formats/Launches.h"

#include "weft/Formats/JsonFields.h"

using namespace weft;

static Status readLaunch(const JsonCursor &entry, LaunchSizes &launch) {
  auto sizes = entry.asIntArray(/*least=*/1);
  if (!sizes)
    return sizes.takeError();
  if (sizes->size() != 3)
    return entry.error(
        "expects the blocks of a grid and the threads of a block "
        "along x and y, but got " +
        std::to_string(sizes->size()) + " numbers");
  launch = {(*sizes)[0], (*sizes)[1], (*sizes)[2]};
  return Status::success();
}

Expected<std::map<std::string, LaunchSizes>>
weft::readLaunches(const JsonCursor &metadata) {
  std::map<std::string, LaunchSizes> launches;
  auto read = [&](const std::string &kernel, const JsonCursor &entry) {
    return readLaunch(entry, launches[kernel]);
  };
  if (Status s = readMembers(metadata, "launches", read); !s)
    return s.takeError();
  return launches;
}
