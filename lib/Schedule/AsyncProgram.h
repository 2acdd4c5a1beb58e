//===- AsyncProgram.h - A program whose collectives run beside it ---------===//
//
// Gathers and reductions have streams of their own. What orders them with the
// commands that compute follows from the buffers they use and from where they
// stand: `read` forgets the records and waits of a program, `write` puts new
// ones where an order of its commands needs them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SCHEDULE_ASYNCPROGRAM_H
#define WEFT_LIB_SCHEDULE_ASYNCPROGRAM_H

#include "Dependences.h"

#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

namespace weft {

/// One command in an order, or that what computes waits here until it is done.
struct AsyncStep {
  unsigned command;
  bool isWait = false;
};

class AsyncProgram {
public:
  /// Takes out the records and waits of streams of collectives.
  static AsyncProgram read(plan::ProgramOp program);

  llvm::ArrayRef<plan::CommandOpInterface> getCommands() const {
    return commands;
  }
  const Dependences &getDependences() const { return dependences; }
  bool isAsync(unsigned index) const { return plan::isAsync(commands[index]); }

  /// Puts the commands in the order of `steps`, which has each once. A
  /// collective begins when all that stands above it has been computed, and
  /// what uses its buffers waits for it; at the end nothing is under way. The
  /// event
  /// @h.0.flat.gather says that the parameters @h.0.flat are there,
  /// @h.0.flat.grad.reduce the same of the mean of their gradients. Without
  /// such a state it has the name of the scope.
  ///
  /// `inTurn` is for targets on which collectives must not overlap each other:
  /// one in another stream than the collective before it waits for that.
  void write(llvm::ArrayRef<AsyncStep> steps, bool inTurn);

private:
  AsyncProgram(plan::ProgramOp program,
               std::vector<plan::CommandOpInterface> commands);

  plan::ProgramOp program;
  std::vector<plan::CommandOpInterface> commands;
  Dependences dependences;
};

/// Declares the events that the programs of a module record for collectives,
/// and removes those that none does. Fails with an error if a name is taken.
llvm::LogicalResult declareEvents(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_SCHEDULE_ASYNCPROGRAM_H
