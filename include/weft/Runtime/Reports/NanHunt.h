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
#include "weft/Runtime/Execute/StateSegments.h"
#include "weft/Runtime/Reports/DebugCommands.h"
#include "weft/Runtime/Reports/TaintedBytes.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// Where the value comes from that ended a step badly, as one rank saw it.
struct NanCause {
  /// What is to blame, first things first: an op made it, it was there before
  /// the step, it was sent to other ranks and became finite here, or another
  /// rank sent it.
  enum Source { Made, CameIn, Sent, Received };
  Source source = Made;
  int64_t command = 0; // commands of the step before it
  std::string text;    // the sentence about it; "": there is none
};

/// Looks at what every command wrote, as long as it lives, and follows values
/// that are not finite from their origin to the loss and the norm of the
/// gradients, or to other ranks. What a select or a skipped update discards
/// reaches none of these and is not named.
/// An origin is a command that read finite values only, or a weight, a state or
/// an input that was so before: an infinity that a constant holds is passed on,
/// not made. Of several, the first one is named, and for a weight or its copy
/// what an update wrote there.
class NanHunt {
public:
  /// `table` is the metadata's `debug_nan`; wrong text is an internal error.
  static Expected<std::unique_ptr<NanHunt>> create(WeftContext &context,
                                                   const Json &table);
  ~NanHunt();

  /// Forgets what the last step made.
  Status begin();
  /// A value that is not finite came into a gradient from outside the program;
  /// `text` is the sentence about it, unless the gradient had one before.
  void blame(const NamedTensor &gradient, const std::string &text);
  /// The step ended well: a command that made a value that is not finite since
  /// begin() does so on purpose, as masks do, and is passed over from now on.
  void learn();
  /// The origin of what made the step bad, since begin(); none without one.
  NanCause findCause() const;

private:
  explicit NanHunt(WeftContext &context) : context(context) {}

  /// An element, by the tensor that people know it of.
  struct Element {
    std::string name;
    std::vector<int64_t> dims;
    int64_t index;
  };

  Status check(const WeftProgram &program, const WeftCommand &command);
  /// A command that has run.
  struct Run {
    const WeftProgram &program;
    const WeftCommand &command;
    const DebugCommand &entry;
    /// Of values that it made: of finite ones, and of a constant's.
    Origin made[2] = {kFinite, kFinite};
  };
  /// Bytes of the arena with one origin.
  struct Mark {
    int64_t begin, end;
    Origin origin;
  };
  /// Gets the index of an element that is not finite, where it begins in the
  /// arena, and its value; false ends the search.
  using UseBad = std::function<bool(int64_t index, int64_t at, double value)>;

  Origin addOrigin(const NanCause &cause, bool isPassedOn = false);
  const NanCause &causeOf(Origin origin) const;
  /// Goes through elements that are not finite and lie in no gap, in row-major
  /// order. The first element of all lies at an arena offset.
  Status forEachBad(const Elements &elements, int64_t offset,
                    const UseBad &use) const;
  Status lookAtWrites(Run &run);
  Status lookAtWritten(Run &run, const WrittenBuffer &written);
  /// The smallest origin in operands other than the buffer's sources, and in
  /// element `index` of its sources.
  Origin findOther(const Run &run, const WrittenBuffer &written) const;
  Origin findSource(const Run &run, const WrittenBuffer &written,
                    int64_t index) const;
  Origin makeOrigin(Run &run, Origin read, const WrittenBuffer &written,
                    int64_t index, double value);
  /// Makes the sentence about a tensor of " came in with nan in element 3".
  using Sentence = std::function<std::string(const std::string &what)>;
  /// Marks the elements of a dense tensor from outside the programs that are
  /// not finite; the first origin, or kFinite.
  Expected<Origin> lookAt(int32_t dtype, int64_t offset, int64_t bytes,
                          const Sentence &sentence);
  Status lookAtStates();
  /// The sentence about a state that came in so.
  std::string stateText(const NamedTensor &tensor,
                        const std::string &text) const;
  Status lookAtInputs(const WeftProgram &program);
  Status lookAtOutputs(const WeftProgram &program);
  /// Element `index` of a buffer that begins at an arena offset: of a segment
  /// if it lies in one.
  Element locate(const WrittenBuffer &written, int64_t begin,
                 int64_t index) const;
  std::string describe(const Run &run, int32_t dtype, const Element &element,
                       double value) const;

  WeftContext &context;
  std::map<std::string, std::vector<DebugCommand>> programs;
  std::set<const WeftCommand *> onPurpose;
  std::vector<const WeftCommand *> makers; // of this step
  TaintedBytes tainted;
  /// Integers and truth values that were made of non-finite ones.
  TaintedBytes derived;
  TaintedBytes gaps; // of flat states: what they hold means nothing
  /// What made a state non-finite, by its name.
  std::map<std::string, std::string> writers;
  int64_t commands = 0; // of this step
  std::vector<NanCause> origins;
  Origin outcome = kFinite; // of what made the step bad
  Origin sent = kFinite;    // of what other ranks got
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_NANHUNT_H
