//===- CudaDevice.cpp - A CUDA device of this machine ---------------------===//

#include "weft/Runtime/Devices/CudaDevice.h"

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Abi/TransferRecords.h"

#include <algorithm>

using namespace weft;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static Error noDevice() {
  return deviceError("expects a CUDA device, but got none")
      .hint("CUDA_VISIBLE_DEVICES selects devices of the machine");
}

/// That there is no device is no failure of the call.
static Status initialize(const CudaCalls &cuda) {
  const CUresult result = cuda.driver().cuInit(0u);
  if (result == CUDA_ERROR_NO_DEVICE)
    return noDevice();
  if (result != CUDA_SUCCESS)
    return cuda.failure("cuInit", result);
  return Status::success();
}

/// A rank that sees one device has that one, of several the one with its number
/// on the machine.
int CudaDevice::deviceNumber(int count) const {
  return options.ranksAreProcesses && count > 1 ? options.localRank : 0;
}

/// The device of this rank and its properties.
Status CudaDevice::choose() {
  int count = 0;
  if (Status s = cuda.cuDeviceGetCount(&count); !s)
    return s;
  if (count < 1)
    return noDevice();
  const int number = deviceNumber(count);
  if (number >= count)
    return deviceError("expects a device for each of ", options.ranksOfMachine,
                       " ranks of this machine, but got ", count)
        .hint("CUDA_VISIBLE_DEVICES selects devices of the machine");
  if (Status s = cuda.cuDeviceGet(&device, number); !s)
    return s;
  char name[256] = {};
  if (Status s = cuda.cuDeviceGetName(name, int(sizeof name - 1), device); !s)
    return s;
  chip.device = name;
  int mapsMemory = 0;
  const std::pair<CUdevice_attribute, int *> properties[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &chip.major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &chip.minor},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
       &chip.sharedBytes},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &multiprocessors},
      {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, &mapsMemory}};
  for (auto [attribute, value] : properties)
    if (Status s = cuda.cuDeviceGetAttribute(value, attribute, device); !s)
      return s;
  if (!mapsMemory)
    return deviceError(
               "expects a device with virtual memory management, but got ",
               chip.device)
        .hint("some virtual GPUs lack it: use a complete GPU");
  return Status::success();
}

Status CudaDevice::enter() {
  CUcontext current = nullptr;
  if (Status s = cuda.cuDevicePrimaryCtxRetain(&current, device); !s)
    return s;
  context = CudaPrimaryContext(cuda.driver(), device);
  if (Status s = cuda.cuCtxSetCurrent(current); !s)
    return s;
  return measureMemory(/*isOwn=*/false);
}

Status CudaDevice::makeEvents(int64_t count) {
  events.resize(size_t(count));
  joins.resize(streams.size());
  std::vector<CudaEvent *> all = {&fork, &joined};
  for (EventPair &pair : events)
    all.insert(all.end(), {&pair.event, &pair.edge});
  for (CudaEvent &join : joins)
    all.push_back(&join);
  for (CudaEvent *event : all)
    if (Status s = assign(makeEvent(cuda), *event); !s)
      return s;
  return Status::success();
}

/// Streams of a plan are numbered below this.
static constexpr int64_t kMostStreams = 64;

/// Collectives go first: all ranks wait for the blocks of one that waits for a
/// processor.
Status CudaDevice::makeStreams(const std::vector<bool> &isUrgent) {
  for (const bool urgent : isUrgent) {
    auto stream = urgent ? makeUrgentStream(cuda) : makeStream(cuda);
    if (!stream)
      return stream.takeError();
    streams.push_back(std::move(*stream));
    hasUrgentStreams |= urgent;
  }
  return Status::success();
}

/// As many streams and events as the commands name.
Status CudaDevice::makeQueues() {
  std::vector<bool> isUrgent(1, false); // by stream
  int64_t numEvents = 0;
  for (const WeftProgram &program : programsOf(executable))
    for (const WeftCommand &command : commandsOf(program)) {
      const int64_t stream = streamOf(command);
      if (stream < 0 || stream >= kMostStreams)
        return internalError(placeOf(command), ": expects a stream from 0 to ",
                             kMostStreams - 1, ", but got ", stream);
      if (size_t(stream) >= isUrgent.size())
        isUrgent.resize(size_t(stream) + 1, false);
      if (stream != 0 && isCollective(command))
        isUrgent[size_t(stream)] = true;
      if (const WeftTransferRecord *record = findTransfer(command))
        numEvents = std::max(numEvents, record->event + 1);
    }
  if (Status s = makeStreams(isUrgent); !s)
    return s;
  return makeEvents(numEvents);
}

Status CudaDevice::allocate() {
  if (Status s = allocateArena(); !s)
    return s;
  const unsigned char first = options.poisoned ? 0xFF : 0;
  if (Status s = fill(arenaAddress(), first, executable.arenaBytes); !s)
    return s;
  // Before another stream is given something.
  if (Status s = cuda.cuStreamSynchronize(stream()); !s)
    return s;
  if (Status s = assign(CudaTransfers::make(cuda), transfers); !s)
    return s;
  if (!constants.bytes().empty())
    if (Status s = copyIn(constantsOffset(), constants.bytes().data(),
                          int64_t(constants.bytes().size()));
        !s)
      return s;
  return assign(CudaPorts::make(cuda, executable,
                                std::max(1, options.runsInAdvance),
                                int(streams.size())),
                ports);
}

