//===- TextServer.cpp - The tokenizer beside a run ------------------------===//

#include "TextServer.h"

#include "PrepareTokens.h"
#include "ToolCommands.h"

#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Text/TextClient.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/prctl.h>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace weft;

/// Connections that may wait to be accepted: each rank has one.
static constexpr int kMostWaiting = 4096;
/// The pause before the next try to accept a connection.
static constexpr std::chrono::milliseconds kAcceptPause(20);

//===----------------------------------------------------------------------===//
// Ids of a prompt
//===----------------------------------------------------------------------===//

/// The ids of the prompt behind the tokens that begin a text. Tokens that end
/// one are left out, since the text continues.
static Expected<std::vector<int32_t>> promptIds(const TextTokenizer &tokenizer,
                                                const std::string &prompt) {
  EncodeOptions options;
  options.addsSpecialTokens = false;
  options.findsSpecialTokens = tokenizer.findsSpecialTokens;
  Expected<std::vector<int32_t>> ids =
      tokenizer.tokenizer.encode(prompt, options);
  if (!ids)
    return ids;
  const std::vector<int32_t> &beginning = tokenizer.tokenizer.frame().before;
  ids->insert(ids->begin(), beginning.begin(), beginning.end());
  if (ids->empty())
    return usageError("expects a prompt of at least one token, but got ",
                      inQuotes(prompt));
  return ids;
}

//===----------------------------------------------------------------------===//
// Replies
//===----------------------------------------------------------------------===//

namespace {

/// The answers to one connection, which decodes one sample.
class TextAnswers {
public:
  explicit TextAnswers(const TextTokenizer &text)
      : text(text), decoder(text.tokenizer) {}

  Expected<std::string> answer(const TextMessage &request);

private:
  Expected<std::string> readPrompt(const std::vector<int32_t> &ids);
  Expected<std::string> withoutPrompt(Expected<std::string> decoded);

  const TextTokenizer &text;
  StreamDecoder decoder;
  size_t heldBytes = 0; // of the prompt, which the decoder hands out later
};

} // namespace

template <typename Value>
static std::string bytesOf(const Value *values, size_t count) {
  return std::string(reinterpret_cast<const char *>(values),
                     count * sizeof(Value));
}

static std::vector<int32_t> idsIn(const std::string &bytes) {
  std::vector<int32_t> ids(bytes.size() / sizeof(int32_t));
  std::memcpy(ids.data(), bytes.data(), ids.size() * sizeof(int32_t));
  return ids;
}

/// Decodes the prompt, which is the context of the sample.
Expected<std::string> TextAnswers::readPrompt(const std::vector<int32_t> &ids) {
  std::string decoded;
  for (int32_t id : ids) {
    Expected<std::string> part = decoder.add(id);
    if (!part)
      return part.takeError();
    decoded += *part;
  }
  Expected<std::string> whole = text.tokenizer.decode(
      ids.data(), ids.size(), /*skipsSpecialTokens=*/true);
  if (whole)
    heldBytes = whole->size() - std::min(whole->size(), decoded.size());
  return whole;
}

Expected<std::string>
TextAnswers::withoutPrompt(Expected<std::string> decoded) {
  if (!decoded)
    return decoded;
  const size_t old = std::min(heldBytes, decoded->size());
  heldBytes -= old;
  return decoded->substr(old);
}

Expected<std::string> TextAnswers::answer(const TextMessage &request) {
  switch (TextRequest(request.kind)) {
  case TextRequest::Facts: {
    const TextFacts facts = {text.tokenizer.vocabularySize(),
                             text.endOfText.value_or(-1)};
    return bytesOf(&facts, 1);
  }
  case TextRequest::Encode: {
    Expected<std::vector<int32_t>> ids = promptIds(text, request.bytes);
    if (!ids)
      return ids.takeError();
    return bytesOf(ids->data(), ids->size());
  }
  case TextRequest::Prompt:
    return readPrompt(idsIn(request.bytes));
  case TextRequest::Decode: {
    const std::vector<int32_t> ids = idsIn(request.bytes);
    return withoutPrompt(decoder.add(ids.empty() ? 0 : ids.front()));
  }
  case TextRequest::Finish:
    return withoutPrompt(decoder.finish());
  }
  return internalError("expects a request of a text, but got ", request.kind);
}

