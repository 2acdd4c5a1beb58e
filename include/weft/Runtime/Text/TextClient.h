//===- TextClient.h - The tokenizer of a run --------------------*- C++ -*-===//
//
// A program has no tokenizer. `weft` starts one as a process beside the run,
// which encodes prompts and decodes samples. Each rank connects to it by a
// socket in the abstract namespace, whose name is kTextVariable.
//
// A request and its reply are messages: their kind and the number of bytes, 32
// bits each in the order of the host, then the bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_TEXT_TEXTCLIENT_H
#define WEFT_RUNTIME_TEXT_TEXTCLIENT_H

#include "weft/Base/Descriptor.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <vector>

namespace weft {

/// The environment variable with the name of the socket.
inline constexpr char kTextVariable[] = "WEFT_TEXT_SOCKET";

/// The kinds of requests.
enum class TextRequest : uint32_t {
  Facts,  // no bytes; replies TextFacts
  Encode, // a prompt; replies its ids, 32 bits each
  Prompt, // the ids before a sample, 32 bits each; replies their text
  Decode, // an id, 32 bits; replies the text that is complete with it
  Finish, // no bytes; replies the rest of the text
};

/// A message: `kind` is a TextRequest, or the exit code of a reply. A reply
/// with a code above 0 holds the error: file, message and hint, with zero bytes
/// between them.
struct TextMessage {
  uint32_t kind = 0;
  std::string bytes;
};

/// The limits of a wait for the tokenizer.
struct TextWait {
  double seconds = 0;
  /// Ends the wait early; may be empty.
  std::function<bool()> isStopped;
};

Status sendMessage(int socket, const TextMessage &message);
/// Nothing at the end of the connection. Without `wait`, there is no limit.
Expected<std::optional<TextMessage>>
receiveMessage(int socket, const TextWait *wait = nullptr);

/// The address of a socket in the abstract namespace, and its size.
std::pair<sockaddr_un, socklen_t> textAddress(std::string_view name);

/// A tokenizer as far as a sample depends on it.
struct TextFacts {
  int64_t tokens = 0;    // one more than the largest id
  int64_t endOfText = 0; // -1: none
};

/// A connection to the tokenizer for one sample.
class TextClient {
public:
  /// Whether `weft` has started a tokenizer for this process.
  static bool isOffered();
  /// A tokenizer that cannot be loaded is its error. One that does not answer
  /// within the limits of `wait` is lost.
  static Expected<TextClient> connect(TextWait wait);

  const TextFacts &facts() const { return known; }
  /// The ids of a prompt, at least one.
  Expected<std::vector<int32_t>> encode(std::string_view prompt);
  /// The sample continues a text of these ids, which decides whether it begins
  /// with a space. Their text may differ from the prompt's in white space.
  Expected<std::string> setPrompt(const std::vector<int32_t> &ids);
  /// The text that is complete with this id of the sample; often empty.
  Expected<std::string> decode(int32_t id);
  /// The rest of the sample.
  Expected<std::string> finish();

private:
  TextClient(Descriptor socket, TextWait wait)
      : socket(std::move(socket)), wait(std::move(wait)) {}
  Expected<std::string> ask(TextRequest kind, std::string_view bytes);

  Descriptor socket;
  TextWait wait;
  TextFacts known;
};

} // namespace weft

#endif // WEFT_RUNTIME_TEXT_TEXTCLIENT_H
