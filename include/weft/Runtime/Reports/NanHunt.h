//===- NanHunt.h - Which op made the first non-finite value -----*- C++ -*-===//
//
// For programs compiled with --debug-nan, whose metadata says what each command
// reads and writes and where it comes from (docs/executable.md).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_REPORTS_NANHUNT_H
#define WEFT_RUNTIME_REPORTS_NANHUNT_H

#include "weft/Formats/Json.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Reports/DebugCommands.h"
#include "weft/Runtime/Reports/TaintedBytes.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// The first value that was not finite, as one rank saw it.
struct Culprit {
  /// What is to blame, first things first: an op made it, it was there before
  /// the step, or another rank sent it.
  enum Source { Made, CameIn, Received };
  Source source = Made;
  int64_t command = 0; // commands of the step before it
  std::string text;    // the sentence about it; "": there is none
};

/// Looks at what every command wrote, as long as it lives. The command that is
/// named read finite values only: an infinity that a constant, an input or a
/// weight holds is passed on, not made.
/// If there is no such command, the first place with such a value is named, and
/// for a weight or its copy what wrote it there: a moment that came in so, if
/// the update read one.
class NanHunt {
public:
  /// `table` is the metadata's `debug_nan`; wrong text is an internal error.
  static Expected<std::unique_ptr<NanHunt>> create(WeftContext &context,
                                                   const Json &table);
  ~NanHunt();

  /// Forgets what the last step made.
  Status begin();
  /// A value that is not finite came from outside the program; `text` says
  /// which and is the sentence, unless an op made one before.
  void blame(const std::string &text);
  /// The first non-finite value since begin(). A command that made one in a
  /// step that ended well (`good`) does so on purpose, as masks do: it is
  /// passed over from then on.
  Culprit finish(bool good);

private:
  explicit NanHunt(WeftContext &context) : context(context) {}

  /// A moment that is not finite, or what was made of it, in the bytes [begin,
  /// end) of the arena.
  struct Moment {
    int64_t begin, end;
    std::string text;
  };
  /// An element, by the tensor that people know it of.
  struct Element {
    std::string name;
    std::vector<int64_t> dims;
    int64_t index;
  };

  Status check(const WeftProgram &program, const WeftCommand &command);
  Expected<int64_t> find(const Elements &elements, int64_t offset,
                         double &value) const;
  /// Whether a buffer that the command reads, and may write as well, holds a
  /// non-finite value, or the command makes its values of constants.
  bool isFed(const WeftCommand &command, const DebugCommand &entry) const;
  /// Whether one of these elements, the first at that arena offset, belongs to
  /// what was seen to hold a non-finite value.
  bool isTainted(const Elements &elements, int64_t offset) const;
  void passOn(const std::string &moment, const WrittenBuffer &written,
              int64_t offset);
  std::string findMoment(const WeftCommand &command,
                         const DebugCommand &entry) const;
  void mark(const Elements &elements, int64_t offset, bool finite);
  Expected<std::string> lookAt(int32_t dtype, int64_t offset, int64_t bytes);
  Status lookAtStates();
  Status lookAtInputs(const WeftProgram &program);
  /// Element `index` of a buffer that begins at an arena offset: of a segment
  /// if it lies in one.
  Element locate(const WrittenBuffer &written, int64_t begin,
                 int64_t index) const;
  void note(const WeftProgram &program, const WeftCommand &command, bool fed,
            const Element &element, const std::string &text);
  std::string describe(const WeftProgram &program, const WeftCommand &command,
                       const DebugCommand &entry, int32_t dtype,
                       const Element &element, double value) const;

  WeftContext &context;
  std::map<std::string, std::vector<DebugCommand>> programs;
  std::set<const WeftCommand *> onPurpose;
  std::vector<const WeftCommand *> makers; // of this step
  TaintedBytes tainted;
  TaintedBytes gaps; // of flat states: what they hold means nothing
  /// What made a state non-finite, by its name.
  std::map<std::string, std::string> writers;
  std::vector<Moment> moments; // of this step
  int64_t commands = 0;        // of this step
  Culprit first;               // made by a command from finite values
  Culprit any;                 // wherever it came from
  Culprit received;            // from another rank
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_NANHUNT_H
