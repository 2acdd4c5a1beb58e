//===- MemoryReport.h - The memory of a program, by use ---------*- C++ -*-===//

#ifndef WEFT_MEMORY_MEMORYREPORT_H
#define WEFT_MEMORY_MEMORYREPORT_H

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Compares the persistent state of mixed precision with Adam to the formula
/// 16P: 4P f32 parameters, 2P working copies, 2P low-precision gradients, 8P
/// moments. The differences add up to `stateBytes` - `formulaBytes`.
struct StateFormula {
  /// P: elements of the parameters that are trained.
  int64_t parameters = 0;
  int64_t formulaBytes = 0;
  /// Bytes of all persistent tensors, without alignment.
  int64_t stateBytes = 0;

  struct Difference {
    std::string what;
    int64_t bytes; // more than the formula, or less (negative)
  };
  std::vector<Difference> differences;

  /// A: elements of the activations at the peak.
  int64_t activationElements = 0;
  /// Bytes of other training setups for the same P and A.
  struct Comparison {
    const char *what, *formula;
    int64_t bytes;
  };
  std::vector<Comparison> getComparisons() const;

  llvm::json::Object toJson() const;
};

/// The comparison, if a parameter, its copy or its gradient is f16 or bf16.
std::optional<StateFormula> computeStateFormula(mlir::ModuleOp module);

namespace plan {
class StateOp;
} // namespace plan

/// Whether a state holds a gathered copy of a sharded parameter. The first
/// micro-batch of a step gathers it for the later ones.
bool isGathered(plan::StateOp state);

/// Device memory that a program uses outside its arena and constants, such as
/// {"context and machine code", 1 GiB}.
struct ReservedMemory {
  std::string user;
  int64_t bytes = 0;
};

/// Sizes in bytes of a module after `weft-plan-memory`.
struct MemoryReport {
  // Persistent: live in every program.
  int64_t parameters = 0;
  int64_t gradients = 0;
  int64_t optimizerState = 0;
  int64_t scalerState = 0;
  int64_t workingCopies = 0;
  int64_t accumulators = 0;
  int64_t gathered = 0; // isGathered()
  int64_t caches = 0;   // keys and values of samples
  // Transient, live at the peak command.
  int64_t activations = 0;
  int64_t dropoutBits = 0;        // part of the activations
  int64_t activationElements = 0; // without dropout bits
  int64_t temporaries = 0;
  int64_t workspaces = 0;
  int64_t inputs = 0;
  int64_t maxThreads = 0; // that workspaces are made for; 0: none yet

  int64_t persistentBytes = 0;
  /// Inputs and results on their way between host and device.
  int64_t stagingBytes = 0;
  int64_t transientBytes = 0;
  int64_t arenaBytes = 0;
  /// That a device keeps beside the arena.
  int64_t constantBytes = 0;
  /// Estimates of the target, which the plan does not contain.
  std::vector<ReservedMemory> reserved;
  /// No packing of the transient part is smaller than this.
  int64_t lowerBound = 0;

  /// The command at which most transient bytes are live.
  struct Peak {
    std::string program, routine, name, scope, location;
  } peak;

  /// A buffer that is live at the peak, largest first, ten at most.
  struct Buffer {
    std::string role, type, scope, location, writer, writerName;
    int64_t bytes = 0;
    int64_t offset = 0;
  };
  std::vector<Buffer> largest;

  struct Program {
    std::string name;
    int64_t commands = 0, transientBytes = 0, lowerBound = 0;
  };
  std::vector<Program> programs;

  /// With low-precision parameters, copies or gradients.
  std::optional<StateFormula> formula;

  /// The states that each of several ranks keeps.
  struct Share {
    int64_t ranks = 0, zeroStage = 0;
    int64_t heldBytes = 0, allBytes = 0, gatheredBytes = 0;
  };
  std::optional<Share> share;

  /// Bytes that the program allocates on the device.
  int64_t getDeviceBytes() const { return arenaBytes + constantBytes; }
  int64_t getReservedBytes() const;
  /// The bytes that memory limits are compared with.
  int64_t getNeededBytes() const {
    return getDeviceBytes() + getReservedBytes();
  }

  llvm::json::Object toJson() const;
  /// The report that toJson() has written. Absent fields are zero.
  static MemoryReport fromJson(const llvm::json::Object &json);
  /// The report for people: sizes, peak, largest buffers.
  std::string toText() const;
};

/// Reads the report off a planned module.
MemoryReport computeMemoryReport(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_MEMORY_MEMORYREPORT_H
