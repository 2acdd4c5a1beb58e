//===- CudaDevice.h - A CUDA device of this machine -------------*- C++ -*-===//
//
// The device gives commands of a program to their streams in order. When a
// region of commands (CudaRegions.h) runs again with the same flags, the device
// records it as a graph over all of its streams, and launches that graph from
// then on. Both ways run the same commands, so their results are equal bitwise.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDADEVICE_H
#define WEFT_RUNTIME_DEVICES_CUDADEVICE_H

#include "weft/Abi/TransferRecords.h"
#include "weft/Runtime/Devices/CudaAttention.h"
#include "weft/Runtime/Devices/CudaImages.h"
#include "weft/Runtime/Devices/CudaPorts.h"
#include "weft/Runtime/Devices/CudaRegions.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/DeviceRanks.h"
#include "weft/Runtime/Devices/DeviceWatch.h"
#include "weft/Runtime/Execute/RankMeetings.h"

#include <map>
#include <mutex>
#include <optional>

namespace weft {

struct DeviceExchange;
struct LaunchShape;

/// An input that routines asked for while commands were launched, and its
/// value. A recording is valid only for the same values.
struct CudaFlag {
  int64_t offset;
  float value;
};

class CudaDevice final : public Device {
public:
  /// Success if the driver and all libraries that the commands of the program
  /// and its ranks call are on this machine; exit 9 with the missing ones.
  static Status findLibraries(const WeftExecutable &executable,
                              const DeviceOptions &options);
  /// Checks the tuning file without a device: exit 3 if it is not a tuning
  /// file.
  static Status checkTuning(const DeviceOptions &options);
  /// Opens the device of this rank with the images of the program and memory
  /// for it. Exit 9 if the device is unsuitable, 4 if the program does not fit.
  static Expected<std::shared_ptr<CudaDevice>>
  open(const CudaDriver &driver, const WeftExecutable &executable,
       const DeviceOptions &options);

  ~CudaDevice() override;

  std::string describe() const override;
  Settings facts() const override;
  std::string optionalLibrary() const override {
    return attention.hasChoice() ? "cuDNN" : "";
  }
  std::string libraryRefusal(WeftContext &context) const override;
  void forgoLibrary(WeftContext &context, const std::string &reason) override;
  std::string describeTuning(WeftContext &context) const override;
  Expected<std::string> findAlgorithms(WeftContext &context) override;
  Status useAlgorithms(WeftContext &context, const std::string &text) override;
  Json observations() const override;
  int64_t peakBytes() const override { return allBytes; }
  char *hostView() const override { return nullptr; }
  Status copyIn(int64_t offset, const void *data, int64_t bytes) override;
  Status copyOut(void *data, int64_t offset, int64_t bytes) override;
  Status zero(int64_t offset, int64_t bytes) override;
  char *inputBytes(const WeftPort &port) override;
  const char *outputBytes(const WeftPort &port) override;
  int runsInAdvance() const override { return options.runsInAdvance; }
  int runsInFlight() const override { return ports->inFlight(); }
  bool start(WeftContext &context, const WeftProgram &program) override;
  bool finish(WeftContext &context) override;
  void warmUp(WeftContext &,
              const std::vector<const WeftProgram *> &) override {}
  Status synchronize() override;
  Status join(std::shared_ptr<RankMeetings> ranks) override;
  Expected<int64_t> tune(WeftContext &context,
                         const std::string &path) override;

  /// Opens the libraries of the program and lets them plan all of their
  /// commands, so that errors in commands are found before data is read.
  Status planLibraries(WeftContext &context);

  void *arenaAddress() const { return reinterpret_cast<void *>(arena.get()); }

  //===- For the routines of commands (Launch.h) --------------------------===//

