//===- NanWrites.cpp - Origins of what commands write ---------------------===//

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Reports/NanHunt.h"

#include <algorithm>
#include <iterator>

using namespace weft;

//===----------------------------------------------------------------------===//
// Origins
//===----------------------------------------------------------------------===//

Origin NanHunt::addOrigin(const NanCause &cause, bool isPassedOn) {
  origins.push_back(cause);
  return Origin(origins.size()) - 1 + (isPassedOn ? kPassedOn : 0);
}

const NanCause &NanHunt::causeOf(Origin origin) const {
  return origins[size_t(origin % kPassedOn)];
}

/// The smallest origin of elements. The first one is at arena offset `offset`.
static Origin findOrigin(const TaintedBytes &bytes, const Elements &elements,
                         int64_t offset) {
  auto [lowest, highest] = elements.span();
  Origin found = kFinite;
  if (bytes.holds(offset + lowest, offset + highest))
    elements.anyRange([&](int64_t begin, int64_t end) {
      found = std::min(found, bytes.find(offset + begin, offset + end));
      return false;
    });
  return found;
}

/// The smallest origin of all buffers that the command reads, including buffers
/// that it also writes.
static Origin findOrigin(const TaintedBytes &bytes, const WeftCommand &command,
                         const DebugCommand &entry) {
  Origin found = kFinite;
  for (const ReadBuffer &read : entry.reads)
    found = std::min(
        found, findOrigin(bytes, read.elements, command.offsets[read.buffer]));
  return found;
}

/// Sets the origin of the elements of a buffer. Bytes between the elements keep
/// theirs.
static void markElements(TaintedBytes &bytes, const Elements &elements,
                         int64_t offset, Origin origin) {
  if (origin == kFinite && bytes.empty())
    return;
  elements.anyRange([&](int64_t begin, int64_t end) {
    bytes.mark(offset + begin, offset + end, origin);
    return false;
  });
}

static bool isSource(const WrittenBuffer &written, int64_t buffer) {
  return std::find(written.sources.begin(), written.sources.end(), buffer) !=
         written.sources.end();
}

Origin NanHunt::findOther(const Run &run, const WrittenBuffer &written) const {
  Origin found = kFinite;
  for (const ReadBuffer &read : run.entry.reads)
    if (!isSource(written, read.buffer))
      found = std::min(found, findOrigin(tainted, read.elements,
                                         run.command.offsets[read.buffer]));
  return found;
}

