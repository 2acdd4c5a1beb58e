//===- NanHunt.cpp - Which op made the first non-finite value -------------===//

#include "weft/Runtime/Reports/NanHunt.h"

#include "weft/Formats/Names.h"
#include "weft/Runtime/Devices/ArenaBytes.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/Collectives.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/Segments.h"
#include "weft/Runtime/Execute/Transfers.h"

#include <algorithm>
#include <cmath>
#include <string_view>

using namespace weft;

static bool isFloat(int32_t dtype) {
  return dtype == WEFT_F32 || dtype == WEFT_F64 || dtype == WEFT_F16 ||
         dtype == WEFT_BF16;
}

Expected<std::unique_ptr<NanHunt>> NanHunt::create(WeftContext &context,
                                                   const Json &table) {
  std::unique_ptr<NanHunt> hunt(new NanHunt(context));
  JsonCursor json(table, "<metadata>", ExitCode::Internal);
  for (int32_t i = 0; i < context.executable()->numPrograms; ++i) {
    const WeftProgram &program = context.executable()->programs[i];
    auto commands = readDebugCommands(json, program);
    if (!commands)
      return commands.takeError();
    hunt->programs[program.symbol] = std::move(*commands);
  }
  const WeftExecutable &executable = *context.executable();
  for (int32_t i = 0; i < executable.numTensors; ++i)
    for (auto [begin, end] : gapsOf(executable.tensors[i], context.rank()))
      hunt->gaps.mark(begin, end, /*finite=*/false);
  NanHunt *self = hunt.get();
  context.checkHook = [self](const WeftProgram &program,
                             const WeftCommand &command, void *const *) {
    Status looked = self->check(program, command);
    if (!looked)
      self->context.fail(looked.error().exitStatus(), looked.error().message(),
                         looked.error().hintText());
    return looked.ok();
  };
  return hunt;
}

NanHunt::~NanHunt() { context.checkHook = nullptr; }

//===----------------------------------------------------------------------===//
// Looking
//===----------------------------------------------------------------------===//

static const char *nameOf(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// The first element that is not finite and lies in no gap, in row-major order,
/// and its value; or -1. The first element of all lies at an arena offset.
Expected<int64_t> NanHunt::find(const Elements &elements, int64_t offset,
                                double &value) const {
  if (!isFloat(elements.dtype()))
    return -1;
  auto [lowest, highest] = elements.span();
  auto view = ArenaView::of(context, offset + lowest, highest - lowest);
  if (!view)
    return view.takeError();
  const char *data = view->data() - lowest;
  const int64_t bytes = dtypeBytes(elements.dtype());
  int64_t passed = 0;
  bool found = elements.anyRange([&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += bytes, ++passed) {
      value = loadNumber(data + at, elements.dtype());
      if (!std::isfinite(value) &&
          !gaps.holds(offset + at, offset + at + bytes))
        return true;
    }
    return false;
  });
  return found ? passed : -1;
}

/// Programs that write weights and their copies.
static bool isUpdate(const WeftProgram &program) {
  std::string kind = program.kind;
  return kind == names::kApply || kind == names::kRefresh;
}

//===----------------------------------------------------------------------===//
// Where values that are not finite lie
//===----------------------------------------------------------------------===//

bool NanHunt::isTainted(const Elements &elements, int64_t offset) const {
  auto [lowest, highest] = elements.span();
  if (!tainted.holds(offset + lowest, offset + highest))
    return false;
  return elements.anyRange([&](int64_t begin, int64_t end) {
    return tainted.holds(offset + begin, offset + end);
  });
}

bool NanHunt::isFed(const WeftCommand &command,
                    const DebugCommand &entry) const {
  auto isTaintedRead = [&](const ReadBuffer &read) {
    return isTainted(read.elements, command.offsets[read.buffer]);
  };
  return entry.holdsInfinity || entry.reads.empty() ||
         std::any_of(entry.reads.begin(), entry.reads.end(), isTaintedRead);
}

