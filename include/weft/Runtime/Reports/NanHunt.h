//===- NanHunt.h - Find the op of the first non-finite value ----*- C++ -*-===//
//
// For programs compiled with --debug-nan. Their metadata lists the buffers that
// each command reads and writes, and its source location (docs/reference/executable.md).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_REPORTS_NANHUNT_H
#define WEFT_RUNTIME_REPORTS_NANHUNT_H

#include "weft/Abi/Executable.h"
#include "weft/Abi/Names.h"
#include "weft/Formats/Json.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// The elements of a strided buffer, in row-major order.
class Elements {
public:
  Elements(int32_t dtype, std::vector<int64_t> dims,
           const std::vector<int64_t> &strides);

  int32_t dtype() const { return type; }
  const std::vector<int64_t> &dims() const { return shape; }
  /// Bytes from the first element to that one.
  int64_t byteOffset(int64_t index) const;
  /// [first, second): bytes from the lowest to the end of the highest element,
  /// counted from the first one.
  std::pair<int64_t, int64_t> span() const;
  /// Calls `test(begin, end)` with the ranges of bytes that the elements fill,
  /// in order, until it returns true; returns whether it did.
  template <typename Test> bool anyRange(Test test) const {
    const bool isDense = steps.back() == 1;
    const int64_t bytes = elementBytes();
    const int64_t length = isDense ? runs.back() * bytes : bytes;
    const int64_t pieces = isDense ? 1 : runs.back();
    for (Row row(*this); !row.isEnd(); row.next())
      for (int64_t i = 0; i < pieces; ++i) {
        const int64_t from = (row.offset() + i * steps.back()) * bytes;
        if (test(from, from + length))
          return true;
      }
    return false;
  }

private:
  /// Starts of the rows.
  class Row {
  public:
    explicit Row(const Elements &elements);
    bool isEnd() const { return left == 0; }
    int64_t offset() const { return at; }
    void next();

  private:
    const std::vector<int64_t> &runs, &steps;
    std::vector<int64_t> index;
    int64_t left = 1, at = 0;
  };

  int64_t elementBytes() const;

  int32_t type;
  std::vector<int64_t> shape;
  /// The same elements in the same order with as few dimensions as possible, at
  /// least one.
  std::vector<int64_t> runs, steps;
};

/// A buffer that a command reads, by its position among the command's buffers.
struct ReadBuffer {
  int64_t buffer;
  Elements elements;
};

struct WrittenBuffer {
  int64_t buffer;
  Elements elements;
  std::string name; // state or output, or ""
  /// Positions of buffers: each of its elements is computed from the same
  /// element of these, and from others that the command reads.
  std::vector<int64_t> sources;
};

/// Of the metadata's `debug_nan` (docs/reference/executable.md).
struct DebugCommand {
  std::string place, ops;
  bool holdsInfinity = false; // in a constant
  std::vector<ReadBuffer> reads;
  std::vector<WrittenBuffer> writes;
};

/// One for each command of the program; wrong text is an internal error.
Expected<std::vector<DebugCommand>>
readDebugCommands(const JsonCursor &table, const WeftProgram &program);

/// The origin of a non-finite value, a number that the user assigns. Of two
/// origins the smaller one wins.
using Origin = int64_t;
/// The origin of finite values.
inline constexpr Origin kFinite = std::numeric_limits<Origin>::max();

/// The bytes of the arena that belong to a non-finite value.
class TaintedBytes {
public:
  /// Sets the origin of the bytes [begin, end); kFinite clears it.
  void mark(int64_t begin, int64_t end, Origin origin);
  /// The smallest origin of the bytes [begin, end).
  Origin find(int64_t begin, int64_t end) const;
  /// Whether one of the bytes [begin, end) belongs to a non-finite value.
  bool holds(int64_t begin, int64_t end) const {
    return find(begin, end) != kFinite;
  }
  void clear() { ranges.clear(); }
  bool empty() const { return ranges.empty(); }

private:
  struct Range {
    int64_t end;
    Origin origin;
  };
  /// Disjoint ranges by their first byte.
  std::map<int64_t, Range> ranges;
};

/// The origin of the non-finite value that made a step bad, as one rank saw it.
struct NanCause {
  /// The source of the value, by descending priority: an op made it, it existed
  /// before the step, this rank sent it to other ranks and it became finite
  /// here, or another rank sent it.
  enum Source { Made, CameIn, Sent, Received };
  Source source = Made;
  int64_t command = 0; // commands of the step before it
  std::string text;    // the sentence about it; "": there is none
};

/// Inspects the writes of every command while it lives. It follows non-finite
/// values from their origin to the loss and the norm of the gradients, or to
/// other ranks. Values that a select or a skipped update discards reach none of
/// these and are not named.
///
/// An origin is a command that read finite values only, or a weight, state or
/// input that was non-finite before the step. An infinity from a constant is
/// passed on, not made. Of several origins the first one is named. For a weight
/// or its copy, the command of the update that wrote it is named.
class NanHunt {
public:
  /// `table` is the metadata's `debug_nan`; wrong text is an internal error.
  static Expected<std::unique_ptr<NanHunt>> create(WeftContext &context,
                                                   const Json &table);
  ~NanHunt();

  /// Forgets the values of the last step.
  Status begin();
  /// Records a non-finite value that came into a gradient from outside the
  /// program. `text` is the sentence about it, unless the gradient already had
  /// one.
  void blame(const NamedTensor &gradient, const std::string &text);
  /// Call it after a good step. Commands that made non-finite values since
  /// begin() do so on purpose, as masks do, and are ignored from now on.
  void learn();
  /// The origin of the value that made the step bad since begin(); an empty
  /// text if there is none.
  NanCause findCause() const;

private:
  /// Added to the number of a constant's infinity: any other origin is smaller.
  static constexpr Origin kPassedOn = Origin(1) << 40;
  /// The origin of values that a command makes on purpose: the largest of all.
  static constexpr Origin kOnPurpose = kFinite - 1;

  static bool isKnown(Origin origin) { return origin < kOnPurpose; }
  static bool isFloat(int32_t dtype) {
    return dtype == WEFT_F32 || dtype == WEFT_F64 || dtype == WEFT_F16 ||
           dtype == WEFT_BF16;
  }
  static const char *nameOf(double value) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  /// Programs that write weights and their copies.
  static bool isUpdate(const WeftProgram &program) {
    const std::string_view kind = program.kind;
    return kind == names::kApply || kind == names::kRefresh;
  }

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
    /// Origins of values that it made: [0] from finite operands, [1] passed on
    /// from a constant or from values made on purpose.
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
  /// Visits the non-finite elements outside of gaps in row-major order. The
  /// first element of the buffer is at arena offset `offset`.
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
  TaintedBytes gaps; // padding of flat states: its values have no meaning
  /// The text of the command that made a state non-finite, by state name.
  std::map<std::string, std::string> writers;
  int64_t commands = 0; // of this step
  std::vector<NanCause> origins;
  Origin outcome = kFinite; // of the value that made the step bad
  Origin sent = kFinite;    // of values that were sent to other ranks
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_NANHUNT_H
