//===- NcclObjects.h - Objects of the emulated NCCL -------------*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_NCCLOBJECTS_H
#define WEFT_TEST_EMULATION_NCCLOBJECTS_H

#include "NcclMesh.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

struct Window {
  const void *begin;
  size_t bytes;
  bool isSymmetric = false;
};

/// Settings that ranks agree on when they meet.
struct Settled {
  int channels = 2;
  bool isBlocking = true;
  int policy = NCCL_CTA_POLICY_DEFAULT;
};

struct Communicator {
  int rank = 0, size = 0;
  Settled settled;
  std::shared_ptr<Stop> stop = std::make_shared<Stop>();

  /// Of `mesh`: held while frames move.
  std::mutex meshMutex;
  std::unique_ptr<Mesh> mesh;

  /// Of everything below.
  std::mutex mutex;
  std::condition_variable changed;
  /// A job works, perhaps in another thread.
  bool isWorking = false;
  /// Without blocking: ncclCommGetAsyncError has not given ncclSuccess since
  /// the last call that returned ncclInProgress.
  bool isUnseen = false;
  bool isFinalized = false;
  bool hasIssued = false; // any operation
  Failure failure;
  /// The call after which it may not be used, or null.
  const char *endedBy = nullptr;
  /// The thread whose calls and open groups use it, and how many these are.
  std::thread::id user;
  int numUses = 0;
  int numRunning = 0; // operations at work
  int numIssued = 0;  // operations that wait in streams, outside of graphs
  uint64_t numCollectives = 0; // that have run
  std::map<Window *, std::unique_ptr<Window>> windows;
  size_t memoryBytes = 0; // of the device, for its channels
};
using CommunicatorRef = std::shared_ptr<Communicator>;

/// Makes a handle; its communicator lives as long as the process, so that a use
/// after its end is seen.
ncclComm_t addCommunicator(CommunicatorRef communicator);
/// Null if there is no such handle.
CommunicatorRef findCommunicator(ncclComm_t handle);

/// Notes the first asynchronous error of a communicator and prints its text,
/// unless the communicator was aborted.
void setFailure(Communicator &communicator, const Failure &failure);
/// Takes the device memory of its channels: WEFT_EMULATION_NCCL_MEMORY bytes.
Failure takeMemory(Communicator &communicator);
/// Ends a communicator, after `call` has made sure that nothing works with it.
void endCommunicator(Communicator &communicator, const char *call);

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

const char *errorName(ncclResult_t result);
/// Prints why a call fails and keeps the text for ncclGetLastError.
ncclResult_t refuse(ncclResult_t result, const std::string &text);
/// The text of the last call that was refused.
std::string lastText();

/// The error that WEFT_EMULATION_NCCL_FAIL injects into this call.
std::optional<ncclResult_t> injectedFault(const char *entry);

/// Why something that all ranks wait for may not start now: operations that
/// have not run.
Failure findIssued(Communicator &communicator);

/// A function of the emulated driver, which has to be there.
void *needFromDriver(const char *name);

/// A call with a communicator. No other thread may be in one at the same time.
class Call {
public:
  Call(const char *entry, ncclComm_t handle, bool mayBeFinalized = false);
  ~Call();
  /// ncclSuccess if the communicator may be used.
  ncclResult_t error = ncclSuccess;
  CommunicatorRef communicator;

private:
  ncclResult_t begin(const char *entry, ncclComm_t handle, bool mayBeFinalized);
};

/// Makes this thread the only one that may use a communicator, until as many
/// calls of `release`; false if another one is.
bool hold(Communicator &communicator);
void release(Communicator &communicator);
/// Why a communicator that is unready, failed or ended may not be used.
Failure findUnusable(const Communicator &communicator, bool mayBeFinalized);

template <typename Fn> Fn driverFunction(const char *name) {
  return reinterpret_cast<Fn>(needFromDriver(name));
}

/// Whether a group is open in this thread.
bool isInGroup();
/// An error if `entry` is called in a group or while a stream captures.
ncclResult_t refuseInGroupOrCapture(const char *entry);