  /// The stream of the running command; stream 0 between commands.
  CUstream stream() const { return streams[currentStream].get(); }
  const CudaChip &chipOf() const { return chip; }
  Status launch(const char *name, const LaunchShape &shape, void **arguments);
  Status copy(void *to, const void *from, int64_t bytes);
  Status fill(void *to, unsigned char byte, int64_t bytes);
  std::optional<float> flagAt(const void *address);
  Expected<RankMeetings::Place> placeIn(const WeftRankGroup &among) const;
  Status exchange(const WeftCommand &command, const DeviceExchange &wanted);
  bool canReduce() const { return options.ranksAreProcesses; }
  Status reduce(const WeftCommand &command, const DeviceReduction &wanted);
  /// The device address of a constant, by the record of a command that writes
  /// it.
  const void *constantAt(const void *record) const {
    return static_cast<char *>(arenaAddress()) + constantsOffset() +
           constants.offsetOf(record);
  }
  /// Milliseconds of the work that a function submits to the stream.
  Expected<float> time(const std::function<void()> &work);

private:
  /// Consecutive commands of one program, and their buffers.
  struct Commands {
    const WeftProgram &program;
    int32_t begin, end;
    void *const *buffers;

    int32_t countBuffers() const;
  };
  /// A region with certain flags: a graph from its second run on. With several
  /// ranks the leader owns the graph.
  struct Recording {
    std::vector<CudaFlag> flags;
    bool isRecorded;
    CudaGraphExec graph;
  };
  /// Events of a group of ranks in a stream: this rank's pieces are ready; this
  /// rank has read its peers' pieces.
  struct ExchangeEvents {
    CudaEvent ready, done;
  };
  /// The handles of an event of the plan: one is recorded and waited for by
  /// streams and by nodes of graphs, the other is an edge while a stream is
  /// captured.
  struct EventPair {
    CudaEvent event, edge;
  };

  /// Bytes of the device.
  struct MemoryUse {
    size_t total = 0;
    size_t before = 0; // of the context and other programs, at the first look
    size_t own = 0;    // of this program, without its arena
    size_t free = 0;   // at the last look
  };

  CudaDevice(const CudaDriver &driver, const WeftExecutable &executable,
             const DeviceOptions &options)
      : cuda(driver), executable(executable), options(options),
        attention(executable) {}
  Status openProducts(WeftContext &context);
  Status planCommands(WeftContext &context);
  void rehearse(WeftContext &context, WeftLibraryFn routine,
                const WeftProgram &program, const WeftCommand &command,
                void *const *buffers);
  int deviceNumber(int count) const;
  Status choose();
  Status bindCpus();
  Status enter();

  // CudaArena.cpp
  /// `isOwn`: memory allocated since the last look belongs to this program.
  Status measureMemory(bool isOwn);
  std::string describeMemory() const;
  /// The error that memory does not suffice, with numbers and a hint.
  Error tooLittle(const std::string &what) const;
  Error withoutMemoryForRanks(Error error);
  Status checkMemory() const;
  /// Bytes for this rank and for the ranks of the process that open later.
  int64_t neededBytes() const { return allBytes * options.ranksOfProcess; }
  int64_t constantsOffset() const;
  Status allocateArena();

  Status allocate();
  Status findKernels();

  Status makeStreams(const std::vector<bool> &isUrgent);
  Status makeQueues();
  Status makeEvents(int64_t count);

  Status waitForStreams();

  // CudaRun.cpp
  /// The error with the name of its command in front.
  static Error inCommand(Error error, const WeftCommand &command);
  Status runEvent(const WeftCommand &command, const WeftTransferRecord &record);
  Status transfer(const WeftCommand &command);
  Status launchCommand(WeftContext &context, const WeftCommand &command,
                       void *const *buffers);
  Status launchInStream(WeftContext &context, const WeftCommand &command,
                        void *const *buffers);
  Status launchAll(WeftContext &context, const Commands &commands);
  Status launchProgram(WeftContext &context, const WeftProgram &program);
  Status startProgram(WeftContext &context, const WeftProgram &program);
  bool leave(WeftContext &context, Status status);