Origin NanHunt::findSource(const Run &run, const WrittenBuffer &written,
                           int64_t index) const {
  Origin found = kFinite;
  for (const ReadBuffer &read : run.entry.reads)
    if (isSource(written, read.buffer)) {
      const int64_t begin =
          run.command.offsets[read.buffer] + read.elements.byteOffset(index);
      found = std::min(
          found,
          tainted.find(begin, begin + dtypeBytes(read.elements.dtype())));
    }
  return found;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

NanHunt::Element NanHunt::locate(const WrittenBuffer &written, int64_t begin,
                                 int64_t index) const {
  const int64_t bytes = dtypeBytes(written.elements.dtype());
  const int64_t place = begin + written.elements.byteOffset(index);
  for (const NamedTensor &tensor : namedTensors(*context.executable())) {
    const HeldRange held = heldBy(tensor, context.rank());
    const int64_t element = (place - held.offset) / bytes;
    if (tensor.home->numSegments > 0 && place >= held.offset &&
        element < held.elements())
      return {tensor.name, tensor.shape, held.begin + element};
  }
  return {written.name, written.elements.dims(), index};
}

/// `gemm in h.3.attn (model.mlir:12) of program micro made inf:
/// element 17 of F16[8, 4] 'w.grad'`
std::string NanHunt::describe(const Run &run, int32_t dtype,
                              const Element &element, double value) const {
  std::string text = run.command.name;
  if (!run.entry.ops.empty())
    text += " (" + run.entry.ops + ")";
  if (run.command.scope && *run.command.scope)
    text += std::string(" in ") + run.command.scope;
  if (!run.entry.place.empty())
    text += " at " + run.entry.place;
  text += std::string(", program ") + run.program.symbol + ", made the first ";
  text += nameOf(value);
  text += ": element " + std::to_string(element.index) + " of " +
          dtypeName(dtype) + shapeText(element.dims);
  return element.name.empty() ? text : text + " " + inQuotes(element.name);
}

/// The origin of a value whose operands have no known origin. It is kOnPurpose,
/// or a new one, of which a command gets at most one of each kind.
Origin NanHunt::makeOrigin(Run &run, Origin read, const WrittenBuffer &written,
                           int64_t index, double value) {
  if (onPurpose.count(&run.command) > 0)
    return kOnPurpose;
  const bool isPassedOn =
      read == kOnPurpose || run.entry.holdsInfinity || run.entry.reads.empty();
  Origin &made = run.made[isPassedOn];
  if (made != kFinite)
    return made;
  const int64_t begin = run.command.offsets[written.buffer];
  NanCause cause = {NanCause::Made, commands,
                    describe(run, written.elements.dtype(),
                             locate(written, begin, index), value)};
  if (isPassedOn)
    cause.source = NanCause::CameIn;
  else if (isCollective(run.command))
    cause.source = NanCause::Received;
  made = addOrigin(cause, isPassedOn);
  return made;
}

Status NanHunt::lookAtWritten(Run &run, const WrittenBuffer &written) {
  const int64_t begin = run.command.offsets[written.buffer];
  const int32_t dtype = written.elements.dtype();
  const Origin other = findOther(run, written);
  std::vector<Mark> marks;
  std::string name; // of the tensor that the first element belongs to
  Status looked = forEachBad(
      written.elements, begin, [&](int64_t index, int64_t at, double value) {
        Origin origin = std::min(other, findSource(run, written, index));
        if (marks.empty())
          name = locate(written, begin, index).name;
        if (!isKnown(origin))
          origin = makeOrigin(run, origin, written, index, value);
        const int64_t end = at + dtypeBytes(dtype);
        if (!marks.empty() && marks.back().end == at &&
            marks.back().origin == origin)
          marks.back().end = end;
        else
          marks.push_back({at, end, origin});
        return true;
      });
  if (!looked)
    return looked;
  // The command may have updated its sources in place, so mark after reading.
  markElements(tainted, written.elements, begin, kFinite);
  for (const Mark &mark : marks)
    tainted.mark(mark.begin, mark.end, mark.origin);
  if (marks.empty())
    return Status::success();
  if (onPurpose.count(&run.command) == 0)
    makers.push_back(&run.command);
  if (isUpdate(run.program) && isKnown(marks.front().origin))
    writers[name] = causeOf(marks.front().origin).text;
  return Status::success();
}

Status NanHunt::lookAtWrites(Run &run) {
  const Origin read = findOrigin(tainted, run.command, run.entry);
  const Origin readDerived = findOrigin(derived, run.command, run.entry);
  if (isCollective(run.command))
    sent = std::min(sent, read);
  // The workspace is not read later.
  if (run.command.workspaceBytes > 0) {
    const int64_t begin = run.command.offsets[run.command.numBuffers - 1];
    tainted.mark(begin, begin + run.command.workspaceBytes, kFinite);
  }
  for (const WrittenBuffer &written : run.entry.writes) {
    if (Status s = lookAtWritten(run, written); !s)
      return s;
    if (!isFloat(written.elements.dtype()))
      markElements(derived, written.elements,
                   run.command.offsets[written.buffer],
                   std::min(read, readDerived));
  }
  return Status::success();
}

//===- Tainted bytes ------------------------------------------------------===//

void TaintedBytes::mark(int64_t begin, int64_t end, Origin origin) {
  auto at = ranges.lower_bound(begin);
  if (at != ranges.begin() && std::prev(at)->second.end > begin)
    --at;
  while (at != ranges.end() && at->first < end) {
    const auto [from, old] = *at;
    at = ranges.erase(at);
    if (from < begin)
      ranges[from] = {begin, old.origin};
    if (old.end > end)
      ranges[end] = old;
  }
  if (origin == kFinite || begin >= end)
    return;
  auto next = ranges.lower_bound(begin);
  if (next != ranges.begin() && std::prev(next)->second.end == begin &&
      std::prev(next)->second.origin == origin)
    std::prev(next)->second.end = end;
  else
    ranges[begin] = {end, origin};
}

Origin TaintedBytes::find(int64_t begin, int64_t end) const {
  Origin found = kFinite;
  auto at = ranges.lower_bound(begin);
  if (at != ranges.begin() && std::prev(at)->second.end > begin)
    --at;
  for (; at != ranges.end() && at->first < end && begin < end; ++at)
    found = std::min(found, at->second.origin);
  return found;
}
