//===- Driver.h - A CUDA driver without a device ----------------*- C++ -*-===//
//
// libcuda.so.1 of the emulated device: the entry points that the run time for
// CUDA calls, with the rules of the real ones. Its environment:
//   WEFT_EMULATION_CHIP    the device: sm_80, sm_90 (the default), sm_100
//   WEFT_EMULATION_NAME    its name
//   WEFT_EMULATION_UUID    a number from which its UUID is made: LOCAL_RANK if
//                          that is set, otherwise 0
//   WEFT_EMULATION_PCI     its PCI bus id: 0000:00:00.0
//   WEFT_EMULATION_PROCESSORS  how many multiprocessors it has
//   WEFT_EMULATION_SHARED  bytes of shared memory that a block may have
//   WEFT_EMULATION_MEMORY  its memory in bytes
//   WEFT_EMULATION_OTHERS  how many of them other processes hold
//   WEFT_EMULATION_GRANULARITY  bytes that mapped memory is made in; 256 (2 MiB
//                          of real devices would hide reads behind its end)
//   WEFT_EMULATION_MULTICAST  bytes that multicast objects are made in; 0, the
//                          default: the device has no multicast
//   WEFT_EMULATION_FABRIC  1: memory may be exported as fabric handles
//   WEFT_EMULATION_CONTEXT bytes of memory that the context takes
//   WEFT_EMULATION_SEED    the order of streams, blocks and threads; 0 is plain
//   WEFT_EMULATION_FAIL    calls that fail, with commas: ENTRY:N:ERROR, the Nth
//                          call of an entry, counted from 1; a name or a number
//   WEFT_TWINS             libraries of twins, with colons
//   CUDA_VISIBLE_DEVICES   as for the real one: the device is number 0
// Any other value ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_DRIVER_H
#define WEFT_TEST_EMULATION_DRIVER_H

#include "Block.h"
#include "Queue.h"

#include <cuda.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// State that an entry point requires before a call.
enum class Needs { Nothing, Init, Context };

std::recursive_mutex &driverMutex();
/// The error that a call of `entry` has to give at once, or CUDA_SUCCESS.
CUresult enter(const char *entry, Needs needs);
/// Says on standard error why a call fails.
CUresult refuse(CUresult error, const std::string &message);

#define WEFT_ENTER(entry, needs)                                               \
  std::lock_guard<std::recursive_mutex> lock(driverMutex());                   \
  if (CUresult error = enter(entry, needs))                                    \
  return error

/// The chip's number: 90.
int chipNumber();
/// The version of CUDA that the driver is of: 13000.
int driverVersion();
/// Bytes of shared memory that a block may ask for.
int sharedBytesOfBlock();
uint64_t chosenSeed();
/// Bytes that multicast objects are made in; 0 without multicast.
size_t multicastUnit();
bool hasFabric();

/// Handles that a program has got and not given back.
template <typename T> class Handles {
public:
  T *make() {
    T *made = new T;
    alive.insert(made);
    return made;
  }
  bool has(const void *handle) const {
    return alive.count(static_cast<T *>(const_cast<void *>(handle)));
  }
  void remove(T *handle) {
    alive.erase(handle);
    delete handle;
  }
  const std::set<T *> &all() const { return alive; }

private:
  std::set<T *> alive;
};

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// Makes the work of one run: called when it is enqueued, its result when it is
/// done.
using Prepare = std::function<std::function<void()>()>;

struct Event;

/// A node of a graph: work, or an external event that it records or waits for.
struct GraphNode {
  Prepare prepare;
  std::vector<size_t> after;
  Event *records = nullptr, *waits = nullptr;
  int priority = 0; // of the stream that it was captured in
};

struct Graph {
  std::vector<GraphNode> nodes;
};

struct Stream;

/// A capture: a stream, and the streams that joined it, recorded as a graph.
struct Capture {
  Graph graph;
  Stream *origin;
  bool isInvalid = false, isClosed = false;
};

struct Stream {
  uint64_t number = 0; // of all that were made
  unsigned flags = 0;
  int priority = 0;
  std::vector<OperationRef> last; // what its next operation waits for
  std::shared_ptr<Capture> capture;
  std::vector<size_t> lastNodes; // the same in the captured graph
};

