//===- PlanInterpreter.h - Runs plans command by command --------*- C++ -*-===//
//
// Executes the programs of a plan on poisoned bytes, at the offsets of
// weft-plan-memory where there are some. Each command reads all of its buffers
// and then writes, by the function of the weft op that it came from.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_INTERP_PLANINTERPRETER_H
#define WEFT_LIB_INTERP_PLANINTERPRETER_H

#include "PlanArena.h"

#include "weft/Interp/Interp.h"

namespace weft {

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

} // namespace weft

#endif // WEFT_LIB_INTERP_PLANINTERPRETER_H
