//===- Context.h - The state of one running program -------------*- C++ -*-===//
//
// The device, the threads, the state of library routines and the error of one
// executable. Every call takes a context; there are no globals, so several
// contexts may live in one process (one per virtual rank).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_CONTEXT_H
#define WEFT_RUNTIME_EXECUTE_CONTEXT_H

#include "weft/Abi/Executable.h"
#include "weft/Base/Results.h"
#include "weft/Runtime/Execute/CpuLevel.h"
#include "weft/Runtime/Execute/ParallelFor.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

class Device;

/// One finished command, for a trace hook.
struct TraceEvent {
  const WeftProgram *program;
  const WeftCommand *command;
  int64_t startNs; // steady clock
  int64_t durationNs;
  int64_t stream = 0; // TransferRecords.h; 0 computes
  /// Processor time of the thread that ran the command. -1: a device ran it.
  int64_t threadNs = -1;
};

struct ContextOptions {
  /// 0: the processors this process may use.
  int threads = 0;
  /// The most that the program is compiled for; 0: any number.
  int maxThreads = 0;
  /// Hand-written kernels of at most this instruction set. oneDNN has the one
  /// of the process, but multiplies no bf16 below AVX512_BF16.
  CpuIsa isa = CpuIsa::Amx;
  /// All memory starts as bytes of 0xFF: NaN in every float type.
  bool poisoned = false;
  /// The number of this rank, from 0, and of all ranks of the run.
  int rank = 0, ranks = 1;
};

/// Nanoseconds of the steady clock, as in traces.
int64_t steadyNs();
/// Nanoseconds of processor time that the calling thread has used.
int64_t threadNs();

/// An array of the tables of a program, for loops.
template <typename Entry> struct TableRange {
  const Entry *first;
  int64_t count;

  const Entry *begin() const { return first; }
  const Entry *end() const { return first + count; }
};
inline TableRange<WeftProgram> programsOf(const WeftExecutable &executable) {
  return {executable.programs, executable.numPrograms};
}
inline TableRange<WeftTensor> tensorsOf(const WeftExecutable &executable) {
  return {executable.tensors, executable.numTensors};
}
inline TableRange<WeftCommand> commandsOf(const WeftProgram &program) {
  return {program.commands, program.numCommands};
}
inline TableRange<WeftPort> inputsOf(const WeftProgram &program) {
  return {program.inputs, program.numInputs};
}
inline TableRange<WeftPort> outputsOf(const WeftProgram &program) {
  return {program.outputs, program.numOutputs};
}

/// "gemm in h.3.attn", in front of a message about a command.
std::string placeOf(const WeftCommand &command);

/// The program of that symbol, or else the only one of that kind, or null.
const WeftProgram *findProgram(const WeftExecutable &executable,
                               const char *name);

/// The first error in the tables of a program that `ranks` ranks run, or "".
std::string checkTables(const WeftExecutable &executable, int ranks);

} // namespace weft

struct WeftContext {
  /// A context without executable and device, for library routines on their
  /// own: the calling thread forms its team.
  explicit WeftContext(const weft::ContextOptions &options = {});
  /// The same with a team that is formed, or of the calling thread alone.
  WeftContext(const weft::ContextOptions &options, weft::ThreadTeam team);
  /// A context that can run `executable`, which must outlive it, on the host;
  /// null and a message if the tables are wrong or the arena does not fit into
  /// memory.
  static std::unique_ptr<WeftContext>
  create(const WeftExecutable &executable, const weft::ContextOptions &options,
         std::string &error);
  ~WeftContext();
  WeftContext(const WeftContext &) = delete;
  WeftContext &operator=(const WeftContext &) = delete;

  //===- Programs, ports, tensors -----------------------------------------===//

  const WeftExecutable *executable() const { return exe; }
  const WeftProgram *findProgram(const char *name) const;
  static const WeftPort *findInput(const WeftProgram &program,
                                   const char *name);
  static const WeftPort *findOutput(const WeftProgram &program,
                                    const char *name);
  const WeftTensor *findTensor(const char *name) const;

  //===- Device -----------------------------------------------------------===//

  /// Gives it an executable and the device that runs it, whose arena begins at
  /// the address `arena` of the device.
  void attach(const WeftExecutable &executable,
              std::shared_ptr<weft::Device> device, void *arena);
  /// Where its memory is (Runtime/Devices/Device.h).
  weft::Device &device() const { return *owner; }
  /// Address of an arena offset, for commands: memory of the device, which the
  /// host may be unable to touch.
  void *at(int64_t offset) const { return arena + offset; }
  int64_t arenaBytes() const { return exe ? exe->arenaBytes : 0; }

