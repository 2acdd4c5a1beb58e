//===- AheadDevice.cpp - A host that runs ahead of the runtime ------------===//

#include "AheadDevice.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace weft;

std::shared_ptr<AheadDevice> AheadDevice::fromEnvironment(int threads) {
  const char *text = std::getenv("TOY_AHEAD");
  return std::make_shared<AheadDevice>(threads, text ? std::atoi(text) : 0,
                                       text && std::strstr(text, "late"));
}

std::vector<char> &AheadDevice::mirrorOf(Mirrors &mirrors,
                                         const WeftPort &port) {
  std::vector<char> &mirror = mirrors[port.offset];
  mirror.resize(std::max(mirror.size(), size_t(port.bytes)), char(0x7F));
  return mirror;
}

/// An error is told when the run is finished.
void AheadDevice::perform(Run &run) {
  if (run.isDone)
    return;
  run.isDone = true;
  for (int32_t i = 0; i < run.program->numInputs; ++i) {
    const WeftPort &port = run.program->inputs[i];
    std::memcpy(arena.data() + port.offset, mirrorOf(run.inputs, port).data(),
                size_t(port.bytes));
  }
  run.isGood = HostDevice::start(*run.context, *run.program) &&
               HostDevice::finish(*run.context);
  for (int32_t i = 0; i < run.program->numOutputs; ++i) {
    const WeftPort &port = run.program->outputs[i];
    std::memcpy(mirrorOf(run.outputs, port).data(), arena.data() + port.offset,
                size_t(port.bytes));
  }
}

void AheadDevice::performAll() {
  for (Run &run : inFlight)
    perform(run);
}

Status AheadDevice::copyIn(int64_t offset, const void *data, int64_t bytes) {
  performAll();
  return HostDevice::copyIn(offset, data, bytes);
}

Status AheadDevice::copyOut(void *data, int64_t offset, int64_t bytes) {
  performAll();
  return HostDevice::copyOut(data, offset, bytes);
}

Status AheadDevice::zero(int64_t offset, int64_t bytes) {
  performAll();
  return HostDevice::zero(offset, bytes);
}

Status AheadDevice::synchronize() {
  performAll();
  return Status::success();
}

char *AheadDevice::inputBytes(const WeftPort &port) {
  return mirrorOf(inputs, port).data();
}

const char *AheadDevice::outputBytes(const WeftPort &port) {
  return mirrorOf(outputs, port).data();
}

bool AheadDevice::start(WeftContext &context, const WeftProgram &program) {
  if (int(inFlight.size()) >= std::max(1, runs)) {
    std::fprintf(stderr, "expects the oldest run to be finished first\n");
    std::abort();
  }
  const bool isMicro = std::strcmp(program.kind, "micro") == 0;
  for (const Run &run : inFlight)
    ahead += isMicro && std::strcmp(run.program->kind, "apply") == 0;
  inFlight.push_back({&context, &program, inputs, {}});
  most = std::max(most, int(inFlight.size()));
  if (!isLate)
    perform(inFlight.back());
  return true;
}

bool AheadDevice::finish(WeftContext &) {
  perform(inFlight.front());
  outputs = std::move(inFlight.front().outputs);
  const bool isGood = inFlight.front().isGood;
  inFlight.pop_front();
  if (!isGood)
    inFlight.clear();
  return isGood;
}