static TextMessage replyOf(const Expected<std::string> &answer) {
  if (answer)
    return {0, *answer};
  const Error &error = answer.error();
  using namespace std::string_literals;
  return {uint32_t(error.code()),
          error.file() + "\0"s + error.message() + "\0"s + error.hintText()};
}

/// The tokenizer at `path`, loaded by the first call. It is never destroyed,
/// since threads use it while the process ends.
static const Expected<TextTokenizer> &sharedTokenizer(const std::string &path) {
  static const Expected<TextTokenizer> &text =
      *new Expected<TextTokenizer>(TextTokenizer::load(path, ""));
  return text;
}

/// Answers until the other side closes the connection or is lost.
static void serve(const std::string &path, Descriptor socket) {
  const Expected<TextTokenizer> &text = sharedTokenizer(path);
  std::optional<TextAnswers> answers;
  if (text)
    answers.emplace(*text);
  while (true) {
    auto request = receiveMessage(socket.get());
    if (!request || !*request)
      return;
    Expected<std::string> answer = answers
                                       ? answers->answer(**request)
                                       : Expected<std::string>(text.error());
    if (!sendMessage(socket.get(), replyOf(answer)))
      return;
  }
}

/// Other users cannot read the text of a run.
static bool isOwnUser(int socket) {
  ucred other = {};
  socklen_t size = sizeof other;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
         other.uid == ::geteuid();
}

/// Whether a later try may accept a connection: the other side is gone, or the
/// machine lacks descriptors or memory for a while.
static bool mayAcceptLater(int number) {
  switch (number) {
  case ECONNABORTED:
  case EPROTO:
  case EPERM:
  case EMFILE:
  case ENFILE:
  case ENOBUFS:
  case ENOMEM:
    return true;
  default:
    return false;
  }
}

/// Serves a connection in a thread. It is closed if there is none: its run
/// continues without samples.
static void startServing(const std::string &path, Descriptor socket) {
  try {
    std::thread(serve, path, std::move(socket)).detach();
  } catch (const std::system_error &) {
  }
}

Expected<ExitCode> weft::serveTextCommand(const Arguments &args) {
  int listener = -1;
  if (args.size() != 2 ||
      std::from_chars(args[1].data(), args[1].data() + args[1].size(), listener)
              .ec != std::errc())
    return usageError("expects a tokenizer and a socket");
  while (true) {
    Descriptor socket(withoutInterrupts(
        [&] { return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC); }));
    if (socket) {
      if (isOwnUser(socket.get()))
        startServing(args[0], std::move(socket));
    } else if (mayAcceptLater(errno)) {
      std::this_thread::sleep_for(kAcceptPause);
    } else {
      return systemError(ExitCode::Internal, "cannot accept a connection",
                         errno);
    }
  }
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

/// A name that other users of the machine do not know.
static std::string makeSocketName() {
  std::random_device random;
  std::string name = "weft-text-";
  for (int i = 0; i < 4; ++i) {
    char text[16];
    std::snprintf(text, sizeof text, "%08x", random());
    name += text;
  }
  return name;
}

/// A session of its own: a terminal sends its signals to the run alone. The
/// standard streams belong to the run, too.
[[noreturn]] static void becomeServer(pid_t parent, int listener, char **argv) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::dup2(null, stream);
  ::fcntl(listener, F_SETFD, 0);
  ::execv("/proc/self/exe", argv);
  ::_exit(127);
}

Status weft::startTextServer(const std::string &path) {
  const std::string name = makeSocketName();
  const auto [address, size] = textAddress(name);
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr *>(&address),
             size) != 0 ||
      ::listen(listener.get(), kMostWaiting) != 0)
    return systemError(ExitCode::Internal, "cannot listen for a run", errno);
  std::string words[] = {"weft", "serve-text", path,
                         std::to_string(listener.get())};
  char *argv[] = {words[0].data(), words[1].data(), words[2].data(),
                  words[3].data(), nullptr};
  const pid_t self = ::getpid();
  const pid_t process = ::fork();
  if (process == 0)
    becomeServer(self, listener.get(), argv);
  if (process < 0)
    return systemError(ExitCode::Internal, "cannot start the tokenizer", errno);
  ::setenv(kTextVariable, name.c_str(), /*overwrite=*/1);
  return Status::success();
}
