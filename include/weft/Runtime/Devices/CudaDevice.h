//===- CudaDevice.h - A CUDA device of this machine -------------*- C++ -*-===//
//
// Commands of a program are given to one stream in their order. A run of a
// program that repeats an earlier one is recorded as a graph and launched as a
// whole from then on; the commands of both are the same, and so are the bits.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDADEVICE_H
#define WEFT_RUNTIME_DEVICES_CUDADEVICE_H

#include "weft/Runtime/Devices/CudaImages.h"
#include "weft/Runtime/Devices/CudaPorts.h"
#include "weft/Runtime/Devices/CudaTransfers.h"
#include "weft/Runtime/Devices/Device.h"

#include <optional>

namespace weft {

struct LaunchShape;

/// An input that routines asked for while commands were given to the device,
/// and what it held: a recording holds for the same values alone.
struct CudaFlag {
  int64_t offset;
  float value;
};

class CudaDevice final : public Device {
public:
  /// The first device that the driver shows, with the images of the program and
  /// memory for it. Exit 9 if it will not do, 4 if the program does not fit.
  static Expected<std::shared_ptr<CudaDevice>>
  open(const CudaDriver &driver, const WeftExecutable &executable,
       const DeviceOptions &options);

  ~CudaDevice() override;

  std::string describe() const override;
  Settings facts() const override { return known; }
  int64_t peakBytes() const override { return allBytes; }
  char *hostView() const override { return nullptr; }
  Status copyIn(int64_t offset, const void *data, int64_t bytes) override;
  Status copyOut(void *data, int64_t offset, int64_t bytes) override;
  Status zero(int64_t offset, int64_t bytes) override;
  char *inputBytes(const WeftPort &port) override;
  const char *outputBytes(const WeftPort &port) override;
  int runsAhead() const override { return options.runsAhead; }
  int runsUnderWay() const override { return ports->underWay(); }
  bool start(WeftContext &context, const WeftProgram &program) override;
  bool finish(WeftContext &context) override;
  void warmUp(WeftContext &,
              std::initializer_list<const WeftProgram *>) override {}
  Status synchronize() override;
  Expected<int64_t> tune(WeftContext &context,
                         const std::string &path) override;

  /// Tells the libraries of its program how their commands run, and has them
  /// plan all of them: what is wrong with one is an error before data is read.
  Status planLibraries(WeftContext &context);

  void *arenaAddress() const { return reinterpret_cast<void *>(arena.get()); }

  //===- For the routines of commands (Launch.h) --------------------------===//

  CUstream stream() const { return compute.get(); }
  const CudaChip &chipOf() const { return chip; }
  Status launch(const char *name, const LaunchShape &shape, void **arguments);
  Status copy(void *to, const void *from, int64_t bytes);
  Status fill(void *to, unsigned char byte, int64_t bytes);
  std::optional<float> flagAt(const void *address);
  /// Milliseconds of the work that a function gives to the stream.
  Expected<float> time(const std::function<void()> &work);

private:
  /// A run of a program with certain flags: a graph from its second time on.
  struct Recording {
    std::vector<CudaFlag> flags;
    CudaGraphExec graph;
  };

  CudaDevice(const CudaDriver &driver, const WeftExecutable &executable,
             const DeviceOptions &options)
      : cuda(driver), executable(executable), options(options) {}
  Status openProducts(WeftContext &context);
  Status choose();
  Status enter();
  Status checkMemory() const;
  Status allocate();
  Status findKernels();

  // CudaRun.cpp
  Status launchCommand(WeftContext &context, const WeftCommand &command,
                       void *const *buffers);
  Status launchAll(WeftContext &context, const WeftProgram &program);
  Status launchWatched(WeftContext &context, const WeftProgram &program);
  Status report(WeftContext &context, const WeftProgram &program,
                const std::vector<CudaEvent> &events, int64_t startNs);
  Status launchProgram(WeftContext &context, const WeftProgram &program);
  Status record(WeftContext &context, const WeftProgram &program,
                Recording &recording);
  Recording *findRecording(const WeftProgram &program);
  Status startProgram(WeftContext &context, const WeftProgram &program);
  bool leave(WeftContext &context, Status status);

  CudaCalls cuda;
  const WeftExecutable &executable;
  DeviceOptions options;
  CudaChip chip;
  CUdevice device = 0;
  int multiprocessors = 0;
  Settings known; // for facts()
  int64_t allBytes = 0;
  // In the order in which they are made; given back in the other one.
  CudaPrimaryContext context;
  CudaMemory arena;
  CudaStream compute;
  std::optional<CudaTransfers> transfers;
  std::optional<CudaPorts> ports;
  std::optional<CudaImages> images;
  std::unordered_map<const WeftDeviceKernel *, CUfunction> kernels;
  std::unordered_map<const WeftProgram *, std::vector<Recording>> recordings;
  const WeftProgram *current = nullptr; // in this run
  std::vector<CudaFlag> flags;          // that it was asked for
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDADEVICE_H
