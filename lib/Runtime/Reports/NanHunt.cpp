//===- NanHunt.cpp - Which op made the first non-finite value -------------===//

#include "weft/Runtime/Reports/NanHunt.h"

#include "weft/Formats/Names.h"
#include "weft/Runtime/Devices/ArenaBytes.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/Collectives.h"
#include "weft/Runtime/Execute/DTypes.h"
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
      hunt->gaps.mark(begin, end, /*origin=*/0);
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
// Origins
//===----------------------------------------------------------------------===//

/// Added to the number of a constant's infinity: any other origin is smaller.
static constexpr Origin kPassedOn = Origin(1) << 40;
/// The origin of values that a command makes on purpose: the largest of all.
static constexpr Origin kOnPurpose = kFinite - 1;

static bool isKnown(Origin origin) { return origin < kOnPurpose; }

Origin NanHunt::addOrigin(const Culprit &culprit, bool isPassedOn) {
  origins.push_back(culprit);
  return Origin(origins.size()) - 1 + (isPassedOn ? kPassedOn : 0);
}

const Culprit &NanHunt::culpritOf(Origin origin) const {
  return origins[size_t(origin % kPassedOn)];
}

/// The smallest origin of elements, the first of which lies at an arena offset.
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

/// That of all buffers that the command reads, and may write as well.
static Origin findOrigin(const TaintedBytes &bytes, const WeftCommand &command,
                         const DebugCommand &entry) {
  Origin found = kFinite;
  for (const ReadBuffer &read : entry.reads)
    found = std::min(
        found, findOrigin(bytes, read.elements, command.offsets[read.buffer]));
  return found;
}

/// Notes what the elements of a buffer hold now, and says nothing of what lies
/// between them.
static void markElements(TaintedBytes &bytes, const Elements &elements,
                         int64_t offset, Origin origin) {
  if (origin == kFinite && bytes.empty())
    return;
  elements.anyRange([&](int64_t begin, int64_t end) {
    bytes.mark(offset + begin, offset + end, origin);
    return false;
  });
}

//===----------------------------------------------------------------------===//
// Inputs, states and outputs
//===----------------------------------------------------------------------===//

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
  return std::string(" came in with ") + nameOf(value) + " in element " +
         std::to_string(*element);
}

/// Weights, moments and the loss scale. A copy that is not finite because its
/// weight is not has the origin of the weight.
Status NanHunt::lookAtStates() {
  std::map<std::string, Origin> weights;
  for (bool isCopy : {false, true})
    for (const NamedTensor &tensor : namedTensors(*context.executable())) {
      if (isMadeByStep(tensor.kind()) ||
          (tensor.kind() == WEFT_WORKING) != isCopy)
        continue;
      const HeldRange held = heldBy(tensor, context.rank());
      const int64_t bytes = held.elements() * dtypeBytes(tensor.dtype());
      auto text = lookAt(tensor.dtype(), held.offset, bytes);
      if (!text)
        return text.takeError();
      if (text->empty())
        continue;
      auto weight = weights.find(tensor.param);
      const Origin origin = isCopy && weight != weights.end()
                                ? weight->second
                                : addState(tensor, *text);
      tainted.mark(held.offset, held.offset + bytes, origin);
      if (tensor.kind() == WEFT_PARAM)
        weights[tensor.name] = origin;
    }
  return Status::success();
}

Origin NanHunt::addState(const NamedTensor &tensor, const std::string &text) {
  const bool isWeight =
      tensor.kind() == WEFT_PARAM || tensor.kind() == WEFT_WORKING;
  auto writer = writers.find(tensor.name);
  return addOrigin(
      {Culprit::CameIn, commands,
       writer != writers.end()
           ? writer->second
           : (isWeight ? "weight " : "state ") + inQuotes(tensor.name) + text});
}

Status NanHunt::lookAtInputs(const WeftProgram &program) {
  for (int32_t i = 0; i < program.numInputs; ++i) {
    const WeftPort &port = program.inputs[i];
    const int64_t end = port.offset + port.bytes;
    tainted.mark(port.offset, end, kFinite);
    // Limits of an update may be infinite.
    if (isUpdate(program))
      continue;
    auto text = lookAt(port.dtype, port.offset, port.bytes);
    if (!text)
      return text.takeError();
    if (!text->empty())
      tainted.mark(port.offset, end,
                   addOrigin({Culprit::CameIn, commands,
                              "input " + inQuotes(port.name) + *text}));
  }
  return Status::success();
}

