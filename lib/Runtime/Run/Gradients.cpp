//===- Gradients.cpp - Inspecting and changing gradients ------------------===//

#include "weft/Runtime/Run/Gradients.h"

#include "weft/Base/Text.h"
#include "weft/Runtime/Devices/ArenaBytes.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <cmath>
#include <optional>

using namespace weft;

static std::vector<NamedTensor> gradientsOf(const WeftExecutable &executable) {
  return namedTensors(executable, WEFT_GRADIENT);
}

/// The first element of those held here that is not finite, or -1.
static Expected<int64_t> firstBad(const WeftContext &context,
                                  const NamedTensor &tensor) {
  const HeldRange held = heldBy(tensor, context.rank());
  const int64_t size = dtypeBytes(tensor.dtype());
  int64_t passed = 0, found = -1;
  Status read = readArena(
      context, held.offset, held.elements() * size,
      [&](const char *data, int64_t bytes) {
        for (int64_t at = 0; at < bytes && found < 0; at += size, ++passed)
          if (!std::isfinite(loadNumber(data + at, tensor.dtype())))
            found = held.begin + passed;
        return Status::success();
      });
  if (!read)
    return read.takeError();
  return found;
}

Expected<std::string> weft::findBadGradient(const WeftContext &context) {
  for (const NamedTensor &gradient : gradientsOf(*context.executable())) {
    auto element = firstBad(context, gradient);
    if (!element)
      return element.takeError();
    if (*element >= 0)
      return "that of " + inQuotes(gradient.param) + " is not (element " +
             std::to_string(*element) + ")";
  }
  return std::string();
}

/// Writes the value to the first element.
static Status breakGradient(WeftContext &context, const NamedTensor &gradient,
                            float value) {
  const HeldRange held = heldBy(gradient, context.rank());
  if (held.elements() == 0)
    return Status::success();
  char bytes[8] = {};
  storeNumber(bytes, gradient.dtype(), value);
  return context.device().copyIn(held.offset, bytes,
                                 dtypeBytes(gradient.dtype()));
}

Status weft::spoilGradients(WeftContext &context) {
  for (const NamedTensor &gradient : gradientsOf(*context.executable()))
    if (heldBy(gradient, context.rank()).elements() > 0)
      return breakGradient(context, gradient, std::nanf(""));
  return Status::success();
}

/// The gradient that a fault breaks: of the first parameter whose name matches
/// and, if the fault names a rank, of which that rank holds elements.
static std::optional<NamedTensor> victimOf(const Fault &fault,
                                           const WeftExecutable &executable) {
  for (NamedTensor &gradient : gradientsOf(executable))
    if (fault.matches(gradient.param) &&
        (fault.rank == Fault::kAllRanks ||
         heldBy(gradient, fault.rank).elements() > 0))
      return std::move(gradient);
  return std::nullopt;
}

/// The parameter of which rank `rank` has a part that a fault changes.
static std::optional<NamedTensor>
flippedBy(const Fault &fault, const WeftExecutable &executable, int64_t rank) {
  for (NamedTensor &weight : namedTensors(executable, WEFT_PARAM))
    if (fault.matches(weight.name) && heldBy(weight, rank).elements() > 0)
      return std::move(weight);
  return std::nullopt;
}

Status weft::checkFaults(const WeftExecutable &executable, int64_t ranks,
                         const Faults &faults) {
  auto missing = [](const char *what, const Fault &fault) {
    return usageError(std::string("WEFT_FAULT expects a parameter that ") +
                      what + " " + inQuotes(fault.pattern) +
                      ", but the program has none");
  };
  for (const Fault &fault : faults.all()) {
    if (fault.rank >= ranks)
      return usageError("WEFT_FAULT expects a rank below " +
                        std::to_string(ranks) + ", but got " +
                        std::to_string(fault.rank));
    if (fault.kind == Fault::Kind::BadGradient && !victimOf(fault, executable))
      return missing(fault.rank == Fault::kAllRanks
                         ? "is trained and matches"
                         : "is trained, that its rank holds and that matches",
                     fault);
    if (fault.kind == Fault::Kind::FlippedBit &&
        !flippedBy(fault, executable, fault.rank))
      return missing("its rank holds and that matches", fault);
  }
  return Status::success();
}

Status weft::flipWeights(WeftContext &context, const Faults &faults,
                         int64_t step) {
  for (const Fault &fault : faults.all()) {
    if (fault.kind != Fault::Kind::FlippedBit || !fault.happensAt(step) ||
        fault.rank != context.rank())
      continue;
    const int64_t offset =
        heldBy(*flippedBy(fault, *context.executable(), fault.rank), fault.rank)
            .offset;
    char byte = 0;
    if (Status s = context.device().copyOut(&byte, offset, 1); !s)
      return s;
    byte ^= 1;
    if (Status s = context.device().copyIn(offset, &byte, 1); !s)
      return s;
  }
  return Status::success();
}

/// Whether the fault breaks the gradient on `rank`: on the rank that it names,
/// and on its replicas, which hold the same elements. Replicas must stay equal.
static bool breaksOn(const Fault &fault, const NamedTensor &gradient,
                     int64_t rank) {
  if (fault.rank == Fault::kAllRanks)
    return true;
  const HeldRange own = heldBy(gradient, rank),
                  named = heldBy(gradient, fault.rank);
  return own.elements() > 0 && own.begin == named.begin;
}

Status weft::breakGradients(WeftContext &context, const Faults &faults,
                            int64_t step, NanHunt *hunt) {
  for (const Fault &fault : faults.all()) {
    if (fault.kind != Fault::Kind::BadGradient || !fault.happensAt(step))
      continue;
    const std::optional<NamedTensor> victim =
        victimOf(fault, *context.executable());
    if (!breaksOn(fault, *victim, context.rank()))
      continue;
    if (Status s = breakGradient(context, *victim, fault.value); !s)
      return s;
    if (hunt)
      hunt->blame(
          *victim,
          "the gradient of " + inQuotes(victim->param) + " came in with " +
              (std::isnan(fault.value) ? "nan" : "inf") + " in element " +
              std::to_string(heldBy(*victim, context.rank()).begin) +
              ", which WEFT_FAULT put there");
  }
  return Status::success();
}
