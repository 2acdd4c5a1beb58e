//===- InspectKernels.cpp - The machine code of a program -----------------===//

#include "InspectKernels.h"

#include "weft/Formats/Cubin.h"
#include "weft/Formats/Launches.h"

#include <cstdio>
#include <set>

using namespace weft;

static Json describeKernel(const CubinKernel &kernel, const std::string &chip,
                           const LaunchSizes *launch) {
  Json entry = Json::object();
  entry.set("chip", chip);
  entry.set("name", kernel.name);
  entry.set("generated", launch != nullptr);
  entry.set("registers", int64_t(kernel.registers));
  entry.set("shared_bytes", int64_t(kernel.sharedBytes));
  entry.set("local_bytes", int64_t(kernel.localBytes));
  entry.set("stack_bytes", int64_t(kernel.stackBytes));
  entry.set("code_bytes", int64_t(kernel.codeBytes));
  Json threads = Json::array();
  entry.set("blocks", launch ? Json(launch->blocks) : Json());
  if (launch)
    for (int64_t count : {launch->threadsX, launch->threadsY, int64_t(1)})
      threads.push(count);
  else
    for (uint32_t count : kernel.threads)
      threads.push(int64_t(count));
  entry.set("threads",
            launch || kernel.threads[0] != 0 ? std::move(threads) : Json());
  return entry;
}

namespace {
/// The machine code of one chip and the launches that the metadata lists for
/// it.
class Images {
public:
  Images(const ProgramFile::Images &images,
         const std::map<std::string, LaunchSizes> &launches)
      : images(images), launches(launches) {}

  Status describe(Json &kernels) const;

private:
  std::string section() const { return "section .weft." + images.chip + ": "; }
  Status describe(const Cubin &cubin, Json &kernels,
                  std::set<std::string> &found) const;

  const ProgramFile::Images &images;
  const std::map<std::string, LaunchSizes> &launches;
};
} // namespace

Status Images::describe(const Cubin &cubin, Json &kernels,
                        std::set<std::string> &found) const {
  if (cubin.chip != images.chip)
    return inputError(section() + "expects machine code of " + images.chip +
                      ", but got that of " + cubin.chip);
  for (const CubinKernel &kernel : cubin.kernels) {
    auto launch = launches.find(kernel.name);
    const bool isGenerated = launch != launches.end();
    kernels.push(describeKernel(kernel, cubin.chip,
                                isGenerated ? &launch->second : nullptr));
    found.insert(kernel.name);
  }
  return Status::success();
}

Status Images::describe(Json &kernels) const {
  Expected<std::vector<Cubin>> cubins = readCubins(images.bytes);
  if (!cubins)
    return inputError(section() + cubins.error().message());
  std::set<std::string> found;
  for (const Cubin &cubin : *cubins)
    if (Status s = describe(cubin, kernels, found); !s)
      return s;
  for (const auto &[name, launch] : launches)
    if (!found.count(name))
      return inputError(section() + "expects the kernel " + inQuotes(name) +
                        ", which the metadata launches, but got none");
  return Status::success();
}

Expected<Json> weft::describeImages(const ProgramFile &program,
                                    const Json &metadata) {
  auto launches = readLaunches(JsonCursor(metadata, "section .weft.meta"));
  if (!launches)
    return inputError(launches.error().where());
  Json kernels = Json::array();
  for (const ProgramFile::Images &images : program.images)
    if (Status s = Images(images, *launches).describe(kernels); !s)
      return s.takeError();
  return kernels;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// "48 x 32x8": blocks of the grid and threads of a block.
static std::string launchText(const Json &kernel) {
  const Json &blocks = *kernel.find("blocks"),
             &threads = *kernel.find("threads");
  std::string text = blocks.isNull() ? "any" : blocks.compact();
  if (threads.isNull())
    return text + " x any";
  const Json::Array &sizes = threads.asArray();
  text += " x " + sizes[0].compact();
  size_t rank = 3;
  while (rank > 1 && sizes[rank - 1].asInt() == 1)
    --rank;
  for (size_t i = 1; i < rank; ++i)
    text += "x" + sizes[i].compact();
  return text;
}

void weft::printImages(const Json &kernels) {
  std::string chip;
  for (const Json &kernel : kernels.asArray()) {
    if (const std::string &own = kernel.find("chip")->asString(); own != chip) {
      chip = own;
      std::printf("machine code of %s (bytes of shared memory of a block, of "
                  "local memory and stack of a thread)\n"
                  "  %9s %7s %6s %6s %7s  %-18s %-12s %s\n",
                  chip.c_str(), "registers", "shared", "local", "stack", "code",
                  "blocks x threads", "kind", "symbol");
    }
    auto number = [&](const char *field) {
      return static_cast<long long>(kernel.find(field)->asInt());
    };
    std::printf(
        "  %9lld %7lld %6lld %6lld %7lld  %-18s %-12s %s\n",
        number("registers"), number("shared_bytes"), number("local_bytes"),
        number("stack_bytes"), number("code_bytes"), launchText(kernel).c_str(),
        kernel.find("generated")->asBool() ? "generated" : "hand-written",
        escaped(kernel.find("name")->asString(), "\n").c_str());
  }
}
