//===- StateSegments.h - Tensors and segments by name -----------*- C++ -*-===//
//
// Checkpoints, weight files and messages identify parameters and their states
// by name and shape. In a program each is a tensor of its own or a segment of a
// flat tensor, of which a rank may hold only a slice. All accesses by name go
// through these functions.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_STATESEGMENTS_H
#define WEFT_RUNTIME_EXECUTE_STATESEGMENTS_H

#include "weft/Abi/Executable.h"

#include <string>
#include <vector>

namespace weft {

struct NamedTensor {
  const WeftTensor *home; // itself, or the flat tensor that contains it
  std::string name;       // "w", "w.exp_avg"
  std::string param;      // of gradients and moments: "w"; else ""
  std::string source;     // a weight's name in weight files, or ""
  std::vector<int64_t> shape;
  int64_t elements;
  int64_t begin; // its first element, counted over all slices of its home

  int32_t kind() const { return home->kind; }
  int32_t dtype() const { return home->dtype; }
};

/// Elements [begin, end) of a named tensor, and the arena offset of the first.
/// begin == end: the rank holds none.
struct HeldRange {
  int64_t begin, end;
  int64_t offset;
  int64_t elements() const { return end - begin; }
};

/// The segments of a tensor, in order, or the tensor itself if it has none.
std::vector<NamedTensor> namedTensors(const WeftTensor &tensor);
/// The named tensors of an executable, in the order of its table.
std::vector<NamedTensor> namedTensors(const WeftExecutable &executable);
/// The named tensors of one kind (WeftTensorKind).
std::vector<NamedTensor> namedTensors(const WeftExecutable &executable,
                                      int32_t kind);

/// Whether each step computes tensors of that kind anew.
inline bool isMadeByStep(int32_t kind) {
  return kind == WEFT_GRADIENT || kind == WEFT_ACCUMULATOR ||
         kind == WEFT_PRESENCE || kind == WEFT_DENOMINATOR;
}

/// Whether tensors of that kind are written before they are read, in each step
/// or sample.
inline bool isScratch(int32_t kind) {
  return isMadeByStep(kind) || kind == WEFT_CACHE;
}

/// The number of equal slices of the tensor. Ranks whose numbers are equal
/// modulo it hold the same slice.
int64_t slicesOf(const WeftTensor &tensor);

/// The elements of `tensor` that rank `rank` holds.
HeldRange heldBy(const NamedTensor &tensor, int64_t rank);

/// Unused bytes of the arena between segments: ranges [begin, end) in order.
std::vector<std::pair<int64_t, int64_t>> gapsOf(const WeftTensor &tensor,
                                                int64_t rank);

/// The first error in the segments of an executable that `ranks` ranks run, or
/// "". Segments must be in order, inside the slices, with as many elements as
/// their shapes. No two tensors may have the same name.
std::string checkSegments(const WeftExecutable &executable, int ranks);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_STATESEGMENTS_H