  //===- Ranks ------------------------------------------------------------===//

  /// Number of this rank, from 0, and of all ranks of the run.
  int rank() const { return thisRank; }
  int ranks() const { return numRanks; }

  //===- Threads ----------------------------------------------------------===//

  /// Members of the team that was formed by the thread that made this context.
  /// Every region has as many.
  int threads() const { return team.members; }
  /// Maximum number of members that the team could have in this program.
  /// Routines divide their workspaces by it.
  int mostThreads() const { return mostMembers; }
  /// Why threads() is less than the options ask for, or "".
  const std::string &threadShortage() const { return team.shortage; }
  /// Gives the calling thread such a team too, if it has none: false, with an
  /// error, where it gets fewer threads.
  bool ensureTeam();
  /// The instruction set of hand-written kernels.
  weft::CpuIsa isa() const { return kernelIsa; }
  void parallelFor(int64_t extent, int64_t grain, weft::RangeBody body,
                   weft::Schedule schedule = weft::Schedule::Static) {
    weft::parallelFor(team.members, extent, grain, body, schedule);
  }

  //===- Errors -----------------------------------------------------------===//

  /// Reports that a command cannot be run. The first report is kept; the
  /// executor stops after the command. Only outside parallel regions. `code` is
  /// an exit code of the program: 3 input, 70 internal. `hint` is a remedy for
  /// the user.
  void fail(int code, std::string message, std::string hint = "");
  /// The same with the code, the message and the hint of an error.
  void fail(const weft::Error &error, const std::string &prefix = "") {
    fail(error.exitStatus(), prefix + error.message(), error.hintText());
  }
  bool failed() const { return errorCode != 0; }
  int error() const { return errorCode; }
  const std::string &message() const { return errorMessage; }
  const std::string &hint() const { return errorHint; }
  /// Returns the reported error, with `prefix` in front, and clears it.
  weft::Error takeError(const std::string &prefix = "");
  void clearError();

  //===- Library state ----------------------------------------------------===//

  /// State a library keeps between calls (compiled primitives), by an address
  /// that identifies its type.
  std::shared_ptr<void> &state(const void *key) { return states[key]; }

  /// Touches every page of a host arena, so that the system allocates it. Keeps
  /// the contents.
  void touchMemory();

  //===- Hooks ------------------------------------------------------------===//

  /// Called after every command when set, by the thread that runs programs.
  std::function<void(const weft::TraceEvent &)> traceHook;
  /// The running program, and whether another thread will report the trace of
  /// the last command after the command has ended.
  const WeftProgram *running = nullptr;
  bool isTracedLater = false;
  /// Called after every command when set, with its resolved buffers; false
  /// stops the program (the hook reports through `fail`). For hunting NaNs.
  std::function<bool(const WeftProgram &, const WeftCommand &, void *const *)>
      checkHook;

  /// Resolved buffer addresses of a program's commands, concatenated.
  const std::vector<void *> &resolve(const WeftProgram &program);

private:
  const WeftExecutable *exe = nullptr;
  // Before the states of libraries, which may be in its memory.
  std::shared_ptr<weft::Device> owner;
  char *arena = nullptr;
  weft::ThreadTeam team;
  int mostMembers = 1;
  weft::CpuIsa kernelIsa = weft::CpuIsa::Baseline;
  int thisRank = 0, numRanks = 1;
  int errorCode = 0;
  std::string errorMessage, errorHint;
  // Before the states, whose threads read it until they end.
  std::unordered_map<const WeftProgram *, std::vector<void *>> resolved;
  std::map<const void *, std::shared_ptr<void>> states;
  std::unordered_map<std::string, const WeftTensor *> tensorsByName;
};

//===- Programs on the host -----------------------------------------------===//

namespace weft {

/// Runs the commands of `program` in order. Stops at the first command that
/// reports an error, which is left in the context, and returns false.
bool runProgram(WeftContext &context, const WeftProgram &program);

/// The same by symbol or kind (findProgram); a program the executable lacks is
/// an error (70).
bool runProgram(WeftContext &context, const char *name);

/// Does the one-time work of the first run of the programs: allocates the pages
/// of the arena and plans products. Changes no number, and leaves errors to the
/// run itself.
void warmUp(WeftContext &context,
            const std::vector<const WeftProgram *> &programs);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_CONTEXT_H
