//===- StateSegments.cpp - Tensors and segments by name -------------------===//

#include "weft/Runtime/Execute/StateSegments.h"

#include "weft/Base/CountText.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <set>

using namespace weft;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static const char *textOf(const char *text) { return text ? text : ""; }

static NamedTensor wholeOf(const WeftTensor &tensor) {
  return {&tensor,
          tensor.name,
          textOf(tensor.param),
          textOf(tensor.source),
          shapeOf(tensor),
          elementsOf(tensor),
          /*begin=*/0};
}

static NamedTensor segmentOf(const WeftTensor &tensor,
                             const WeftSegment &segment) {
  const bool isWeight = tensor.kind == WEFT_PARAM;
  const std::string param = segment.param;
  return {&tensor,
          isWeight ? param : param + "." + textOf(tensor.slot),
          isWeight ? "" : param,
          textOf(segment.source),
          shapeOf(segment.dims, segment.rank),
          segment.end - segment.begin,
          segment.begin};
}

static void append(std::vector<NamedTensor> &list, const WeftTensor &tensor) {
  if (tensor.numSegments == 0)
    list.push_back(wholeOf(tensor));
  for (int32_t i = 0; i < tensor.numSegments; ++i)
    list.push_back(segmentOf(tensor, tensor.segments[i]));
}

std::vector<NamedTensor> weft::namedTensors(const WeftTensor &tensor) {
  std::vector<NamedTensor> list;
  append(list, tensor);
  return list;
}

std::vector<NamedTensor> weft::namedTensors(const WeftExecutable &executable) {
  std::vector<NamedTensor> list;
  for (const WeftTensor &tensor : tensorsOf(executable))
    append(list, tensor);
  return list;
}

std::vector<NamedTensor> weft::namedTensors(const WeftExecutable &executable,
                                            int32_t kind) {
  std::vector<NamedTensor> list;
  for (const WeftTensor &tensor : tensorsOf(executable))
    if (tensor.kind == kind)
      append(list, tensor);
  return list;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

int64_t weft::slicesOf(const WeftTensor &tensor) {
  return tensor.numSegments == 0 ? 1 : tensor.slices;
}

/// The first element of a rank's slice, counted over all slices.
static int64_t sliceBegin(const WeftTensor &tensor, int64_t rank) {
  return rank % slicesOf(tensor) * elementsOf(tensor);
}

HeldRange weft::heldBy(const NamedTensor &tensor, int64_t rank) {
  const WeftTensor &home = *tensor.home;
  const int64_t slice = sliceBegin(home, rank);
  const int64_t first = std::max(tensor.begin, slice);
  const int64_t last =
      std::min(tensor.begin + tensor.elements, slice + elementsOf(home));
  if (first >= last)
    return {0, 0, home.offset};
  return {first - tensor.begin, last - tensor.begin,
          home.offset + (first - slice) * dtypeBytes(home.dtype)};
}

std::vector<std::pair<int64_t, int64_t>> weft::gapsOf(const WeftTensor &tensor,
                                                      int64_t rank) {
  std::vector<std::pair<int64_t, int64_t>> gaps;
  int64_t end = tensor.offset;
  auto skipTo = [&](int64_t begin) {
    if (end < begin)
      gaps.push_back({end, begin});
  };
  for (const NamedTensor &segment : namedTensors(tensor)) {
    const HeldRange held = heldBy(segment, rank);
    if (held.elements() == 0)
      continue;
    skipTo(held.offset);
    end = held.offset + held.elements() * dtypeBytes(tensor.dtype);
  }
  skipTo(tensor.offset + tensor.bytes);
  return gaps;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static std::string rangeText(const WeftSegment &segment) {
  return concat("[", segment.begin, ", ", segment.end, ")");
}

/// Checks that a segment has as many elements as its shape, and does not begin
/// before element `end` of the tensor.
static std::string checkSegment(const WeftSegment &segment,
                                const std::string &tensor, int64_t end) {
  const std::string what =
      "segment " + inQuotes(segment.param) + " of tensor " + tensor;
  auto elements = countElements(shapeOf(segment.dims, segment.rank));
  if (!elements || segment.begin < 0 || segment.end < segment.begin ||
      segment.end - segment.begin != *elements)
    return "expects as many elements as its shape " +
           shapeText(shapeOf(segment.dims, segment.rank)) + " has in " + what +
           ", but got " + rangeText(segment);
  if (segment.begin < end)
    return "expects " + what + " after element " + std::to_string(end) +
           ", but got " + rangeText(segment);
  return "";
}

static std::string checkTensor(const WeftTensor &tensor, int ranks) {
  const std::string name = inQuotes(tensor.name);
  if (tensor.numSegments < 0)
    return "expects at least 0 segments in tensor " + name + ", but got " +
           std::to_string(tensor.numSegments);
  if (tensor.numSegments == 0)
    return "";
  if (tensor.slices < 1 || ranks % tensor.slices != 0)
    return "expects a number of ranks that the shards of tensor " + name +
           " divide, but got " + countText(ranks, "rank") + " for " +
           countText(tensor.slices, "shard");
  int64_t end = 0, all = 0;
  for (int32_t i = 0; i < tensor.numSegments; ++i) {
    std::string message = checkSegment(tensor.segments[i], name, end);
    if (!message.empty())
      return message;
    end = tensor.segments[i].end;
  }
  if (!__builtin_mul_overflow(elementsOf(tensor), tensor.slices, &all) &&
      end <= all)
    return "";
  return "expects segments inside the " + std::to_string(tensor.slices) +
         " x " + std::to_string(elementsOf(tensor)) + " elements of tensor " +
         name + ", but got one that ends at " + std::to_string(end);
}

std::string weft::checkSegments(const WeftExecutable &executable, int ranks) {
  std::set<std::string> names;
  for (int32_t i = 0; i < executable.numTensors; ++i) {
    std::string message = checkTensor(executable.tensors[i], ranks);
    if (!message.empty())
      return message;
    for (const NamedTensor &tensor : namedTensors(executable.tensors[i]))
      if (!names.insert(tensor.name).second)
        return "expects each tensor in one place, but got a second " +
               inQuotes(tensor.name);
  }
  return "";
}
