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

/// Looks at what every command wrote, as long as it lives. The command that is
/// named read finite values only: an infinity that a constant holds is passed
/// on, not made. What @apply or @refresh wrote to a state (a copy of a weight
/// that overflows its type) is the reason of all that follows.
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
  bool isState(const std::string &name) const;
  /// Whether a buffer that the command only reads holds a non-finite value, or
  /// it reads none: a constant.
  bool isFed(const WeftCommand &command, const Command &entry) const;
  void mark(const WeftCommand &command, const Written &written, bool finite);
  std::string describe(const WeftProgram &program, const WeftCommand &command,
                       const Command &entry, const Written &written,
                       int64_t element, double value) const;

  WeftContext &context;
  std::map<std::string, std::vector<Command>> programs;
  std::set<const WeftCommand *> onPurpose;
  std::vector<const WeftCommand *> makers; // of this step
  /// Arena bytes that hold a non-finite value, by their first.
  std::map<int64_t, int64_t> tainted;
  std::string first;   // made by a command from finite values
  std::string any;     // wherever it came from
  std::string carried; // in a state, from an earlier step on
};

} // namespace weft

#endif // WEFT_RUNTIME_NANHUNT_H