/// A step is bad if its loss or its gradients are.
Status NanHunt::lookAtOutputs(const WeftProgram &program) {
  for (int32_t i = 0; i < program.numOutputs; ++i) {
    const WeftPort &port = program.outputs[i];
    const std::string_view name = port.name;
    const int64_t end = port.offset + port.bytes;
    if (name == names::kLoss || name == names::kGradNorm)
      outcome = std::min(outcome, tainted.find(port.offset, end));
    if (name != names::kFoundInf)
      continue;
    auto found = loadArenaNumber(context, port.offset, port.dtype);
    if (!found)
      return found.takeError();
    if (*found != 0)
      outcome = std::min(outcome, derived.find(port.offset, end));
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

/// Whether only transfers of a device come behind the command, which nobody
/// looks at.
static bool isLast(const WeftProgram &program, int64_t index) {
  for (int64_t i = index + 1; i < program.numCommands; ++i)
    if (!isTransfer(program.commands[i].kind))
      return false;
  return true;
}

Status NanHunt::check(const WeftProgram &program, const WeftCommand &command) {
  ++commands;
  // A device is given the inputs by a command, the host has them before.
  if (command.kind == WEFT_UPLOAD)
    return lookAtInputs(program);
  if (&command == program.commands)
    if (Status s = lookAtInputs(program); !s)
      return s;
  const int64_t index = &command - program.commands;
  if (Status s =
          lookAtWrites(program, command, programs[program.symbol][index]);
      !s)
    return s;
  return isLast(program, index) ? lookAtOutputs(program) : Status::success();
}

Status NanHunt::lookAtWrites(const WeftProgram &program,
                             const WeftCommand &command,
                             const DebugCommand &entry) {
  const Origin read = findOrigin(tainted, command, entry);
  const Origin readDerived = findOrigin(derived, command, entry);
  if (isCollective(command))
    sent = std::min(sent, read);
  // What it leaves in its workspace means nothing.
  if (command.workspaceBytes > 0) {
    const int64_t begin = command.offsets[command.numBuffers - 1];
    tainted.mark(begin, begin + command.workspaceBytes, kFinite);
  }
  Origin origin = kFinite;
  for (const WrittenBuffer &written : entry.writes) {
    double value = 0.0;
    const int64_t begin = command.offsets[written.buffer];
    auto element = find(written.elements, begin, value);
    if (!element)
      return element.takeError();
    if (!isFloat(written.elements.dtype()))
      markElements(derived, written.elements, begin,
                   std::min(read, readDerived));
    if (*element >= 0 && origin == kFinite)
      origin =
          originOf(command, entry, read,
                   describe(program, command, entry, written.elements.dtype(),
                            locate(written, begin, *element), value));
    markElements(tainted, written.elements, begin,
                 *element < 0 ? kFinite : origin);
    if (*element >= 0 && isUpdate(program) && isKnown(origin))
      writers[locate(written, begin, *element).name] = culpritOf(origin).text;
  }
  return Status::success();
}

Origin NanHunt::originOf(const WeftCommand &command, const DebugCommand &entry,
                         Origin read, const std::string &text) {
  const bool isOnPurpose = onPurpose.count(&command) > 0;
  if (!isOnPurpose)
    makers.push_back(&command);
  if (isKnown(read) || isOnPurpose)
    return std::min(read, kOnPurpose);
  if (read == kOnPurpose || entry.holdsInfinity || entry.reads.empty())
    return addOrigin({Culprit::CameIn, commands, text}, /*isPassedOn=*/true);
  return addOrigin({isCollective(command) ? Culprit::Received : Culprit::Made,
                    commands, text});
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
  origins.clear();
  outcome = sent = kFinite;
  tainted.clear();
  derived.clear();
  makers.clear();
  return lookAtStates();
}

void NanHunt::blame(const NamedTensor &gradient, const std::string &text) {
  const HeldRange held = heldBy(gradient, context.rank());
  const int64_t end =
      held.offset + held.elements() * dtypeBytes(gradient.dtype());
  if (!tainted.holds(held.offset, end))
    tainted.mark(held.offset, end, addOrigin({Culprit::Made, commands, text}));
}

Culprit NanHunt::finish(bool good) {
  if (good) {
    onPurpose.insert(makers.begin(), makers.end());
    return {};
  }
  const bool isReceived =
      !isKnown(outcome) || culpritOf(outcome).source == Culprit::Received;
  if (isReceived && isKnown(sent)) {
    Culprit culprit = culpritOf(sent);
    if (culprit.source != Culprit::Received)
      culprit.source = Culprit::Sent;
    return culprit;
  }
  return isKnown(outcome) ? culpritOf(outcome) : Culprit();
}