struct Event {
  unsigned flags = 0;
  OperationRef operation;       // null: never recorded
  std::shared_ptr<double> time; // in milliseconds, of `operation`
  std::shared_ptr<Capture> capture;
  std::vector<size_t> nodes;
};

struct GraphExec {
  Graph graph;
  OperationRef last; // of its last launch
};

Handles<Event> &events();
/// The work of an event's record: notes the time in `event.time`.
std::function<void()> recordTime(Event &event);
/// The stream of a handle; null if it is none.
Stream *findStream(CUstream handle);
Handles<Stream> &streams();
/// The one that was made first; null if there is none.
Stream *firstStream();
Queue &queue();

/// Adds work to a stream, or to the graph that it is captured into.
CUresult enqueue(Stream &stream, Prepare prepare);
/// The same for a node of an external event, of a stream that captures.
CUresult enqueueNode(Stream &stream, GraphNode node);
/// Adds work that is the same each time.
CUresult enqueueWork(Stream &stream, std::function<void()> run);
/// Adds work to a stream that does not capture.
OperationRef addOperation(Stream &stream, std::function<void()> run);
/// Does all that a stream waits for; refused in a capture.
CUresult finishStream(Stream &stream);
/// Whether something captures, which `entry` would break: makes that invalid.
CUresult refuseInCapture(const char *entry);

/// Counts the active captures, for `weft_emulation_captures`.
void countCapture(int change);

/// Opens the device's memory while work is done.
void runOnDevice(const std::function<void()> &work);
/// Whether work is done: nothing may call the driver then.
bool isOnDevice();

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

struct Function {
  const WeftTwins *library;
  const WeftTwin *twin;
  int maxDynamicShared = 48 << 10;
};

struct Module {
  const WeftTwins *library;
  /// The kernels of the cubin, where the library has twins of several cubins.
  std::set<std::string> names;
  std::vector<std::unique_ptr<Function>> functions;
};

/// Launches a kernel, if it may be launched so.
CUresult launch(Stream &stream, const Function &function, Grid grid,
                void **arguments);

/// The twins of a cubin; null if WEFT_TWINS has none.
const WeftTwins *findTwins(const void *cubin, size_t bytes);

} // namespace weft::emulation

//===----------------------------------------------------------------------===//
// For other libraries that work on the emulated device
//===----------------------------------------------------------------------===//

extern "C" {
/// Inside of work: lets time pass on the clock of events.
void weft_emulation_spend(double milliseconds);
/// Calls work(data) where the stream gets there; in a capture, each time the
/// graph is launched. `destroy` is called when it cannot run any more.
CUresult weft_emulation_enqueue(CUstream stream, void (*work)(void *),
                                void *data, void (*destroy)(void *));
/// Inside of such work: declares a read or write of the device's memory, which
/// is checked and noted as for a kernel.
void weft_emulation_use(const void *place, size_t bytes, int isWrite,
                        const char *who);
/// The number of active captures. Never waits for work that runs.
int weft_emulation_captures(void);
/// Invalidates the active captures, if `entry` may not be called in one.
CUresult weft_emulation_refuse_in_capture(const char *entry);
/// Whether a stream captures: 0 or 1, or -1 if it is no stream.
int weft_emulation_is_capturing(CUstream stream);
/// Once a rank communicates with other processes: Queue::doOnlyNeeded().
void weft_emulation_do_only_needed();
/// Whether a range is accessible memory of one allocation.
int weft_emulation_has_memory(const void *place, size_t bytes);
/// Whether a range is accessible memory of one mapping of cuMemMap.
int weft_emulation_is_mapped(const void *place, size_t bytes);
/// Whether the memory of that mapping may be exported to other processes.
int weft_emulation_is_exportable(const void *place);
/// Bytes that mapped memory is made in.
size_t weft_emulation_granularity(void);
/// Bytes that multicast objects are made in; 0 without multicast.
size_t weft_emulation_multicast(void);
/// Takes memory that a library has for itself: 0 if there is not that much
/// left. Gives it back, without waiting for work that runs.
int weft_emulation_take_memory(size_t bytes);
void weft_emulation_give_back_memory(size_t bytes);
/// Poisons a part of the only allocation of so many bytes, where the stream
/// that was made first gets to; in a capture, each time the graph is launched.
CUresult weft_emulation_poison(size_t allocation, size_t offset, size_t bytes);
}

#endif // WEFT_TEST_EMULATION_DRIVER_H
