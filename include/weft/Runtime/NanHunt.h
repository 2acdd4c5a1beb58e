//===- NanHunt.h - Which op made the first non-finite value -----*- C++ -*-===//
//
// For programs compiled with --debug-nan, whose metadata says what each command
// writes and where it comes from (docs/executable.md).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_NANHUNT_H
#define WEFT_RUNTIME_NANHUNT_H

#include "weft/Formats/Json.h"
#include "weft/Runtime/Context.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// Looks at what every command wrote, as long as it lives.
class NanHunt {
public:
  /// `table` is the metadata's `debug_nan`; wrong text is an internal error.
  static Expected<std::unique_ptr<NanHunt>> create(WeftContext &context,
                                                   const Json &table);
  ~NanHunt();

  /// Forgets what the last step made.
  void begin();
  /// A value that is not finite came from outside the program; `text` says
  /// which and is the sentence, unless an op made one before.
  void blame(const std::string &text);
  /// The sentence about the first non-finite value since begin(), or "". A
  /// command that made one in a step that ended well (`good`) does so on
  /// purpose, as masks do: it is passed over from then on.
  std::string finish(bool good);

private:
  explicit NanHunt(WeftContext &context) : context(context) {}

  /// A floating-point buffer that a command writes.
  struct Written {
    int64_t buffer; // position among the command's buffers
    int32_t dtype;
    std::string name; // state or output, or ""
    std::vector<int64_t> dims;
    /// The same elements in the same order with as few dimensions as possible,
    /// at least one.
    std::vector<int64_t> runs, strides;
  };
  struct Command {
    std::string place, ops;
    std::vector<Written> writes;
  };

  static Expected<Command> readCommand(const JsonCursor &json,
                                       const WeftCommand &command);
  Status read(const JsonCursor &json, const WeftProgram &program);
  static int64_t find(const Written &written, const char *data, double &value);
  bool check(const WeftProgram &program, const WeftCommand &command,
             void *const *buffers);
  std::string describe(const WeftProgram &program, const WeftCommand &command,
                       const Command &entry, const Written &written,
                       int64_t element, double value) const;

  WeftContext &context;
  std::map<std::string, std::vector<Command>> programs;
  std::set<const WeftCommand *> onPurpose;
  std::vector<const WeftCommand *> makers; // of this step
  std::string first;
};

} // namespace weft

#endif // WEFT_RUNTIME_NANHUNT_H
