//===- SampledText.cpp - Samples of models with a tokenizer ---------------===//

#include "SampledText.h"

#include "weft/Base/Results.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// Ids of a prompt
//===----------------------------------------------------------------------===//

/// The ids of the prompt with the tokens that begin a text. The token that ends
/// one is left out, since the text continues.
static Expected<std::vector<int32_t>> promptIds(const TextTokenizer &tokenizer,
                                                const std::string &prompt) {
  EncodeOptions options;
  options.findsSpecialTokens = tokenizer.findsSpecialTokens;
  Expected<std::vector<int32_t>> ids =
      tokenizer.tokenizer.encode(prompt, options);
  if (!ids)
    return ids;
  options.addsSpecialTokens = false;
  Expected<std::vector<int32_t>> plain =
      tokenizer.tokenizer.encode(prompt, options);
  if (!plain)
    return plain;
  const std::optional<int32_t> end = tokenizer.endOfText;
  const bool ends = !ids->empty() && ids->back() == end;
  if (ends && (plain->empty() || plain->back() != end))
    ids->pop_back();
  if (ids->empty())
    return usageError("--prompt expects text of at least one token, but got ",
                      inQuotes(prompt));
  return ids;
}

static std::string listOfIds(const std::vector<int32_t> &ids) {
  std::string list;
  for (int32_t id : ids)
    list += concat(list.empty() ? "" : ",", id);
  return list;
}

//===----------------------------------------------------------------------===//
// Text of a sample
//===----------------------------------------------------------------------===//

namespace {

/// Prints the text of ids, up to the text that stops the sample.
class SamplePrinter {
public:
  SamplePrinter(const Tokenizer &tokenizer, const TextPrompt &prompt)
      : decoder(tokenizer), prompt(prompt.text), stop(prompt.stop) {}

  /// A line of the program: an id, or anything else, which is printed.
  Status line(const std::string &text);
  Status finish();
  bool isStopped() const { return stopped; }

private:
  void add(const std::string &text);
  static void print(const std::string &text) {
    printText(forTerminal(text));
    flushOutput();
  }

  void beginOnce();

  StreamDecoder decoder;
  std::string prompt, stop;
  std::string waiting; // may be the beginning of `stop`
  bool stopped = false, isBegun = false, hasOthers = false;
};

} // namespace

/// Prints the prompt, once the program has begun: its errors come first.
void SamplePrinter::beginOnce() {
  if (!isBegun)
    print(prompt);
  isBegun = true;
}

void SamplePrinter::add(const std::string &text) {
  beginOnce();
  waiting += text;
  if (const size_t found = waiting.find(stop);
      !stop.empty() && found != waiting.npos) {
    waiting.resize(found);
    stopped = true;
  }
  const size_t kept =
      stopped || stop.empty() ? 0 : std::min(stop.size() - 1, waiting.size());
  print(waiting.substr(0, waiting.size() - kept));
  waiting.erase(0, waiting.size() - kept);
}

Status SamplePrinter::line(const std::string &text) {
  int32_t id = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), id);
  if (text.empty() || read.ec != std::errc() ||
      read.ptr != text.data() + text.size()) {
    print(text + "\n");
    hasOthers = true;
    return Status::success();
  }
  Expected<std::string> piece = decoder.add(id);
  if (!piece)
    return piece.takeError();
  add(*piece);
  return Status::success();
}

Status SamplePrinter::finish() {
  if (hasOthers && !isBegun) // a dry run
    return Status::success();
  Expected<std::string> piece = stopped ? std::string() : decoder.finish();
  if (!piece)
    return piece.takeError();
  beginOnce();
  if (!stopped)
    add(*piece);
  print(waiting + "\n");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// The process of the program
//===----------------------------------------------------------------------===//

namespace {
struct ProgramProcess {
  pid_t id = -1;
  Descriptor output;
};
} // namespace

static Expected<ProgramProcess> startSampling(const Program &program,
                                              const ProgramRanks &ranks,
                                              const Arguments &flags) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return storageError("cannot make a pipe: " + errnoText(errno));
  Descriptor output(ends[0]), input(ends[1]);
  flushOutput();
  const pid_t id = ::fork();
  if (id < 0)
    return storageError("cannot start the program: " + errnoText(errno));
  if (id == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(input.get(), STDOUT_FILENO);
    Expected<ExitCode> code = runProgram(program, ranks, flags);
    ::_exit(code ? static_cast<int>(*code) : code.error().report());
  }
  return ProgramProcess{id, std::move(output)};
}

static Status printLines(const ProgramProcess &process,
                         SamplePrinter &printer) {
  std::string text;
  char part[4096];
  while (!printer.isStopped()) {
    const ssize_t n = ::read(process.output.get(), part, sizeof part);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    text.append(part, size_t(n));
    for (size_t end; !printer.isStopped() &&
                     (end = text.find('\n')) != std::string::npos;) {
      if (Status s = printer.line(text.substr(0, end)); !s)
        return s;
      text.erase(0, end + 1);
    }
  }
  return Status::success();
}

static Expected<ExitCode> waitForSampling(pid_t id) {
  int status = 0;
  while (::waitpid(id, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(status))
    return static_cast<ExitCode>(WEXITSTATUS(status));
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (number == SIGINT)
    return ExitCode::Interrupted;
  if (number == SIGTERM)
    return ExitCode::Terminated;
  return internalError("signal ", number, " has ended the program");
}

Expected<ExitCode> weft::sampleText(const Program &program,
                                    const ProgramRanks &ranks,
                                    const Arguments &runFlags,
                                    const TextTokenizer &tokenizer,
                                    const TextPrompt &prompt) {
  Expected<std::vector<int32_t>> ids = promptIds(tokenizer, prompt.text);
  if (!ids)
    return ids.takeError();
  Arguments flags = runFlags;
  flags.push_back("--generate-ids=" + listOfIds(*ids));
  if (tokenizer.endOfText)
    flags.push_back("--stop-ids=" + std::to_string(*tokenizer.endOfText));
  Expected<ProgramProcess> process = startSampling(program, ranks, flags);
  if (!process)
    return process.takeError();
  SamplePrinter printer(tokenizer.tokenizer, prompt);
  Status printed = printLines(*process, printer);
  const bool isCut = printer.isStopped() || !printed;
  if (isCut)
    ::kill(process->id, SIGTERM);
  process->output = Descriptor();
  Expected<ExitCode> code = waitForSampling(process->id);
  if (!printed)
    return printed.takeError();
  if (!isCut && (!code || *code != ExitCode::Ok))
    return code;
  if (Status s = printer.finish(); !s)
    return s.takeError();
  return ExitCode::Ok;
}