  // CudaJoin.cpp
  std::vector<const WeftReduceScatterRecord *> reductions() const;
  Status warnOfMachines();
  DeviceRanksOptions ranksOptions() const;
  Status checkDevices();
  Status checkGather(const DeviceRanksOptions &wanted) const;
  Status shareCpus();
  Status connectRanks();
  Status joinProcesses();

  // CudaLaunch.cpp
  Expected<ExchangeEvents *> exchangeEventsOf(int64_t group);
  Status waitForAll(const std::vector<CUevent> &all);

  // CudaRecord.cpp
  bool hasPeers() const {
    return options.ranks > 1 && !options.ranksAreProcesses;
  }
  static std::mutex &captureMutex();
  /// RankMeetings::gather() without the turn of a capture.
  template <typename T>
  Expected<std::vector<T>> meet(int64_t group, const T &own,
                                const std::string &title) {
    const bool hasTurn = captureTurn.owns_lock();
    if (hasTurn)
      captureTurn.unlock();
    auto all = meetings->gather(group, own, title);
    if (hasTurn)
      captureTurn.lock();
    return all;
  }
  bool isLeader() const;
  Status meetRanks(const char *title);
  Status forkToRanks(const char *title);
  Status joinFromRanks(const char *title);
  Status captureEvent(const WeftCommand &command,
                      const WeftTransferRecord &record);
  Status forkTo(const std::vector<int64_t> &sideStreams);
  Status joinFrom(const std::vector<int64_t> &sideStreams);
  Status capture(WeftContext &context, const Commands &commands,
                 const CudaRegion &region);
  Status endCapture(Status captured, Recording &recording);
  Status record(WeftContext &context, const Commands &commands,
                const CudaRegion &region, Recording &recording);
  Recording *findRecording(const Commands &commands);
  Status launchGraph(const Recording &recording, const CudaRegion &region);
  Status launchRegion(WeftContext &context, const Commands &commands,
                      const CudaRegion &region);

  // CudaRun.cpp: watched runs
  Status launchWatched(WeftContext &context, const WeftProgram &program);
  Status runWatched(WeftContext &context, const Commands &command);

  CudaCalls cuda;
  const WeftExecutable &executable;
  DeviceOptions options;
  CudaChip chip;
  CUdevice device = 0;
  int multiprocessors = 0;
  Settings known; // for facts()
  CudaAttention attention;
  Settings attentionFacts;
  MemoryUse memory;
  std::string cpus;        // of ranks that are processes, for observations()
  CudaConstants constants; // behind the arena
  int64_t allBytes = 0;
  // In the order in which they are made; given back in the other one.
  CudaPrimaryContext context;
  CudaArena arena;
  std::vector<CudaStream> streams; // the first one computes
  bool hasUrgentStreams = false;
  std::vector<EventPair> events;
  CudaEvent fork, joined;       // of launches that use several streams
  std::vector<CudaEvent> joins; // by stream
  std::optional<CudaTransfers> transfers;
  std::optional<CudaPorts> ports;
  std::optional<CudaImages> images;
  std::unordered_map<const WeftDeviceKernel *, CUfunction> kernels;
  /// By the first of the commands.
  std::unordered_map<const WeftCommand *, std::vector<Recording>> recordings;
  std::shared_ptr<RankMeetings> meetings; // null until the ranks are joined
  std::map<std::pair<int64_t, size_t>, ExchangeEvents> exchanges;
  // Of processes, when they are joined.
  std::unique_ptr<DeviceRanks> ranks;
  std::unique_ptr<DeviceWatch> watch;
  CudaRegions regions;
  size_t currentStream = 0;
  bool captures = false; // streams become a graph
  bool isInPeersCapture = false;
  std::unique_lock<std::mutex> captureTurn{captureMutex(), std::defer_lock};
  bool rehearses = false;               // routines launch nothing
  const WeftProgram *current = nullptr; // in this run
  std::vector<CudaFlag> flags;          // that its commands asked for
  CudaRanges ranges;                    // for a profiler
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDADEVICE_H
