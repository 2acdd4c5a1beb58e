//===- Emulated.cpp - Launch.h on an emulated device ----------------------===//

#include "Emulated.h"

#include "Fail.h"
#include "Settings.h"
#include "weft/Abi/RecordTypes.h"
#include "weft/Runtime/Devices/Launch.h"

using namespace weft;

extern "C" const WeftTwin __start_weft_twin_list[], __stop_weft_twin_list[];

static std::vector<std::string> launches;
static emulation::Order order(emulation::numberSetting("WEFT_EMULATION_SEED",
                                                       7));

std::vector<std::string> weft::takeLaunches() {
  return std::exchange(launches, {});
}

static std::function<void(const DeviceExchange &)> currentExchange;
static int currentRank;

void weft::setExchange(std::function<void(const DeviceExchange &)> exchange,
                       int rank) {
  currentExchange = std::move(exchange);
  currentRank = rank;
}

void weft::exchangeOnDevices(WeftContext &context, const WeftCommand &,
                             const DeviceExchange &exchange) {
  if (!context.failed())
    currentExchange(exchange);
}

static std::function<void(const DeviceReduction &)> currentReduction;

void weft::setReduction(
    std::function<void(const DeviceReduction &)> reduction) {
  currentReduction = std::move(reduction);
}

bool weft::canReduceOnDevices(WeftContext &) { return bool(currentReduction); }

void weft::reduceOnDevices(WeftContext &context, const WeftCommand &,
                           const DeviceReduction &reduction) {
  if (!context.failed())
    currentReduction(reduction);
}

int weft::rankOnDevice(WeftContext &, const WeftCommand &,
                       const WeftRankGroup &) {
  return currentRank;
}

static const WeftTwin *findTwin(const std::string &name) {
  for (const WeftTwin *twin = __start_weft_twin_list;
       twin != __stop_weft_twin_list; ++twin)
    if (name == twin->name)
      return twin;
  return nullptr;
}

void weft::launchKernel(WeftContext &context, const WeftCommand &command,
                        const char *name, const LaunchShape &shape,
                        void **arguments) {
  launches.push_back(name);
  const WeftTwin *twin = findTwin(name);
  ASSERT_TRUE(twin) << name;
  emulation::Grid grid;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(shape.block[i], twin->threads[i]) << name;
    grid.blocks[i] = shape.grid[i];
    grid.threads[i] = shape.block[i];
  }
  grid.sharedBytes = shape.sharedBytes;
  ASSERT_LE(grid.sharedBytes, emulation::kMaxSharedBytes) << name;
  emulation::setKernelName(name);
  emulation::beginLaunch();
  emulation::runGrid(grid, [&] { twin->run(arguments); }, order);
  emulation::setKernelName("");
}

int weft::deviceNumber(WeftContext &) {
  const char *chip = std::getenv("WEFT_EMULATION_CHIP");
  return chip ? std::atoi(chip + 3) : 90;
}

void *weft::deviceStream(WeftContext &) { return nullptr; }

void weft::copyOnDevice(WeftContext &context, const WeftCommand &command,
                        void *to, const void *from, int64_t bytes) {
  launches.push_back("copy");
  std::memcpy(to, from, bytes);
  emulation::DeviceMemory::get().copyMarks(to, from, bytes);
}

/// Written once for each record.
const void *weft::constantOnDevice(WeftContext &, const WeftCommand &command) {
  static std::vector<std::unique_ptr<Guarded<char>>> kept;
  const auto *record = findRecord<WEFT_CONSTANT>(command);
  const char *first = entriesOf<char>(*record);
  kept.push_back(std::make_unique<Guarded<char>>(
      std::vector<char>(first, first + record->count), 0));
  return kept.back()->data();
}

void weft::fillOnDevice(WeftContext &context, const WeftCommand &command,
                        void *to, unsigned char byte, int64_t bytes) {
  launches.push_back("fill");
  std::memset(to, byte, bytes);
  emulation::DeviceMemory::get().markWritten(to, bytes);
}
