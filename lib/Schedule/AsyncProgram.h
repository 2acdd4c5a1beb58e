//===- AsyncProgram.h - A program with asynchronous collectives -*- C++ -*-===//
//
// Gathers and reductions have separate streams. The buffers that commands use
// and the order of commands determine the synchronization between streams:
// `read` removes the records and waits of a program, and `write` inserts the
// ones that an order of its commands needs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SCHEDULE_ASYNCPROGRAM_H
#define WEFT_LIB_SCHEDULE_ASYNCPROGRAM_H

#include "weft/Plan/Plan.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

namespace weft {

/// Dependences between commands of one program, by position. Two commands that
/// use one root buffer, one of them writing, stay in order. Roots share no
/// bytes before weft-plan-memory. Transitive dependences are left out.
class Dependences {
public:
  explicit Dependences(llvm::ArrayRef<plan::CommandOpInterface> commands);

  /// Earlier commands that must come before command `index`, and later ones
  /// that must come after it.
  llvm::ArrayRef<unsigned> before(unsigned index) const { return needs[index]; }
  llvm::ArrayRef<unsigned> after(unsigned index) const {
    return neededBy[index];
  }

private:
  std::vector<llvm::SmallVector<unsigned, 4>> needs, neededBy;
};

/// The scope of a command. If it has none: the scope of the nearest command
/// with a scope among its dependences, or "".
llvm::StringRef findScope(unsigned index,
                          llvm::ArrayRef<plan::CommandOpInterface> commands,
                          const Dependences &dependences);

/// A command of an order, or a wait of stream 0 for a collective.
struct AsyncStep {
  unsigned command;
  bool isWait = false;
};

class AsyncProgram {
public:
  /// Removes the records and waits of streams of collectives.
  static AsyncProgram read(plan::ProgramOp program);

  llvm::ArrayRef<plan::CommandOpInterface> getCommands() const {
    return commands;
  }
  const Dependences &getDependences() const { return dependences; }
  bool isAsync(unsigned index) const { return plan::isAsync(commands[index]); }

  /// Puts the commands in the order of `steps`, which has each command once. A
  /// collective begins when all commands above it are done, and commands that
  /// use its buffers wait for it. At the end no collective is in flight.
  ///
  /// The event @h.0.flat.gather records that the parameters @h.0.flat are
  /// gathered, @h.0.flat.grad.reduce that their mean gradients are reduced.
  /// Without such a state the event is named after the scope.
  ///
  /// `inTurn` is for targets on which collectives must not overlap each other:
  /// a collective waits for the one before it if that is in another stream.
  void write(llvm::ArrayRef<AsyncStep> steps, bool inTurn);

private:
  AsyncProgram(plan::ProgramOp program,
               std::vector<plan::CommandOpInterface> commands);

  plan::ProgramOp program;
  std::vector<plan::CommandOpInterface> commands;
  Dependences dependences;
};

/// Declares the events that the programs of a module record for collectives,
/// and removes events that no program records. Fails with an error if another
/// symbol has the name.
llvm::LogicalResult declareEvents(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_SCHEDULE_ASYNCPROGRAM_H
