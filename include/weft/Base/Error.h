//===- Error.h - Results that carry a message and an exit code --*- C++ -*-===//
//
// The result of every parser, file and flag function: a value or one error with
// the location, the message, an optional hint, and the exit code of the
// program.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_ERROR_H
#define WEFT_BASE_ERROR_H

#include "weft/Base/Text.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace weft {

/// Exit codes of every weft program. The numbers are a promise to scripts.
enum class ExitCode : int {
  Ok = 0,
  Usage = 2,
  Input = 3,
  DoesNotFit = 4,
  Checkpoint = 5,
  Numerics = 6,
  Communication = 7,
  Storage = 8,
  Device = 9,
  Internal = 70,
  StoppedAndSaved = 75,
  Interrupted = 130,
  Terminated = 143,
};

/// One error: `file:line: message`, a hint, and the exit code it leads to.
class Error {
public:
  Error(ExitCode code, std::string message)
      : exitCode(code), text(std::move(message)) {}

  /// Names the file, and the line when it is positive.
  Error &at(std::string fileName, int lineNumber = 0) {
    fileText = std::move(fileName);
    lineValue = lineNumber;
    return *this;
  }
  /// A command or next step for the user.
  Error &hint(std::string hintText) {
    hintValue = std::move(hintText);
    return *this;
  }
  /// Prefixes the message with the action that failed.
  Error &during(const std::string &when) {
    text = when + ": " + text;
    return *this;
  }
  Error &withCode(ExitCode code) {
    exitCode = code;
    return *this;
  }
  /// Marks a file as undamaged, but unusable for this program.
  Error &ofWholeFile() {
    wholeFile = true;
    return *this;
  }
  /// In a run of several processes, report() prints only in the one that
  /// `speaks`.
  Error &saidBy(bool speaks) {
    isSilent = !speaks;
    return *this;
  }
  /// Marks an error with whose code all processes of the run end.
  Error &ofAllProcesses() {
    isCommon = true;
    return *this;
  }
  /// For the error of a file of a checkpoint: damage (exit 5), unless the
  /// system could not read the file, which says nothing about it (exit 8).
  Error &ofCheckpoint();

  ExitCode code() const { return exitCode; }
  int exitStatus() const { return static_cast<int>(exitCode); }
  const std::string &message() const { return text; }
  const std::string &hintText() const { return hintValue; }
  const std::string &file() const { return fileText; }
  int line() const { return lineValue; }
  /// Whether a checkpoint is unusable because its files differ from the bytes
  /// that were written. A retry does not help.
  bool isDamage() const {
    return exitCode == ExitCode::Checkpoint && !wholeFile;
  }

  bool isOfAllProcesses() const { return isCommon; }

  /// `file:line: message`, without the program name and the hint.
  std::string where() const;
  /// `weft: error: file:line: message\nhint: ...\n`. Control bytes, which
  /// may come from a file or its name, are spelt out: escaped() of Text.h.
  std::string str() const;
  /// Writes str() to `stream` and returns the exit status.
  int report(std::FILE *stream = stderr) const;

private:
  friend Error systemError(ExitCode, const std::string &, int);

  ExitCode exitCode;
  int lineValue = 0, errnoNumber = 0;
  bool wholeFile = false, isCommon = false, isSilent = false;
  std::string text, hintValue, fileText;
};

/// Success or an Error. `if (Status s = f(); !s) return s.takeError();`
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : failure(std::make_unique<Error>(std::move(error))) {}

  static Status success() { return Status(); }
  bool ok() const { return !failure; }
  explicit operator bool() const { return ok(); }
  /// Only on failure.
  const Error &error() const { return *failure; }
  Error takeError() { return std::move(*failure); }

private:
  std::unique_ptr<Error> failure;
};

/// A value or an Error. `auto v = f(); if (!v) return v.takeError(); use(*v);`
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : content(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return content.index() == 0; }
  explicit operator bool() const { return ok(); }
  /// Only on success.
  T &operator*() & { return *std::get_if<0>(&content); }
  const T &operator*() const & { return *std::get_if<0>(&content); }
  T &&operator*() && { return std::move(*std::get_if<0>(&content)); }
  T *operator->() { return std::get_if<0>(&content); }
  const T *operator->() const { return std::get_if<0>(&content); }
  /// Only on failure.
  const Error &error() const { return *std::get_if<1>(&content); }
  Error takeError() { return std::move(*std::get_if<1>(&content)); }

private:
  std::variant<T, Error> content;
};

inline Error inputError(std::string message) {
  return Error(ExitCode::Input, std::move(message));
}
inline Error usageError(std::string message) {
  return Error(ExitCode::Usage, std::move(message));
}
inline Error checkpointError(std::string message) {
  return Error(ExitCode::Checkpoint, std::move(message));
}
inline Error storageError(std::string message) {
  return Error(ExitCode::Storage, std::move(message));
}

/// "no such file or directory": the text of an errno value, lower case.
std::string errnoText(int number);
/// `WHAT: ERRNO TEXT`, for a system call that failed. During WHAT memory ran
/// out (exit 4) if the call had none.
Error systemError(ExitCode code, const std::string &what, int number);

/// The result of a system call, made again while signals interrupt it.
template <typename Call> auto withoutInterrupts(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR)
    result = call();
  return result;
}

/// Writes `weft: warning: TEXT`, and perhaps `hint: HINT`, to stderr, escaped
/// as errors are.
void warn(std::string_view text, std::string_view hint = "");

} // namespace weft

#endif // WEFT_BASE_ERROR_H
