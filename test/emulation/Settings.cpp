//===- Settings.cpp - The environment of the emulated device --------------===//

#include "Settings.h"

#include "Fail.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>
#include <vector>

namespace weft::emulation {

static std::string setting(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

static std::optional<uint64_t> parseNumber(const std::string &text) {
  if (text.empty() || text.size() > 19 ||
      text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

uint64_t numberSetting(const char *name, uint64_t otherwise) {
  if (!std::getenv(name))
    return otherwise;
  std::optional<uint64_t> number = parseNumber(setting(name));
  if (!number)
    fail(std::string("expects ") + name + " to be a number, but got '" +
         setting(name) + "'");
  return *number;
}

int processorSetting() {
  const char *chip = std::getenv("WEFT_EMULATION_CHIP");
  const bool isA100 = chip && std::string(chip) == "sm_80";
  return static_cast<int>(
      numberSetting("WEFT_EMULATION_PROCESSORS", isA100 ? 108 : 132));
}

void record(const std::string &line) {
  static const std::string path = setting("WEFT_EMULATION_RECORD");
  if (path.empty())
    return;
  static const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  std::string text = line + "\n";
  if (file < 0 || write(file, text.data(), text.size()) != ssize_t(text.size()))
    fail("cannot write WEFT_EMULATION_RECORD, '" + path + "'");
}

//===----------------------------------------------------------------------===//
// Calls that fail
//===----------------------------------------------------------------------===//

namespace {
/// A call that fails.
struct Fault {
  std::string entry;
  uint64_t left; // calls up to it, itself included
  int error;
};
} // namespace

/// An entry is named with or without its version.
static bool isNamed(const std::string &name, const std::string &entry) {
  return entry == name || entry == name + "_v2";
}

static bool hasEntry(const Entries &entries, const std::string &name) {
  Dl_info info;
  if (!dladdr(entries.placeInside, &info))
    return false;
  void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  return library && (dlsym(library, name.c_str()) ||
                     dlsym(library, (name + "_v2").c_str()));
}

[[noreturn]] static void failAtFault(const std::string &expected,
                                     const std::string &got) {
  fail("expects WEFT_EMULATION_FAIL to " + expected + ", but got '" + got +
       "'");
}

static int parseError(const Entries &entries, const std::string &text) {
  if (std::optional<int> known = entries.findError(text))
    return *known;
  std::optional<uint64_t> number = parseNumber(text);
  if (!number || *number == 0 || *number > 9999)
    failAtFault("end with an error", text);
  return int(*number);
}

/// Whether another library of the device has to know that entry point.
static bool isOfAnother(const Entries &entries, const std::string &entry) {
  for (const char *prefix : {"cublasLt", "cudnn", "cu"})
    if (entry.rfind(prefix, 0) == 0)
      return entries.prefix != std::string(prefix);
  return false;
}

/// Adds the fault, if it is of this library.
static void addFault(const Entries &entries, const std::string &text,
                     std::vector<Fault> &faults) {
  size_t first = text.find(':'), second = text.find(':', first + 1);
  if (second == std::string::npos)
    failAtFault("be ENTRY:N:ERROR", text);
  std::string entry = text.substr(0, first);
  std::optional<uint64_t> call =
      parseNumber(text.substr(first + 1, second - first - 1));
  if (!call || *call == 0)
    failAtFault("have the number of a call from 1 on", text);
  if (isOfAnother(entries, entry))
    return;
  if (entry.rfind(entries.prefix, 0) != 0 || !hasEntry(entries, entry))
    failAtFault("name an entry point", entry);
  faults.push_back(
      {entry, *call, parseError(entries, text.substr(second + 1))});
}

static std::vector<Fault> parseFaults(const Entries &entries,
                                      std::string left) {
  std::vector<Fault> faults;
  while (!left.empty()) {
    size_t comma = left.find(',');
    addFault(entries, left.substr(0, comma), faults);
    left = comma == std::string::npos ? "" : left.substr(comma + 1);
  }
  return faults;
}

std::optional<int> faultOf(const Entries &entries, const std::string &entry) {
  static std::mutex mutex;
  static auto *text = new std::string;
  static auto *faults = new std::vector<Fault>;
  std::lock_guard<std::mutex> lock(mutex);
  record("call " + entry);
  if (setting("WEFT_EMULATION_FAIL") != *text) {
    *text = setting("WEFT_EMULATION_FAIL");
    *faults = parseFaults(entries, *text);
  }
  for (Fault &fault : *faults)
    if (isNamed(fault.entry, entry) && --fault.left == 0)
      return fault.error;
  return std::nullopt;
}

} // namespace weft::emulation