/// The sentence about a moment that was not finite when the step began, if the
/// command reads it or what was made of it, or "".
std::string NanHunt::findMoment(const WeftCommand &command,
                                const DebugCommand &entry) const {
  for (const Moment &moment : moments)
    for (const ReadBuffer &read : entry.reads) {
      auto [lowest, highest] = read.elements.span();
      const int64_t offset = command.offsets[read.buffer];
      if (moment.begin < offset + highest && offset + lowest < moment.end)
        return moment.text;
    }
  return "";
}

/// Notes that an update has made a buffer of that moment, or of none ("").
void NanHunt::passOn(const std::string &moment, const WrittenBuffer &written,
                     int64_t offset) {
  auto [lowest, highest] = written.elements.span();
  const int64_t begin = offset + lowest, end = offset + highest;
  auto isOver = [begin = begin, end = end](const Moment &old) {
    return old.begin < end && begin < old.end;
  };
  moments.erase(std::remove_if(moments.begin(), moments.end(), isOver),
                moments.end());
  if (!moment.empty())
    moments.push_back({begin, end, moment});
}

/// Notes what the elements of a buffer hold now, and says nothing of what lies
/// between them.
void NanHunt::mark(const Elements &elements, int64_t offset, bool finite) {
  if (finite && tainted.empty())
    return;
  elements.anyRange([&](int64_t begin, int64_t end) {
    tainted.mark(offset + begin, offset + end, finite);
    return false;
  });
}

/// Looks at a dense tensor from outside the programs: " came in with nan in
/// element 3", or "".
Expected<std::string> NanHunt::lookAt(int32_t dtype, int64_t offset,
                                      int64_t bytes) {
  if (!isFloat(dtype))
    return std::string();
  int64_t count = bytes / dtypeBytes(dtype);
  Elements whole(dtype, {count}, {1});
  double value = 0.0;
  auto element = count > 0 ? find(whole, offset, value) : int64_t(-1);
  if (!element)
    return element.takeError();
  if (*element < 0)
    return std::string();
  tainted.mark(offset, offset + bytes, /*finite=*/false);
  return std::string(" came in with ") + nameOf(value) + " in element " +
         std::to_string(*element);
}

/// All but what the step makes. A moment is no reason by itself: a
/// mean of squares may be infinite and harm nothing.
Status NanHunt::lookAtStates() {
  for (const NamedTensor &tensor : namedTensors(*context.executable())) {
    if (isMadeByStep(tensor.kind()))
      continue;
    const HeldRange held = heldBy(tensor, context.rank());
    const int64_t bytes = held.elements() * dtypeBytes(tensor.dtype());
    auto looked = lookAt(tensor.dtype(), held.offset, bytes);
    if (!looked)
      return looked.takeError();
    std::string text = *looked;
    if (text.empty())
      continue;
    const bool isWeight =
        tensor.kind() == WEFT_PARAM || tensor.kind() == WEFT_WORKING;
    text = (isWeight ? "weight " : "state ") + inQuotes(tensor.name) + text;
    if (auto writer = writers.find(tensor.name); writer != writers.end())
      text = writer->second;
    if (tensor.kind() == WEFT_OPTIMIZER)
      moments.push_back({held.offset, held.offset + bytes, text});
    else if (any.text.empty())
      any = {Culprit::CameIn, commands, text};
  }
  return Status::success();
}

