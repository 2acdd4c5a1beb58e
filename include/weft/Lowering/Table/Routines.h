//===- Routines.h - The routine of a command on a target --------*- C++ -*-===//

#ifndef WEFT_LOWERING_TABLE_ROUTINES_H
#define WEFT_LOWERING_TABLE_ROUTINES_H

#include "weft/Abi/Executable.h"
#include "weft/Plan/Plan.h"

#include <variant>

namespace weft {

/// A record and, behind it, its list.
using RecordWords = llvm::SmallVector<int64_t, 32>;

} // namespace weft

#include "weft/Lowering/Table/Routines.h.inc"

namespace weft {

class TableTarget;

/// The table entry of a command that calls a routine, not a kernel.
struct RoutineCall {
  RoutineOpInterface model;
  WeftCommandKind kind;
  std::string routine;
  RecordWords record;

  llvm::StringRef getBytes() const {
    return {reinterpret_cast<const char *>(record.data()),
            record.size() * sizeof(int64_t)};
  }
  template <typename Record> const Record *as() const {
    return reinterpret_cast<const Record *>(record.data());
  }

  /// Bytes of its workspace in a program for at most `threads` threads; 0 for
  /// none. Fails with an error on the command if its model states fewer bytes.
  llvm::FailureOr<int64_t> getWorkspaceBytes(const TableTarget &target,
                                             int64_t threads);

  /// Fails with an error on the command if the target has nothing that runs it.
  static llvm::FailureOr<RoutineCall> get(plan::CommandOpInterface command,
                                          const TableTarget &target);
};

/// A kernel that is a function of the program over a range. The target chooses
/// the range and the grain: the sizes of its parts are multiples of the grain.
struct RangeLaunch {
  int64_t extent, grain;
};

/// A kernel of a device and the launch that it is written for.
struct DeviceLaunch {
  int64_t blocks, threadsX, threadsY;
};

using KernelLaunch = std::variant<RangeLaunch, DeviceLaunch>;

/// The interface through which program tables query their target.
class TableTarget {
public:
  virtual ~TableTarget() = default;

  /// Its name in messages: "the CPU".
  virtual llvm::StringRef getTitle() const = 0;
  /// The prefix of the symbols of its routines: "weft_cpu_".
  virtual llvm::StringRef getPrefix() const = 0;
  /// Bytes of the workspace of a routine, in a program for at most `threads`
  /// threads; 0 for none.
  virtual int64_t getWorkspaceBytes(const RoutineCall &call,
                                    int64_t threads) const = 0;
  /// Fails with an error on a command that its routine does not run.
  virtual llvm::LogicalResult check(plan::CommandOpInterface command,
                                    const RoutineCall &call) const = 0;
  /// The pass that lowers kernels: "weft-lower-to-cpu".
  virtual llvm::StringRef getLowering() const = 0;
  /// How a kernel that it has lowered runs; nothing for another name.
  virtual std::optional<KernelLaunch>
  findKernel(llvm::StringRef name) const = 0;
  /// The same for a launch; fails with an error on one of no such kernel.
  llvm::FailureOr<KernelLaunch> getLaunch(plan::LaunchOp launch) const;
  /// The routine of WEFT_RECORD and WEFT_WAIT of a target whose streams are
  /// threads of the host, or "". Such a target overlaps collectives with
  /// computation.
  virtual llvm::StringRef getEventRoutine(int64_t kind) const { return ""; }
  /// The prefix of the routines of collectives (plan::isCollective); the name
  /// of the op follows it. By default the runtime's routines run them, for
  /// targets whose memory the host sees.
  virtual llvm::StringRef getCollectivePrefix() const { return "weft_host_"; }
  /// Bytes of the workspace of a collective with that record; 0 for none.
  virtual int64_t getCollectiveWorkspaceBytes(mlir::Operation *collective,
                                              const void *record) const {
    return 0;
  }
  /// The symbol of the routine of a command, whose kind is called `name`.
  virtual std::string getRoutine(plan::CommandOpInterface command,
                                 llvm::StringRef name) const {
    return (getPrefix() + name).str();
  }
};

/// Gives each command the memory that its routine works in, and the module the
/// number of threads that this is for (`plan.max_threads`).
llvm::LogicalResult addWorkspaces(mlir::ModuleOp module,
                                  const TableTarget &target, int64_t threads);

/// The number of an element type in the tables (WeftDType).
int32_t getDType(mlir::Type element);

/// Attaches the models of the commands.
void registerRoutineModels(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_LOWERING_TABLE_ROUTINES_H
