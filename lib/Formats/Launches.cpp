//===- Launches.cpp - How a program launches its kernels ------------------===//

#include "weft/Formats/Launches.h"

using namespace weft;

static Expected<KernelLaunch> readLaunch(const JsonCursor &entry) {
  auto sizes = entry.asIntArray(/*least=*/1);
  if (!sizes)
    return sizes.takeError();
  if (sizes->size() != 3)
    return entry.error(
        "expects the blocks of a grid and the threads of a block "
        "along x and y, but got " +
        std::to_string(sizes->size()) + " numbers");
  return KernelLaunch{(*sizes)[0], (*sizes)[1], (*sizes)[2]};
}

Expected<std::map<std::string, KernelLaunch>>
weft::readLaunches(const JsonCursor &metadata) {
  std::map<std::string, KernelLaunch> launches;
  auto field = metadata.find("launches");
  if (!field)
    return launches;
  auto size = field->objectSize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i) {
    auto launch = readLaunch(field->member(i));
    if (!launch)
      return launch.takeError();
    launches[field->value().asObject()[i].name] = *launch;
  }
  return launches;
}
