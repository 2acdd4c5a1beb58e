//===- Error.cpp - Error text ---------------------------------------------===//

#include "weft/Base/Error.h"

#include "weft/Base/OutOfMemory.h"

#include <cctype>
#include <cstring>

using namespace weft;

std::string Error::where() const {
  std::string result;
  if (!fileText.empty()) {
    result += escaped(fileText);
    if (lineValue > 0)
      result += ":" + std::to_string(lineValue);
    result += ": ";
  }
  return result + escaped(text, "\n");
}

std::string Error::str() const {
  std::string result = "weft: error: " + where() + "\n";
  if (!hintValue.empty())
    result += "hint: " + escaped(hintValue, "\n") + "\n";
  return result;
}

void weft::warn(std::string_view text, std::string_view hint) {
  std::string message = "weft: warning: " + escaped(text, "\n") + "\n";
  if (!hint.empty())
    message += "hint: " + escaped(hint, "\n") + "\n";
  std::fwrite(message.data(), 1, message.size(), stderr);
}

int Error::report(std::FILE *stream) const {
  std::string message = isSilent ? "" : str();
  std::fwrite(message.data(), 1, message.size(), stream);
  std::fflush(stream);
  return exitStatus();
}

Error &Error::ofCheckpoint() {
  switch (errnoNumber) {
  case 0:
  // The path leads to nothing, or to something else.
  case ENOENT:
  case ENOTDIR:
  case EISDIR:
  case ELOOP:
  case ENAMETOOLONG:
    return withCode(ExitCode::Checkpoint);
  case ENOMEM:
    return hint(noMemoryError().hintText());
  default:
    return withCode(ExitCode::Storage).hint("");
  }
}

Error weft::systemError(ExitCode code, const std::string &what, int number) {
  Error error = number == ENOMEM ? noMemoryError().during(what)
                                 : Error(code, what + ": " + errnoText(number));
  error.errnoNumber = number;
  return error;
}

std::string weft::errnoText(int number) {
  std::string result = std::strerror(number);
  if (!result.empty())
    result[0] =
        static_cast<char>(std::tolower(static_cast<unsigned char>(result[0])));
  return result;
}
