//===- NanHunt.cpp - Find the op of the first non-finite value ------------===//

#include "weft/Runtime/Reports/NanHunt.h"

#include "weft/Abi/TransferRecords.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <cmath>
#include <string_view>

using namespace weft;

Expected<std::unique_ptr<NanHunt>> NanHunt::create(WeftContext &context,
                                                   const Json &table) {
  std::unique_ptr<NanHunt> hunt(new NanHunt(context));
  JsonCursor json(table, "<metadata>", ExitCode::Internal);
  for (const WeftProgram &program : programsOf(*context.executable())) {
    auto commands = readDebugCommands(json, program);
    if (!commands)
      return commands.takeError();
    hunt->programs[program.symbol] = std::move(*commands);
  }
  const WeftExecutable &executable = *context.executable();
  for (const WeftTensor &tensor : tensorsOf(executable))
    for (auto [begin, end] : gapsOf(tensor, context.rank()))
      hunt->gaps.mark(begin, end, /*origin=*/0);
  NanHunt *self = hunt.get();
  context.checkHook = [self](const WeftProgram &program,
                             const WeftCommand &command, void *const *) {
    Status looked = self->check(program, command);
    if (!looked)
      self->context.fail(looked.error());
    return looked.ok();
  };
  return hunt;
}

NanHunt::~NanHunt() { context.checkHook = nullptr; }

//===----------------------------------------------------------------------===//
// Looking
//===----------------------------------------------------------------------===//

Status NanHunt::forEachBad(const Elements &elements, int64_t offset,
                           const UseBad &use) const {
  if (!isFloat(elements.dtype()))
    return Status::success();
  auto [lowest, highest] = elements.span();
  auto view = ArenaView::of(context, offset + lowest, highest - lowest);
  if (!view)
    return view.takeError();
  const char *data = view->data() - lowest;
  const int64_t bytes = dtypeBytes(elements.dtype());
  int64_t index = 0;
  elements.anyRange([&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += bytes, ++index) {
      const double value = loadNumber(data + at, elements.dtype());
      if (!std::isfinite(value) &&
          !gaps.holds(offset + at, offset + at + bytes) &&
          !use(index, offset + at, value))
        return true;
    }
    return false;
  });
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Inputs, states and outputs
//===----------------------------------------------------------------------===//

/// Elements of a tensor with origins of their own; later ones share the last.
static constexpr int kMostOrigins = 64;

Expected<Origin> NanHunt::lookAt(int32_t dtype, int64_t offset, int64_t bytes,
                                 const Sentence &sentence) {
  Origin first = kFinite, last = kFinite;
  if (!isFloat(dtype) || bytes == 0)
    return first;
  const int64_t width = dtypeBytes(dtype);
  int64_t count = 0;
  Status looked = forEachBad(
      Elements(dtype, {bytes / width}, {1}), offset,
      [&](int64_t index, int64_t at, double value) {
        if (count++ < kMostOrigins)
          last = addOrigin({NanCause::CameIn, commands,
                            sentence(concat(" came in with ", nameOf(value),
                                            " in element ", index))});
        first = std::min(first, last);
        tainted.mark(at, at + width, last);
        return true;
      });
  if (!looked)
    return looked.takeError();
  return first;
}

/// Weights, moments and the loss scale. A copy that is not finite because its
/// weight is not has the origin of the weight.
Status NanHunt::lookAtStates() {
  std::map<std::string, Origin> weights;
  for (bool isCopy : {false, true})
    for (const NamedTensor &tensor : namedTensors(*context.executable())) {
      if (isScratch(tensor.kind()) ||
          (tensor.kind() == WEFT_WORKING) != isCopy)
        continue;
      const HeldRange held = heldBy(tensor, context.rank());
      const int64_t bytes = held.elements() * dtypeBytes(tensor.dtype());
      auto weight = weights.find(tensor.param);
      const bool isOfWeight = isCopy && weight != weights.end();
      auto origin = lookAt(tensor.dtype(), held.offset, bytes,
                           [&](const std::string &what) {
                             return isOfWeight ? causeOf(weight->second).text
                                               : stateText(tensor, what);
                           });
      if (!origin)
        return origin.takeError();
      if (*origin != kFinite && tensor.kind() == WEFT_PARAM)
        weights[tensor.name] = *origin;
    }
  return Status::success();
}

std::string NanHunt::stateText(const NamedTensor &tensor,
                               const std::string &text) const {
  auto writer = writers.find(tensor.name);
  if (writer != writers.end())
    return writer->second;
  const bool isWeight =
      tensor.kind() == WEFT_PARAM || tensor.kind() == WEFT_WORKING;
  return (isWeight ? "weight " : "state ") + inQuotes(tensor.name) + text;
}

Status NanHunt::lookAtInputs(const WeftProgram &program) {
  for (const WeftPort &port : inputsOf(program)) {
    tainted.mark(port.offset, port.offset + port.bytes, kFinite);
    // Limits of an update may be infinite.
    if (isUpdate(program))
      continue;
    auto origin = lookAt(port.dtype, port.offset, port.bytes,
                         [&](const std::string &what) {
                           return "input " + inQuotes(port.name) + what;
                         });
    if (!origin)
      return origin.takeError();
  }
  return Status::success();
}

/// A step is bad if its loss or its gradients are.
Status NanHunt::lookAtOutputs(const WeftProgram &program) {
  for (const WeftPort &port : outputsOf(program)) {
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

/// Whether only transfers of a device follow the command. They are not checked.
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
  Run run = {program, command, programs[program.symbol][index]};
  if (Status s = lookAtWrites(run); !s)
    return s;
  return isLast(program, index) ? lookAtOutputs(program) : Status::success();
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
    tainted.mark(held.offset, end, addOrigin({NanCause::Made, commands, text}));
}

void NanHunt::learn() { onPurpose.insert(makers.begin(), makers.end()); }

NanCause NanHunt::findCause() const {
  const bool isReceived =
      !isKnown(outcome) || causeOf(outcome).source == NanCause::Received;
  if (isReceived && isKnown(sent)) {
    NanCause cause = causeOf(sent);
    if (cause.source != NanCause::Received)
      cause.source = NanCause::Sent;
    return cause;
  }
  return isKnown(outcome) ? causeOf(outcome) : NanCause();
}
