//===- ExecutorContext.cpp - The state of one running program -------------===//

#include "weft/Runtime/Execute/Context.h"

#include "weft/Abi/TransferRecords.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>

using namespace weft;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

WeftContext::WeftContext(const ContextOptions &options, ThreadTeam team)
    : team(std::move(team)),
      mostMembers(std::max(this->team.members, options.maxThreads)),
      kernelIsa(std::min(options.isa, detectCpuIsa())), thisRank(options.rank),
      numRanks(options.ranks) {}

WeftContext::~WeftContext() = default;

namespace {

/// Whether an arena of `size` bytes contains `bytes` from `offset` on.
bool fits(int64_t offset, int64_t bytes, int64_t size) {
  return offset >= 0 && bytes >= 0 && offset <= size && bytes <= size - offset;
}

std::string checkPorts(const WeftProgram &program, const WeftPort *ports,
                       int32_t count, int64_t arenaBytes) {
  for (int32_t i = 0; i < count; ++i)
    if (!fits(ports[i].offset, ports[i].bytes, arenaBytes))
      return std::string("expects port '") + ports[i].name + "' of program '" +
             program.symbol + "' inside the arena, but got offset " +
             std::to_string(ports[i].offset);
  return "";
}

/// Whether the last buffer has the bytes of the command's workspace, if there
/// is one.
bool holdsWorkspace(const WeftCommand &command, int64_t arenaBytes) {
  if (command.workspaceBytes == 0)
    return true;
  return command.numBuffers > 0 && fits(command.offsets[command.numBuffers - 1],
                                        command.workspaceBytes, arenaBytes);
}

std::string checkProgram(const WeftProgram &program, int64_t arenaBytes) {
  for (const WeftCommand &command : commandsOf(program)) {
    const int runners =
        !!command.kernel + !!command.deviceKernel + !!command.library;
    if (isTransfer(command.kind) && (runners != 0 || !findTransfer(command)))
      return std::string("expects a record and no routine for '") +
             command.name + "', but got another";
    if (runners != 1 && !isTransfer(command.kind))
      return std::string("expects either a kernel or a library routine for '") +
             command.name + "', but got " + (runners ? "both" : "neither");
    for (int32_t b = 0; b < command.numBuffers; ++b)
      if (!fits(command.offsets[b], 0, arenaBytes))
        return std::string("expects buffer ") + std::to_string(b) + " of '" +
               command.name + "' inside the arena, but got offset " +
               std::to_string(command.offsets[b]);
    if (!holdsWorkspace(command, arenaBytes))
      return std::string("expects the workspace of '") + command.name +
             "' inside the arena, but got " +
             std::to_string(command.workspaceBytes) + " bytes";
  }
  std::string message =
      checkPorts(program, program.inputs, program.numInputs, arenaBytes);
  return message.empty() ? checkPorts(program, program.outputs,
                                      program.numOutputs, arenaBytes)
                         : message;
}

} // namespace

std::string weft::checkTables(const WeftExecutable &executable, int ranks) {
  if (executable.abiVersion != WEFT_ABI_VERSION)
    return "expects ABI version " + std::to_string(WEFT_ABI_VERSION) +
           ", but got " + std::to_string(executable.abiVersion);
  for (const WeftTensor &tensor : tensorsOf(executable)) {
    if (!fits(tensor.offset, tensor.bytes, executable.arenaBytes))
      return concat("expects tensor '", tensor.name,
                    "' inside the arena, but got offset ", tensor.offset);
  }
  std::string message = checkSegments(executable, ranks);
  for (int32_t i = 0; i < executable.numPrograms && message.empty(); ++i)
    message = checkProgram(executable.programs[i], executable.arenaBytes);
  return message;
}

void WeftContext::attach(const WeftExecutable &executable,
                         std::shared_ptr<Device> device, void *base) {
  exe = &executable;
  owner = std::move(device);
  arena = static_cast<char *>(base);
  for (const WeftTensor &tensor : tensorsOf(executable))
    tensorsByName.emplace(tensor.name, &tensor);
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

int64_t weft::steadyNs() {
  return std::chrono::nanoseconds(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t weft::threadNs() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::string weft::placeOf(const WeftCommand &command) {
  std::string place = command.name ? command.name : "library routine";
  if (command.scope && *command.scope)
    place += std::string(" in ") + command.scope;
  return place;
}

const WeftProgram *weft::findProgram(const WeftExecutable &executable,
                                     const char *name) {
  const WeftProgram *found = nullptr;
  int32_t count = 0;
  for (const WeftProgram &program : programsOf(executable)) {
    if (std::strcmp(program.symbol, name) == 0)
      return &program;
    if (std::strcmp(program.kind, name) == 0)
      found = &program, ++count;
  }
  return count == 1 ? found : nullptr;
}

const WeftProgram *WeftContext::findProgram(const char *name) const {
  return exe ? weft::findProgram(*exe, name) : nullptr;
}

static const WeftPort *findPort(const WeftPort *ports, int32_t count,
                                const char *name) {
  for (int32_t i = 0; i < count; ++i)
    if (std::strcmp(ports[i].name, name) == 0)
      return &ports[i];
  return nullptr;
}

const WeftPort *WeftContext::findInput(const WeftProgram &program,
                                       const char *name) {
  return findPort(program.inputs, program.numInputs, name);
}

const WeftPort *WeftContext::findOutput(const WeftProgram &program,
                                        const char *name) {
  return findPort(program.outputs, program.numOutputs, name);
}

const WeftTensor *WeftContext::findTensor(const char *name) const {
  auto found = tensorsByName.find(name);
  return found == tensorsByName.end() ? nullptr : found->second;
}

const std::vector<void *> &WeftContext::resolve(const WeftProgram &program) {
  auto [entry, isNew] = resolved.try_emplace(&program);
  if (!isNew)
    return entry->second;
  for (const WeftCommand &command : commandsOf(program))
    for (int32_t b = 0; b < command.numBuffers; ++b)
      entry->second.push_back(at(command.offsets[b]));
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void WeftContext::fail(int code, std::string message, std::string hint) {
  if (errorCode != 0)
    return;
  errorCode = code;
  errorMessage = std::move(message);
  errorHint = std::move(hint);
}

Error WeftContext::takeError(const std::string &prefix) {
  Error error(ExitCode(errorCode), prefix + errorMessage);
  error.hint(std::move(errorHint));
  clearError();
  return error;
}

void WeftContext::clearError() {
  errorCode = 0;
  errorMessage.clear();
  errorHint.clear();
}
