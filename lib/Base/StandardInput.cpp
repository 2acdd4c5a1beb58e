//===- StandardInput.cpp - Text from standard input -----------------------===//

#include "weft/Base/StandardInput.h"

#include "weft/Base/Results.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

bool weft::isInputGiven() {
  struct stat facts;
  return ::fstat(STDIN_FILENO, &facts) == 0 &&
         (S_ISFIFO(facts.st_mode) || S_ISREG(facts.st_mode) ||
          S_ISSOCK(facts.st_mode));
}

Expected<std::string> weft::readStandardInput(int64_t mostBytes) {
  std::string text;
  char part[1 << 16];
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, part, sizeof part);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return inputError("cannot read: ", errnoText(errno)).at(kStandardInput);
    if (count == 0)
      return text;
    text.append(part, size_t(count));
    if (int64_t(text.size()) > mostBytes)
      return inputError("expects at most ", mostBytes, " bytes, but got more")
          .at(kStandardInput);
  }
}
