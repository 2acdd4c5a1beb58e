//===- NcclMesh.h - Connections of a communicator ---------------*- C++ -*-===//
//
// One Unix socket for each pair of ranks. Messages are frames: a kind, a size
// and a payload. Everything happens in the thread that waits for something.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_NCCLMESH_H
#define WEFT_TEST_EMULATION_NCCLMESH_H

#include <nccl.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::emulation {

/// An error with its text; no error by default.
struct Failure {
  ncclResult_t result = ncclSuccess;
  std::string text;
  explicit operator bool() const { return result != ncclSuccess; }
};

/// Ends waits in other threads.
class Stop {
public:
  Stop();
  ~Stop();
  Stop(const Stop &) = delete;
  void set();
  bool isSet() const { return isStopped; }
  int descriptor() const { return event; }

private:
  int event;
  std::atomic<bool> isStopped{false};
};
using Stops = std::vector<std::shared_ptr<Stop>>;

bool isAnySet(const Stops &stops);
/// Returns once one of them is set.
void waitForStop(const Stops &stops);

/// An open file descriptor.
class Socket {
public:
  explicit Socket(int descriptor = -1) : descriptor(descriptor) {}
  Socket(Socket &&other) noexcept : descriptor(other.release()) {}
  Socket &operator=(Socket &&other) noexcept;
  ~Socket();
  int get() const { return descriptor; }
  bool isOpen() const { return descriptor >= 0; }
  int release();

private:
  int descriptor;
};

template <typename T> std::string bytesOfValue(const T &value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}
template <typename T> T valueOfBytes(const std::string &bytes) {
  T value = {};
  bytes.copy(reinterpret_cast<char *>(&value), sizeof(value));
  return value;
}

enum class Frame : uint32_t {
  Hello,      // of a new connection
  Answer,     // of rank 0 to a rank that wants to join
  Collective, // a call of a rank
  Send,
  Receive,
  Data,
  Split,
  Window,
  Goodbye, // nothing follows
};

/// One connection, and the frames that have come and that have not left yet.
class Connection {
public:
  explicit Connection(Socket socket) : socket(std::move(socket)) {}

  void post(Frame frame, const void *payload, size_t bytes);
  template <typename T> void post(Frame frame, const T &payload) {
    post(frame, &payload, sizeof(payload));
  }
  bool has(Frame frame) { return !inbox[frame].empty(); }
  const std::string &first(Frame frame) { return inbox[frame].front(); }
  std::string take(Frame frame);
  template <typename T> T takeAs(Frame frame) {
    return valueOfBytes<T>(take(frame));
  }

  /// Payloads of data frames, one behind the other.
  std::string data;

  int descriptor() const { return socket.get(); }
  bool isEnded() const { return hasEnded; }
  bool isFlushed() const { return numSent == outbox.size(); }
  /// Moves what can be moved without waiting.
  void move();

private:
  void read();
  void write();
  void parse();

  Socket socket;
  bool hasEnded = false;
  std::string raw, outbox;
  size_t numSent = 0;
  std::map<Frame, std::deque<std::string>> inbox;
};

/// The call that a frame belongs to, for messages.
const char *callOf(Frame frame);

/// Moves frames of all connections until `step` says that it is done; an error
/// if a connection that is still needed ends, or if a stop is set. `describe`
/// names a connection. `listener` is a socket whose connections `step` accepts,
/// which may add to `connections`.
Failure waitFor(const std::vector<Connection *> &connections,
                const Stops &stops, const std::function<bool()> &step,
                const std::function<std::string(size_t)> &describe,
                int listener = -1);

/// The connections of a rank to its peers.
class Mesh {
public:
  /// `peers` has an entry for each rank, which is null for the rank itself.
  Mesh(int rank, std::vector<std::unique_ptr<Connection>> peers);

  int rank() const { return ownRank; }
  int size() const { return static_cast<int>(peers.size()); }
  Connection &peer(int rank) { return *peers[static_cast<size_t>(rank)]; }
  /// Calls `visit` for each rank but the own one.
  void forPeers(const std::function<void(int)> &visit) const;
  Failure wait(const Stops &stops, const std::function<bool()> &step);
  /// Posts a frame to all peers and takes one of the same kind from each, once
  /// everything posted has left; the own entry of `payloads` is the own one. An
  /// error if a peer has called something else.
  Failure exchange(const Stops &stops, Frame frame, const std::string &payload,
                   std::vector<std::string> &payloads);
  /// The call of a peer, if it is not `frame`.
  std::optional<Frame> findOther(int rank, Frame frame);
  /// Waits until everything posted has left.
  Failure flush(const Stops &stops);
  /// Looks at what has come; an error if a peer is gone.
  Failure look();

private:
  Failure findEnded();

  int ownRank;
  std::vector<std::unique_ptr<Connection>> peers;
};

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_NCCLMESH_H
