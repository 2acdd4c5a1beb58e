//===- PlanInterpreter.h - Runs plans command by command --------*- C++ -*-===//
//
// Executes the programs of a plan on poisoned bytes, at the offsets of
// weft-plan-memory where there are some. Each command reads all of its buffers
// and then writes, by the function of the weft op that it came from.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_INTERP_PLANINTERPRETER_H
#define WEFT_LIB_INTERP_PLANINTERPRETER_H

#include "weft/Interp/Interp.h"
#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/DenseMap.h"

namespace weft {

/// Memory that is initialized to 0xFF, so that unwritten elements are NaN or
/// implausible numbers. In f64 mode a byte of the plan is kWide bytes here: a
/// floating-point element of any type can hold a double, and two elements
/// overlap exactly if they do in the plan.
class PlanArena {
public:
  /// One arena of `bytes` bytes, or without it a block for each root.
  PlanArena(ComputeMode mode, std::optional<int64_t> bytes);

  /// Assigns memory to a root, or reports an error at `op`. `name` identifies
  /// the root.
  llvm::LogicalResult place(mlir::Operation *op, const void *name,
                            mlir::MemRefType type, mlir::IntegerAttr offset);
  bool hasOffsets() const { return bytes.has_value(); }

  /// The elements of a type with a layout in the root `name`, row by row.
  Tensor load(const void *name, mlir::MemRefType type) const;
  /// Resets all bytes of a root to 0xFF.
  void poison(const void *name, mlir::MemRefType type);
  void store(const void *name, mlir::MemRefType type, const Tensor &tensor);

private:
  static constexpr int64_t kWide = 4;
  int64_t getScale() const { return mode == ComputeMode::F64 ? kWide : 1; }

  ComputeMode mode;
  std::optional<int64_t> bytes;
  std::vector<uint8_t> arena;
  /// The blocks, where there is no arena.
  std::vector<std::unique_ptr<std::vector<uint8_t>>> blocks;
  llvm::DenseMap<const void *, uint8_t *> places;
};

class PlanInterpreter : public ModuleRunner {
public:
  /// States start at zero, parameters without a value. For `streamOrder` see
  /// makeRunner().
  PlanInterpreter(mlir::ModuleOp module, ComputeMode mode,
                  uint64_t streamOrder = 0);

  std::vector<ProgramInfo> getPrograms() const override;
  std::vector<std::string> getParameters() const override;
  std::vector<std::string> getGradients() const override;
  /// The parameters that the init program writes, if there is one.
  llvm::LogicalResult initialize(int64_t seed) override;
  llvm::LogicalResult setState(llvm::StringRef name, Tensor value) override;
  const Tensor *findState(llvm::StringRef name) const override;

protected:
  llvm::FailureOr<std::unique_ptr<ProgramRun>>
  start(llvm::StringRef program, const TensorMap &inputs) override;

private:
  class Run;

  /// Runs the bodies of kernels.
  Interpreter kernels;
  uint64_t streamOrder;
};

ProgramInfo describeProgram(ProgramOp program);
ProgramInfo describeProgram(plan::ProgramOp program);

/// The type of the elements that a buffer shows.
mlir::RankedTensorType getTensorType(mlir::Value buffer);

} // namespace weft

#endif // WEFT_LIB_INTERP_PLANINTERPRETER_H
