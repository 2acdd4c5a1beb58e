//===- CompiledPlan.h - A plan as the program that runs it ------*- C++ -*-===//

#ifndef WEFT_TEST_CAMPAIGNS_COMPILEDPLAN_H
#define WEFT_TEST_CAMPAIGNS_COMPILEDPLAN_H

#include "weft/Interp/Interp.h"
#include "weft/Runtime/Execute/Unpack.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <memory>
#include <optional>
#include <string>

namespace weft {

/// The effects of a program: its outputs and the states after it.
struct ProgramResult {
  TensorMap outputs, states;
};

/// The code that `weft compile --from verify-plan` makes of a plan, with the
/// kernels of the runtime, in this process.
class CompiledPlan {
public:
  /// Null and why not, with the place.
  static std::unique_ptr<CompiledPlan> compile(const std::string &path,
                                               std::string &problem);

  /// Runs a program on memory that holds these inputs and states, and NaN or
  /// zeros elsewhere. Nothing and why where a command stops it.
  std::optional<ProgramResult> run(const std::string &program,
                                   const TensorMap &inputs,
                                   const TensorMap &states, bool isPoisoned,
                                   std::string &problem) const;

private:
  bool link(const std::vector<char> &object, std::string &problem);

  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<UnpackedTables> tables;
};

} // namespace weft

#endif // WEFT_TEST_CAMPAIGNS_COMPILEDPLAN_H