/// Does a job of `communicator`, in another thread if it does not block, and
/// notes its failure. `others` are communicators that are made by it.
ncclResult_t startJob(const char *entry, const CommunicatorRef &communicator,
                      const std::vector<CommunicatorRef> &others,
                      bool isBlocking, std::function<Failure()> job);

//===----------------------------------------------------------------------===//
// Ranks that meet
//===----------------------------------------------------------------------===//

/// The identity of a rank.
struct Hello {
  int32_t rank = 0, size = 0, channels = 0, version = 0;
  unsigned char uuid[16] = {};
  char address[40] = {}; // where its peers connect
};

/// A listening socket in the abstract namespace of Unix sockets.
class Listener {
public:
  Listener();
  const std::string &address() const { return name; }
  int descriptor() const { return socket.get(); }
  /// Null if nobody waits for a connection.
  std::unique_ptr<Connection> accept();

private:
  Socket socket;
  std::string name;
};

/// Makes an id, whose listener belongs to this process.
ncclUniqueId makeId();
/// Rank 0: the listener of an id, once; null if this process has not made it.
std::unique_ptr<Listener> takeListener(const ncclUniqueId &id);
/// Whether it comes from `makeId`.
bool isId(const ncclUniqueId &id);

/// Meets the other ranks of an id, rank 0 at its listener; sets `mesh` and the
/// number of channels.
Failure meet(Communicator &communicator, const ncclUniqueId &id,
             Listener *listener, const Hello &own);
/// Connects ranks that know the addresses of all of them.
Failure connectRanks(Communicator &communicator, Listener &listener,
                     const std::vector<std::string> &addresses,
                     const Stops &stops,
                     std::vector<std::unique_ptr<Connection>> known);

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

enum class Kind : int32_t {
  AllGather,
  ReduceScatter,
  AllReduce,
  AlltoAll,
  Broadcast,
  Send,
  Receive
};

/// One call, by value: it runs later.
struct Operation {
  Kind kind = Kind::AllGather;
  const void *from = nullptr;
  void *to = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  int peer = 0;        // the root of a broadcast
  uint64_t number = 0; // of the communicator's collectives

  size_t bytes() const;
};

/// Why a call may not be made, whatever the other ranks call.
Failure checkOperation(const Communicator &communicator,
                       const Operation &operation);
/// Bytes that are read and written.
size_t bytesRead(const Operation &operation, int rank, int size);
size_t bytesWritten(const Operation &operation, int size);

size_t bytesOf(ncclDataType_t type);
inline bool isTransfer(Kind kind) {
  return kind == Kind::Send || kind == Kind::Receive;
}
inline bool isReduction(Kind kind) {
  return kind == Kind::ReduceScatter || kind == Kind::AllReduce;
}
const char *entryOf(Kind kind);
std::string describe(const Operation &operation);

/// Runs a group, in the thread that does the work of streams.
void runGroup(Communicator &communicator,
              const std::vector<Operation> &operations);
/// The collectives and the transfers of a group.
Failure runCollective(Communicator &communicator, const Operation &operation);
Failure runTransfers(Communicator &communicator,
                     const std::vector<Operation> &operations);

/// Adds up `count` elements around a ring. `inputs` has a pointer to the first
/// one of each rank. `first` is its number among the `total` elements of the
/// operation: chunks of these decide at which rank a sum begins.
void reduce(const Operation &operation, int channels,
            const std::vector<const char *> &inputs, void *result, size_t first,
            size_t count, size_t total);

/// Counts an operation that runs; whether it never completes on this rank.
bool isEndless(Kind kind);
/// Counts an operation that has run; the asynchronous error it ends with.
std::optional<ncclResult_t> injectedAsyncError();
/// Whether this rank never takes part in a call.
bool isAbsent(const char *entry);
/// The rank of the first communicator, for faults of one rank.
void setFirstRank(int rank);

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_NCCLOBJECTS_H