Status NanHunt::lookAtInputs(const WeftProgram &program) {
  for (int32_t i = 0; i < program.numInputs; ++i) {
    const WeftPort &port = program.inputs[i];
    tainted.mark(port.offset, port.offset + port.bytes, /*finite=*/true);
    // Limits of an update may be infinite.
    if (isUpdate(program))
      continue;
    auto text = lookAt(port.dtype, port.offset, port.bytes);
    if (!text)
      return text.takeError();
    if (!text->empty() && any.text.empty())
      any = {Culprit::CameIn, commands, "input " + inQuotes(port.name) + *text};
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Whether a command writes what other ranks have sent.
static bool isCollective(const WeftCommand &command) {
  static constexpr std::string_view names[] = {
#define WEFT_NAME_OF_COLLECTIVE(name, Record) #name,
      WEFT_COLLECTIVES(WEFT_NAME_OF_COLLECTIVE)
#undef WEFT_NAME_OF_COLLECTIVE
  };
  return command.kind == WEFT_EXTENSION &&
         std::find(std::begin(names), std::end(names), command.name) !=
             std::end(names);
}

Status NanHunt::check(const WeftProgram &program, const WeftCommand &command) {
  ++commands;
  // A device is given the inputs by a command, the host has them before.
  if (command.kind == WEFT_UPLOAD)
    return lookAtInputs(program);
  if (&command == program.commands)
    if (Status s = lookAtInputs(program); !s)
      return s;
  const DebugCommand &entry =
      programs[program.symbol][&command - program.commands];
  const bool fed = isFed(command, entry);
  const std::string moment = findMoment(command, entry);
  // What it leaves in its workspace means nothing.
  if (command.workspaceBytes > 0) {
    const int64_t begin = command.offsets[command.numBuffers - 1];
    tainted.mark(begin, begin + command.workspaceBytes, /*finite=*/true);
  }
  bool found = false;
  for (const WrittenBuffer &written : entry.writes) {
    double value = 0.0;
    int64_t begin = command.offsets[written.buffer];
    auto element = find(written.elements, begin, value);
    if (!element)
      return element.takeError();
    mark(written.elements, begin, *element < 0);
    const bool isMoment = *element >= 0 && fed && isUpdate(program);
    if (!moments.empty() && isUpdate(program))
      passOn(isMoment ? moment : "", written, begin);
    if (*element < 0)
      continue;
    const Element place = locate(written, begin, *element);
    if (isMoment && !moment.empty())
      writers[place.name] = moment;
    if (found || onPurpose.count(&command))
      continue;
    found = true;
    note(program, command, fed, place,
         describe(program, command, entry, written.elements.dtype(), place,
                  value));
  }
  return Status::success();
}

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

void NanHunt::note(const WeftProgram &program, const WeftCommand &command,
                   bool fed, const Element &element, const std::string &text) {
  if (!fed && isUpdate(program) && !element.name.empty())
    writers[element.name] = text;
  makers.push_back(&command);
  if (!fed && isCollective(command)) {
    if (received.text.empty())
      received = {Culprit::Received, commands, text};
    return;
  }
  if (any.text.empty())
    any = {Culprit::CameIn, commands, text};
  if (!fed && first.text.empty())
    first = {Culprit::Made, commands, text};
}

/// `gemm in h.3.attn (model.mlir:12) of program micro made inf:
/// element 17 of F16[8, 4] 'w.grad'`
std::string NanHunt::describe(const WeftProgram &program,
                              const WeftCommand &command,
                              const DebugCommand &entry, int32_t dtype,
                              const Element &element, double value) const {
  std::string text = command.name;
  if (!entry.ops.empty())
    text += " (" + entry.ops + ")";
  if (command.scope && *command.scope)
    text += std::string(" in ") + command.scope;
  if (!entry.place.empty())
    text += " at " + entry.place;
  text += std::string(", program ") + program.symbol + ", made the first ";
  text += nameOf(value);
  text += ": element " + std::to_string(element.index) + " of " +
          dtypeName(dtype) + shapeText(element.dims);
  return element.name.empty() ? text : text + " " + inQuotes(element.name);
}

Status NanHunt::begin() {
  commands = 0;
  first = any = received = {};
  tainted.clear();
  makers.clear();
  moments.clear();
  return lookAtStates();
}

void NanHunt::blame(const std::string &text) {
  if (first.text.empty())
    first = {Culprit::Made, commands, text};
}

Culprit NanHunt::finish(bool good) {
  if (good) {
    onPurpose.insert(makers.begin(), makers.end());
    return {};
  }
  if (!first.text.empty())
    return first;
  // What was made of a received value is no reason.
  const bool isReceived = !received.text.empty() &&
                          (any.text.empty() || received.command < any.command);
  if (!any.text.empty() && !isReceived)
    return any;
  if (moments.empty())
    return received;
  return {Culprit::CameIn, 0, moments.front().text};
}
