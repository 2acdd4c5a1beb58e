//===- TextClient.cpp - The tokenizer of a run ----------------------------===//

#include "weft/Runtime/Text/TextClient.h"

#include "weft/Base/Results.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/time.h>

using namespace weft;

/// Prompts are arguments of a command line, which are smaller.
static constexpr uint32_t kMostBytes = uint32_t(1) << 26;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static Error lostTokenizer(const std::string &why) {
  return internalError("the process of the tokenizer does not answer: ", why);
}

/// Of a call on the socket. A process that is stopped exceeds its time limit.
static Error lostByCall(int number) {
  return lostTokenizer(number == EAGAIN || number == EINPROGRESS
                           ? "it is silent"
                           : errnoText(number));
}

/// Limits the time of each call on the socket.
static Status limitTime(int socket, double seconds) {
  timeval limit = {};
  limit.tv_sec = time_t(seconds);
  limit.tv_usec = suseconds_t((seconds - double(limit.tv_sec)) * 1e6);
  for (int option : {SO_RCVTIMEO, SO_SNDTIMEO})
    if (::setsockopt(socket, SOL_SOCKET, option, &limit, sizeof limit) != 0)
      return lostTokenizer(errnoText(errno));
  return Status::success();
}

static Status sendBytes(int socket, const char *bytes, size_t size) {
  for (size_t at = 0; at < size;) {
    const ssize_t n = withoutInterrupts(
        [&] { return ::send(socket, bytes + at, size - at, MSG_NOSIGNAL); });
    if (n < 0)
      return lostByCall(errno);
    at += size_t(n);
  }
  return Status::success();
}

/// Until the socket has bytes or the connection ends. Another thread may get
/// the signal that stops the run, so the wait has short slices.
static Status waitForBytes(int socket, const TextWait &wait) {
  using Clock = std::chrono::steady_clock;
  constexpr int kSliceMilliseconds = 200;
  const auto end = Clock::now() + std::chrono::duration<double>(wait.seconds);
  while (true) {
    pollfd file = {socket, POLLIN, 0};
    const int count = ::poll(&file, 1, kSliceMilliseconds);
    if (count > 0)
      return Status::success();
    if (count < 0 && errno != EINTR)
      return lostByCall(errno);
    if (wait.isStopped && wait.isStopped())
      return lostTokenizer("the run was asked to stop");
    if (Clock::now() >= end)
      return lostByCall(EAGAIN);
  }
}

/// The number of bytes until the end of the connection, `size` at the most.
static Expected<size_t> receiveBytes(int socket, char *bytes, size_t size,
                                     const TextWait *wait) {
  size_t at = 0;
  while (at < size) {
    if (wait)
      if (Status s = waitForBytes(socket, *wait); !s)
        return s.takeError();
    const ssize_t n = withoutInterrupts(
        [&] { return ::recv(socket, bytes + at, size - at, 0); });
    if (n < 0)
      return lostByCall(errno);
    if (n == 0)
      break;
    at += size_t(n);
  }
  return at;
}

Status weft::sendMessage(int socket, const TextMessage &message) {
  const uint32_t header[2] = {message.kind, uint32_t(message.bytes.size())};
  if (message.bytes.size() > kMostBytes)
    return usageError("expects a text of at most ", kMostBytes,
                      " bytes, but got ", message.bytes.size());
  std::string all(reinterpret_cast<const char *>(header), sizeof header);
  all += message.bytes;
  return sendBytes(socket, all.data(), all.size());
}

Expected<std::optional<TextMessage>>
weft::receiveMessage(int socket, const TextWait *wait) {
  uint32_t header[2] = {};
  Expected<size_t> size = receiveBytes(socket, reinterpret_cast<char *>(header),
                                       sizeof header, wait);
  if (!size)
    return size.takeError();
  if (*size == 0)
    return std::optional<TextMessage>();
  TextMessage message{header[0], ""};
  if (*size < sizeof header || header[1] > kMostBytes)
    return lostTokenizer("the message is cut");
  message.bytes.resize(header[1]);
  size = receiveBytes(socket, message.bytes.data(), message.bytes.size(), wait);
  if (!size)
    return size.takeError();
  if (*size < message.bytes.size())
    return lostTokenizer("the message is cut");
  return std::optional(std::move(message));
}

std::pair<sockaddr_un, socklen_t> weft::textAddress(std::string_view name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const size_t size = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), size); // behind a zero byte
  return {address, socklen_t(offsetof(sockaddr_un, sun_path) + 1 + size)};
}

//===----------------------------------------------------------------------===//
// TextClient
//===----------------------------------------------------------------------===//

bool TextClient::isOffered() {
  const char *name = std::getenv(kTextVariable);
  return name && *name;
}

Expected<TextClient> TextClient::connect(TextWait wait) {
  const auto [address, size] = textAddress(std::getenv(kTextVariable));
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket)
    return lostTokenizer(errnoText(errno));
  if (Status s = limitTime(socket.get(), wait.seconds); !s)
    return s.takeError();
  // The structured binding cannot be captured.
  const auto *place = reinterpret_cast<const sockaddr *>(&address);
  const socklen_t bytes = size;
  if (withoutInterrupts(
          [&] { return ::connect(socket.get(), place, bytes); }) != 0)
    return lostByCall(errno);
  TextClient client(std::move(socket), std::move(wait));
  Expected<std::string> facts = client.ask(TextRequest::Facts, "");
  if (!facts)
    return facts.takeError();
  if (facts->size() != sizeof client.known)
    return lostTokenizer("the message is cut");
  std::memcpy(&client.known, facts->data(), sizeof client.known);
  return client;
}

/// The error in a reply.
static Error errorIn(const TextMessage &reply) {
  const std::string &bytes = reply.bytes;
  const size_t file = std::min(bytes.find('\0'), bytes.size());
  const size_t text = std::min(bytes.find('\0', file + 1), bytes.size());
  Error error(ExitCode(reply.kind),
              text > file ? bytes.substr(file + 1, text - file - 1) : "");
  if (file > 0)
    error.at(bytes.substr(0, file));
  if (text < bytes.size())
    error.hint(bytes.substr(text + 1));
  return error;
}

Expected<std::string> TextClient::ask(TextRequest kind,
                                      std::string_view bytes) {
  if (Status s =
          sendMessage(socket.get(), {uint32_t(kind), std::string(bytes)});
      !s)
    return s.takeError();
  auto reply = receiveMessage(socket.get(), &wait);
  if (!reply)
    return reply.takeError();
  if (!*reply)
    return lostTokenizer("it has ended");
  if ((*reply)->kind != 0)
    return errorIn(**reply);
  return std::move((*reply)->bytes);
}

Expected<std::vector<int32_t>> TextClient::encode(std::string_view prompt) {
  Expected<std::string> bytes = ask(TextRequest::Encode, prompt);
  if (!bytes)
    return bytes.takeError();
  std::vector<int32_t> ids(bytes->size() / sizeof(int32_t));
  std::memcpy(ids.data(), bytes->data(), ids.size() * sizeof(int32_t));
  return ids;
}

Expected<std::string> TextClient::setPrompt(const std::vector<int32_t> &ids) {
  return ask(TextRequest::Prompt, {reinterpret_cast<const char *>(ids.data()),
                                   ids.size() * sizeof(int32_t)});
}

Expected<std::string> TextClient::decode(int32_t id) {
  return ask(TextRequest::Decode,
             {reinterpret_cast<const char *>(&id), sizeof id});
}

Expected<std::string> TextClient::finish() {
  return ask(TextRequest::Finish, "");
}
