//===- Settings.h - The environment of the emulated device ------*- C++ -*-===//
//
// Each library of the emulated device reads it by itself. What it does not
// understand ends the process (Fail.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_SETTINGS_H
#define WEFT_TEST_EMULATION_SETTINGS_H

#include <cstdint>
#include <optional>
#include <string>

namespace weft::emulation {

/// A variable that holds a number without sign; `otherwise` if it is not set.
uint64_t numberSetting(const char *name, uint64_t otherwise);

/// Multiprocessors of the device: WEFT_EMULATION_PROCESSORS, or as many as a
/// GPU of the chip has.
int processorSetting();

/// Adds a line to the file WEFT_EMULATION_RECORD, if that is set.
void record(const std::string &line);

/// The entry points of one library, for WEFT_EMULATION_FAIL=ENTRY:N:ERROR,...
struct Entries {
  const char *prefix;      // of their names: others are another library's
  const void *placeInside; // a function of the library
  /// An error by its name; nothing if there is none.
  std::optional<int> (*findError)(const std::string &name);
};

/// Records a call of an entry, and gives the error that WEFT_EMULATION_FAIL
/// wants of this call, if it does. Calls count from when the variable changed.
std::optional<int> faultOf(const Entries &entries, const std::string &entry);

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_SETTINGS_H
