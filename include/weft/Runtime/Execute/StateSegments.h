//===- StateSegments.h - Tensors by name, wherever they lie -----*- C++ -*-===//
//
// Checkpoints, weight files and messages know parameters and what is kept of
// them by name and shape. In a program each is a tensor of its own or a segment
// of a flat one, of which a rank may hold only a slice. Everything that goes by
// names asks here.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_STATESEGMENTS_H
#define WEFT_RUNTIME_EXECUTE_STATESEGMENTS_H

#include "weft/Abi/Executable.h"

#include <string>
#include <vector>

namespace weft {

struct NamedTensor {
  const WeftTensor *home; // itself, or the flat tensor that it lies in
  std::string name;       // "w", "w.exp_avg"
  std::string param;      // of gradients and moments: "w"; else ""
  std::string source;     // a weight's name in weight files, or ""
  std::vector<int64_t> shape;
  int64_t elements;
  int64_t begin; // its first element among those of all slices of its home

  int32_t kind() const { return home->kind; }
  int32_t dtype() const { return home->dtype; }
};

/// Elements [begin, end) of a named tensor, and where the first lies in the
/// arena. begin == end: the rank holds none.
struct HeldRange {
  int64_t begin, end;
  int64_t offset;
  int64_t elements() const { return end - begin; }
};

/// What lies in a tensor, in order: its segments, or itself.
std::vector<NamedTensor> namedTensors(const WeftTensor &tensor);
/// What lies in the tensors of an executable, in the order of its table.
std::vector<NamedTensor> namedTensors(const WeftExecutable &executable);
/// Those of one kind (WeftTensorKind).
std::vector<NamedTensor> namedTensors(const WeftExecutable &executable,
                                      int32_t kind);

/// Whether each step makes a tensor of that kind anew.
inline bool isMadeByStep(int32_t kind) {
  return kind == WEFT_GRADIENT || kind == WEFT_ACCUMULATOR ||
         kind == WEFT_PRESENCE || kind == WEFT_DENOMINATOR;
}

/// In how many equal parts ranks hold the tensor: ranks that are as many apart
/// hold the same.
int64_t slicesOf(const WeftTensor &tensor);

/// What rank `rank` holds of it.
HeldRange heldBy(const NamedTensor &tensor, int64_t rank);

/// Bytes of the arena between segments, which hold nothing: ranges
/// [begin, end) in order.
std::vector<std::pair<int64_t, int64_t>> gapsOf(const WeftTensor &tensor,
                                                int64_t rank);

/// What is wrong with the segments of an executable that `ranks` ranks run, or
/// "": they stand in order, inside the slices, each with as many elements as
/// its shape has, and no two tensors have one name.
std::string checkSegments(const WeftExecutable &executable, int ranks);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_STATESEGMENTS_H
