//===- LibraryFaults.h - Calls of libraries that fail -----------*- C++ -*-===//
//
// WEFT_EMULATION_FAIL=ENTRY:N:STATUS, with commas between several, lets the Nth
// call of an entry point fail; driver and libraries read the same variable.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_LIBRARYFAULTS_H
#define WEFT_TEST_EMULATION_LIBRARYFAULTS_H

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace weft::emulation {

/// Calls of each entry point since the variable last changed.
class LibraryFaults {
public:
  /// The status that this call has to give, if it has to fail.
  std::optional<int> next(const std::string &entry) {
    std::lock_guard<std::mutex> guard(lock);
    const char *value = std::getenv("WEFT_EMULATION_FAIL");
    const std::string now = value ? value : "";
    if (now != text)
      text = now, calls.clear();
    const int call = ++calls[entry];
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      if (auto status = read(text.substr(begin, end - begin), entry, call))
        return status;
      begin = end + 1;
    }
    return std::nullopt;
  }

private:
  /// The status of one ENTRY:N:STATUS, if it is of that call.
  static std::optional<int> read(const std::string &fault,
                                 const std::string &entry, int call) {
    const size_t first = fault.find(':'), second = fault.find(':', first + 1);
    if (second == std::string::npos || fault.substr(0, first) != entry ||
        std::atoi(fault.c_str() + first + 1) != call)
      return std::nullopt;
    return std::atoi(fault.c_str() + second + 1);
  }

  std::mutex lock;
  std::string text;
  std::map<std::string, int> calls;
};

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_LIBRARYFAULTS_H
