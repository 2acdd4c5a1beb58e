//===- Callers.cpp - Who connects to a rank -------------------------------===//

#include "Callers.h"

#include <algorithm>
#include <poll.h>

using namespace weft;

/// That a connection has to say who it is.
static constexpr std::chrono::seconds kHelloTime(10);
/// Connections that have not said it yet, at most: strangers cannot take all
/// files of the process.
static constexpr size_t kMostPending = 256;

Hello weft::makeHello(Hello::Kind kind, int rank, int ranks,
                      const std::string &key) {
  Hello hello;
  std::memcpy(hello.magic, Hello::kMagic, sizeof hello.magic);
  hello.kind = kind;
  hello.rank = rank;
  hello.ranks = ranks;
  key.copy(hello.key, sizeof hello.key - 1);
  return hello;
}

void Callers::acceptAll() {
  while (pending.size() < kMostPending) {
    Descriptor socket = acceptOne(listener.get());
    if (!socket)
      return;
    pending.push_back(
        {{std::move(socket), {}}, 0, SocketClock::now() + kHelloTime});
  }
}

static void answer(int socket, Acknowledgement::Answer answer) {
  Acknowledgement text;
  std::memcpy(text.magic, Hello::kMagic, sizeof text.magic);
  text.answer = answer;
  (void)sendSome(socket, &text, sizeof text);
}

/// Whether a caller whose hello is complete is of this run. It gets to know the
/// answer if it wants to join one.
bool Callers::isOfRun(const Caller &caller) const {
  const Hello &hello = caller.hello;
  if (std::memcmp(hello.magic, Hello::kMagic, sizeof hello.magic) != 0)
    return false;
  const bool isVersion = hello.version == Hello::kVersion;
  const bool isKey =
      std::string(hello.key, sizeof hello.key - 1).c_str() == key;
  if (hello.kind == Hello::Join || !isVersion)
    answer(caller.socket.get(), !isVersion ? Acknowledgement::OtherVersion
                                : isKey    ? Acknowledgement::Joined
                                           : Acknowledgement::OtherRun);
  return isVersion && isKey;
}

std::optional<Callers::Caller> Callers::findReady() {
  for (size_t i = 0; i < pending.size();) {
    Pending &each = pending[i];
    char *hello = reinterpret_cast<char *>(&each.caller.hello);
    const Moved moved =
        receiveSome(each.caller.socket.get(), hello + each.bytes,
                    sizeof(Hello) - each.bytes);
    each.bytes += moved.bytes;
    const bool isComplete = each.bytes == sizeof(Hello);
    if (!isComplete && !moved.isClosed && SocketClock::now() < each.end) {
      ++i;
      continue;
    }
    Caller caller = std::move(each.caller);
    pending.erase(pending.begin() + long(i));
    if (isComplete && isOfRun(caller))
      return caller;
  }
  return std::nullopt;
}

void Callers::wait(SocketClock::time_point end) const {
  std::vector<pollfd> files;
  if (pending.size() < kMostPending)
    files.push_back({listener.get(), POLLIN, 0});
  for (const Pending &each : pending) {
    files.push_back({each.caller.socket.get(), POLLIN, 0});
    end = std::min(end, each.end);
  }
  ::poll(files.data(), files.size(), millisecondsTo(end));
}

std::optional<Callers::Caller> Callers::next(SocketClock::time_point end) {
  for (;;) {
    acceptAll();
    if (auto ready = findReady())
      return ready;
    if (SocketClock::now() >= end)
      return std::nullopt;
    wait(end);
  }
}