/// Those of the commands; a routine finds its own (rehearse).
Status CudaDevice::findKernels() {
  for (const WeftProgram &program : programsOf(executable))
    for (const WeftCommand &command : commandsOf(program)) {
      if (command.kernel)
        return internalError("expects kernels of a device, but got the kernel ",
                             inQuotes(command.name), " of the CPU");
      if (!command.deviceKernel || kernels.count(command.deviceKernel))
        continue;
      auto function = images->find(command.deviceKernel->name);
      if (!function)
        return function.takeError();
      kernels[command.deviceKernel] = *function;
    }
  return Status::success();
}

/// The driver must load the machine code of the program.
static Status checkDriver(const WeftExecutable &executable,
                          const std::string &code, int version) {
  const int least = leastDriver(executable, code);
  if (version >= least)
    return Status::success();
  return deviceError("expects an NVIDIA driver for CUDA ",
                     cudaVersionText(least),
                     ", which the machine code of the program needs, but got "
                     "one for CUDA ",
                     cudaVersionText(version))
      .hint("install driver " + driverText(least) +
            " or later, or compile the program with a CUDA 12 toolkit "
            "(WEFT_CUDA_HOME)");
}

Expected<std::shared_ptr<CudaDevice>>
CudaDevice::open(const CudaDriver &driver, const WeftExecutable &executable,
                 const DeviceOptions &options) {
  std::shared_ptr<CudaDevice> made(new CudaDevice(driver, executable, options));
  made->constants = CudaConstants(executable);
  made->regions = CudaRegions(executable);
  made->allBytes =
      made->constants.bytes().empty()
          ? executable.arenaBytes
          : made->constantsOffset() + int64_t(made->constants.bytes().size());
  if (Status s = initialize(made->cuda); !s)
    return s.takeError();
  int driverVersion = 0;
  if (Status s = made->cuda.cuDriverGetVersion(&driverVersion); !s)
    return s.takeError();
  if (Status s = made->choose(); !s)
    return s.takeError();
  if (Status s = made->bindCpus(); !s)
    return s.takeError();
  made->known = {{"gpu", made->chip.device},
                 {"multiprocessors", std::to_string(made->multiprocessors)},
                 {"driver", "for CUDA " + cudaVersionText(driverVersion)}};
  auto code = chooseChip(executable, made->chip);
  if (!code)
    return code.takeError();
  if (Status s = checkDriver(executable, *code, driverVersion); !s)
    return s.takeError();
  if (Status s = made->enter(); !s)
    return s.takeError();
  if (Status s = made->checkMemory(); !s)
    return s.takeError();
  auto images = CudaImages::load(made->cuda, executable, *code, made->chip);
  // Some code of an older chip runs on that chip alone.
  if (!images && images.error().code() != ExitCode::DoesNotFit)
    return images.takeError().hint(
        *code == made->chip.name()
            ? "is the NVIDIA driver " +
                  driverText(leastDriver(executable, *code)) + " or later?"
            : compileHint(made->chip));
  if (!images)
    return images.takeError();
  made->images.emplace(std::move(*images));
  if (Status s = made->findKernels(); !s)
    return s.takeError();
  if (Status s = made->makeQueues(); !s)
    return s.takeError();
  if (Status s = made->allocate(); !s)
    return s.takeError();
  return made;
}

/// Unmapping the arena does not wait for the device. Graphs hold communicators.
/// The ranks cannot meet any more, so nothing is reported.
CudaDevice::~CudaDevice() {
  (void)waitForStreams();
  recordings.clear();
  watch.reset();
  ranks.reset();
}

std::string CudaDevice::describe() const {
  return chip.device + " (" + chip.name() + ")";
}

Settings CudaDevice::facts() const {
  Settings all = known;
  all.insert(all.end(), attentionFacts.begin(), attentionFacts.end());
  return all;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status CudaDevice::copyIn(int64_t offset, const void *data, int64_t bytes) {
  return transfers->copyIn(stream(), arena.get() + CUdeviceptr(offset), data,
                           bytes);
}

Status CudaDevice::copyOut(void *data, int64_t offset, int64_t bytes) {
  return transfers->copyOut(stream(), data, arena.get() + CUdeviceptr(offset),
                            bytes);
}

Status CudaDevice::zero(int64_t offset, int64_t bytes) {
  char *begin = static_cast<char *>(arenaAddress()) + offset;
  if (Status s = fill(begin, 0, bytes); !s)
    return s;
  return cuda.cuStreamSynchronize(stream());
}

char *CudaDevice::inputBytes(const WeftPort &port) {
  return ports->input(port);
}

const char *CudaDevice::outputBytes(const WeftPort &port) {
  return ports->output(port);
}

Status CudaDevice::waitForStreams() {
  Status first;
  for (const CudaStream &each : streams)
    if (Status s = cuda.cuStreamSynchronize(each.get()); !s && first)
      first = std::move(s);
  return first;
}

Status CudaDevice::synchronize() {
  Status waited = waitForStreams();
  return watch ? watch->explain(std::move(waited)) : std::move(waited);
}
