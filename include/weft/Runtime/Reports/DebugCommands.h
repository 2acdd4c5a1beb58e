//===- DebugCommands.h - What each command reads and writes -----*- C++ -*-===//
//
// The metadata's `debug_nan` (docs/executable.md).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_REPORTS_DEBUGCOMMANDS_H
#define WEFT_RUNTIME_REPORTS_DEBUGCOMMANDS_H

#include "weft/Abi/Executable.h"
#include "weft/Formats/Json.h"

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

struct DebugCommand {
  std::string place, ops;
  bool holdsInfinity = false; // in a constant
  std::vector<ReadBuffer> reads;
  std::vector<WrittenBuffer> writes;
};

/// One for each command of the program; wrong text is an internal error.
Expected<std::vector<DebugCommand>>
readDebugCommands(const JsonCursor &table, const WeftProgram &program);

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_DEBUGCOMMANDS_H
