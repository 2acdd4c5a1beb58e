//===- RunRecord.h - The run that saved a checkpoint ------------*- C++ -*-===//
//
// The flags, the data and the program of the run that saved a checkpoint. A
// resumed run continues with them and reports what changed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_RUNRECORD_H
#define WEFT_FORMATS_RUNRECORD_H

#include "weft/Formats/Json.h"

namespace weft {

/// Texts by the name of a flag, in order.
using Settings = StringMap;

/// The text of a setting, or null.
const std::string *findSetting(const Settings &settings, std::string_view name);
/// The text of a setting; "" if there is none.
inline std::string settingIn(const Settings &settings, std::string_view name) {
  const std::string *text = findSetting(settings, name);
  return text ? *text : "";
}
/// The integer that a setting spells, or nothing.
std::optional<int64_t> countOf(const Settings &settings, std::string_view name);

/// The content of a data file, independent of its path.
struct DataIdentity {
  std::string kind;   // "text", "llm.c u16", "u16", ..., "safetensors"
  int64_t length = 0; // tokens, or rows
  std::string xxh3;   // of the tokens, or of the file

  bool operator==(const DataIdentity &other) const {
    return kind == other.kind && length == other.length && xxh3 == other.xxh3;
  }
};

struct RunRecord {
  Settings flags;   // of the run, also those at their defaults
  Settings files;   // absolute paths of the flags that name files
  Settings program; // compile-time options
  /// Numbers of the model that its fingerprint leaves out; none in a manifest
  /// of an older weft.
  std::optional<Settings> model;
  Settings device; // device facts that bits depend on; none on the host
  /// The step at which the learning rate stops decaying; 0 where none is known.
  int64_t decaySteps = 0;
  std::optional<DataIdentity> data, valData;

  Json json() const;
  /// Every error is one at its place in the document.
  static Expected<RunRecord> read(const JsonCursor &at);
};

} // namespace weft

#endif // WEFT_FORMATS_RUNRECORD_H
