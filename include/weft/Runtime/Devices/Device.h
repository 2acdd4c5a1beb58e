//===- Device.h - Where memory is and commands run --------------*- C++ -*-===//
//
// A context has one device: the host, whose memory the runtime sees, or an
// accelerator with memory of its own. All that the runtime does with the bytes
// of tensors goes through the functions here and those of ArenaBytes.h, so that
// it knows no kind of device by name. Which kind a program has is decided when
// it is linked: the library of its target defines openDevice() and the two
// functions beside it.
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
  /// What the bits of a run depend on beside the program, by name: none on the
  /// host, for which the program says it.
  virtual Settings facts() const { return {}; }
  /// Measurements and decisions at the start of the device, an object: no bit
  /// of a run depends on them.
  virtual Json observations() const { return Json::object(); }
  /// The most memory that it has held at once for this program.
  virtual int64_t peakBytes() const = 0;

  //===- Memory -----------------------------------------------------------===//

  /// The arena, if code of the host may read and write it in place, else null.
  virtual char *hostView() const = 0;
  /// Each waits for what the device was given to do before, and returns when
  /// the bytes have arrived. Runs that are under way stay so: they are done,
  /// and finish() still gives what they wrote.
  virtual Status copyIn(int64_t offset, const void *data, int64_t bytes) = 0;
  virtual Status copyOut(void *data, int64_t offset, int64_t bytes) = 0;
  virtual Status zero(int64_t offset, int64_t bytes) = 0;

  /// Memory of the host with the bytes of a port. An input is written there
  /// before every run of its program. An output of the run that was finished
  /// last is read there, before the next one is finished.
  virtual char *inputBytes(const WeftPort &port) = 0;
  virtual const char *outputBytes(const WeftPort &port) = 0;

  //===- Programs ---------------------------------------------------------===//

  /// How many runs the device takes ahead of the host: 0 where a run is done
  /// when start() returns.
  virtual int runsInAdvance() const = 0;
  /// Runs that were started and not finished: at most the larger of
  /// runsInAdvance() and 1.
  virtual int runsInFlight() const = 0;
  /// Gives a program to the device and returns: its commands run in order,
  /// behind those of the runs before. Inputs may be written again for the next
  /// run at once. If as many runs as it keeps are under way, the oldest must
  /// have been finished first (an assertion). False after an error, which is
  /// left in the context; nothing is under way then.
  virtual bool start(WeftContext &context, const WeftProgram &program) = 0;
  /// Waits for the oldest run that was started and not finished, and there must
  /// be one (an assertion): then outputBytes() gives what it wrote, until the
  /// next finish(). Errors as start().
  virtual bool finish(WeftContext &context) = 0;
  /// finish() of all that is under way, then start() and finish(): for what
  /// wants results at once.
  bool run(WeftContext &context, const WeftProgram &program);
  /// Does ahead what only the first run of the programs has to do. Changes no
  /// number, and leaves errors to the run itself.
  virtual void warmUp(WeftContext &context,
                      const std::vector<const WeftProgram *> &programs) = 0;
  /// Measures the algorithms of the library products of a program and writes
  /// the fastest ones to the file `path`, for DeviceOptions::tuning: how many.
  /// The context has done nothing else, and its tensors are lost. A usage error
  /// where there is nothing to measure.
  virtual Expected<int64_t> tune(WeftContext &context, const std::string &path);
  /// Waits for everything that it was given to do.
  virtual Status synchronize() = 0;
  /// Gives the device the meetings of its ranks. A device whose memory the host
  /// sees ignores them: its collectives run on the host.
  virtual Status join(std::shared_ptr<RankMeetings>) {
    return Status::success();
  }
};

/// The hardware that gathers parameters from devices of processes.
enum class GatherBy { Auto, Kernels, CopyEngines };

/// What a run asks of the device it is on.
struct DeviceOptions : ContextOptions {
  /// Steps may be recorded once and launched as a whole.
  bool graphs = true;
  /// Runs that a device which works by itself takes ahead of the host. With 5
  /// the host has given it the update of a step, and the first count of targets
  /// and the first micro-step of the next one, before it waits for anything of
  /// that step.
  int runsInAdvance = 5;
  /// Nothing will run and no byte of memory is needed: a machine without the
  /// device will do.
  bool onlyDescribes = false;
  /// Ranks with as much memory that this process is to have yet, this one among
  /// them, and those of the machine.
  int ranksOfProcess = 1, ranksOfMachine = 1;
  /// The ranks of the run are processes with one device each. `localRank` is
  /// this rank's number on its machine. Ranks wait `timeout` seconds for each
  /// other.
  bool ranksAreProcesses = false;
  int localRank = 0;
  double timeout = 60;
  GatherBy gather = GatherBy::Auto;
  /// CTAs that collectives of processes may use; 0: as many as the library
  /// likes. Products leave as many processors to them.
  int64_t collectiveCtas = 0;
  /// f32 products may round their factors to TF32.
  bool tf32 = false;
  /// A file with measured algorithms of library products, or "".
  std::string tuning;
};

//===- Of the library of the program's target
//------------------------------===//

/// A context for `executable`, which must outlive it, on a device of this
/// machine. Exit 4 if the program does not fit, 9 if the device will not do.
Expected<std::unique_ptr<WeftContext>>
openDevice(const WeftExecutable &executable, const DeviceOptions &options);

/// The first and the last thing that a process does: what the libraries of the
/// target need of it. The first may start the program again.
void enterProcess(char **argv);
void leaveProcess();

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_DEVICE_H
