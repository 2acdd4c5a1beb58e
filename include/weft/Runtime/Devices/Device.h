//===- Device.h - Memory and execution of programs --------------*- C++ -*-===//
//
// A context has one device: the host, whose memory the runtime can access, or
// an accelerator with its own memory. The runtime accesses the bytes of tensors
// only through the functions here and in Ports.h, so that it knows no kind
// of device by name. The kind is decided when a program is linked: the library
// of its target defines openDevice(), enterProcess() and leaveProcess().
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_DEVICE_H
#define WEFT_RUNTIME_DEVICES_DEVICE_H

#include "weft/Formats/Json.h"
#include "weft/Formats/RunRecord.h"
#include "weft/Runtime/Execute/Context.h"

#include <vector>

namespace weft {

class RankMeetings;

class Device {
public:
  virtual ~Device();

  /// "8 threads", "NVIDIA H200 (sm_90)".
  virtual std::string describe() const = 0;
  /// Facts besides the program that determine the bits of a run, by name. The
  /// host has none: there the program determines them.
  virtual Settings facts() const { return {}; }
  /// Measurements and decisions at the start of the device, as an object.
  virtual Json observations() const { return Json::object(); }

  //===- A library that the program can do without ------------------------===//

  /// The library, if it computes parts of the program that kernels of the
  /// program can compute too, with other last bits; else "".
  virtual std::string optionalLibrary() const { return ""; }
  /// Why this rank cannot use it, or "".
  virtual std::string libraryRefusal(WeftContext &) const { return ""; }
  /// Gives its work to kernels of the program. All ranks do it, or none, before
  /// the first run.
  virtual void forgoLibrary(WeftContext &, const std::string & /*reason*/) {}

  //===- Algorithms that a run measures (--tuning=auto) -------------------===//

  /// The kind of device and library for which measured algorithms are valid, as
  /// text; "" if the program has none.
  virtual std::string describeTuning(WeftContext &) const { return ""; }
  /// The algorithms of all library products, as text for useAlgorithms(). They
  /// come from the cache of this machine, or are measured. Before the state is
  /// loaded, because tensors are lost.
  virtual Expected<std::string> findAlgorithms(WeftContext &context);
  /// Takes the algorithms that rank 0 has found. All ranks do it, or none,
  /// before the first run.
  virtual Status useAlgorithms(WeftContext &context, const std::string &text);

  /// Peak memory for this program, in bytes.
  virtual int64_t peakBytes() const = 0;

  //===- Memory -----------------------------------------------------------===//

  /// The arena, if code of the host may read and write it in place, else null.
  virtual char *hostView() const = 0;
  /// Each waits for earlier work of the device and returns when the bytes have
  /// arrived. Runs in flight are complete then, but stay in flight: finish()
  /// still makes their outputs available.
  virtual Status copyIn(int64_t offset, const void *data, int64_t bytes) = 0;
  virtual Status copyOut(void *data, int64_t offset, int64_t bytes) = 0;
  virtual Status zero(int64_t offset, int64_t bytes) = 0;

  /// Host memory with the bytes of a port. The caller writes an input there
  /// before every run of its program. It reads an output of the last finished
  /// run there, before it finishes the next one.
  virtual char *inputBytes(const WeftPort &port) = 0;
  virtual const char *outputBytes(const WeftPort &port) = 0;

  //===- Programs ---------------------------------------------------------===//

  /// Runs that the host may submit before it waits for one; 0 if a run is done
  /// when start() returns.
  virtual int runsInAdvance() const = 0;
  /// Runs that were started and not finished: at most the larger of
  /// runsInAdvance() and 1.
  virtual int runsInFlight() const = 0;
  /// Submits a program and returns. Its commands run in order, after the
  /// commands of earlier runs. Inputs of the next run may be written at once.
  /// If the maximum of runsInFlight() is reached, the oldest run must be
  /// finished first (an assertion). False after an error, which is left in the
  /// context; no run is in flight then.
  virtual bool start(WeftContext &context, const WeftProgram &program) = 0;
  /// Waits for the oldest run in flight; there must be one (an assertion).
  /// outputBytes() returns its outputs until the next finish(). Errors as
  /// start().
  virtual bool finish(WeftContext &context) = 0;
  /// Finishes all runs in flight, then calls start() and finish(). For callers
  /// that need results at once.
  bool run(WeftContext &context, const WeftProgram &program);
  /// Does the one-time work of the first run of the programs. Changes no
  /// number, and leaves errors to the run itself.
  virtual void warmUp(WeftContext &context,
                      const std::vector<const WeftProgram *> &programs) = 0;
  /// Measures the algorithms of the library products of a program and writes
  /// the fastest ones to the file `path`, for DeviceOptions::tuning. Returns
  /// their number. The context must be unused, and its tensors are lost. A
  /// usage error if there is nothing to measure.
  virtual Expected<int64_t> tune(WeftContext &context, const std::string &path);
  /// Waits for all submitted work.
  virtual Status synchronize() = 0;
  /// Gives the device the meetings of its ranks. A device with host-accessible
  /// memory ignores them: its collectives run on the host.
  virtual Status join(std::shared_ptr<RankMeetings>) {
    return Status::success();
  }
};

/// The hardware that gathers parameters from devices of processes.
enum class GatherBy { Auto, Kernels, CopyEngines };

/// The requirements of a run on its device.
struct DeviceOptions : ContextOptions {
  /// Steps may be recorded once and launched as a whole.
  bool graphs = true;
  /// Runs that the host submits to an asynchronous device before it waits for
  /// one. With 5 it has submitted the update of a step, and the first count of
  /// targets and the first micro-batch of the next one, before it waits for
  /// any result of that step.
  int runsInAdvance = 5;
  /// Nothing will run and no memory is needed, so a machine without the device
  /// suffices.
  bool onlyDescribes = false;
  /// Ranks with as much memory that this process still has to open, including
  /// this one; ranks of the machine.
  int ranksOfProcess = 1, ranksOfMachine = 1;
  /// The ranks of the run are processes with one device each. `localRank` is
  /// this rank's number on its machine. Ranks wait `timeout` seconds for each
  /// other.
  bool ranksAreProcesses = false;
  int localRank = 0;
  double timeout = 60;
  GatherBy gather = GatherBy::Auto;
  /// CTAs that collectives of processes may use; 0: the library decides.
  /// Products leave as many multiprocessors to them.
  int64_t collectiveCtas = 0;
  /// f32 products may round their factors to TF32.
  bool tf32 = false;
  /// A file with measured algorithms of library products, or "". "auto": the
  /// run calls useAlgorithms().
  std::string tuning;
};

//===- Defined by the library of the program's target ---------------------===//

/// A context for `executable`, which must outlive it, on a device of this
/// machine. Exit 4 if the program does not fit, 9 if the device is unsuitable,
/// 70 if its tables are wrong.
Expected<std::unique_ptr<WeftContext>>
openDevice(const WeftExecutable &executable, const DeviceOptions &options);

/// Prepare a process for the libraries of the target, and end it: the first and
/// the last call of a process. enterProcess() may start the program again.
void enterProcess(char **argv);
void leaveProcess();

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_DEVICE_H
