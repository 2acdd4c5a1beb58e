//===- ScheduleUnits.h - Collectives that may move --------------*- C++ -*-===//
//
// Finds collectives that can begin earlier, collectives that can only end
// later, and the commands that move with them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SCHEDULE_SCHEDULEUNITS_H
#define WEFT_LIB_SCHEDULE_SCHEDULEUNITS_H

#include "AsyncProgram.h"

namespace weft {

/// The units of a program. Commands are numbered by position.
class ScheduleUnits {
public:
  explicit ScheduleUnits(const AsyncProgram &program);

  /// Consecutive gathers for one block, in the order of first uses.
  struct Gathers {
    std::string block;
    llvm::SmallVector<unsigned> gathers;
  };
  llvm::ArrayRef<Gathers> getGathers() const { return units; }
  /// The first unit of the backward pass, which gathers a value again. The
  /// number of units if there is none.
  size_t getBackward() const { return backward; }
  /// The unit of a gather, if the program computes none of its inputs for other
  /// commands. Nothing for other commands.
  std::optional<unsigned> findUnit(unsigned command) const;

  /// Commands that only this gather needs, in order. They move with it.
  llvm::ArrayRef<unsigned> getPrefetched(unsigned gather) const;
  bool isPrefetched(unsigned command) const { return prefetched[command]; }

  /// Collectives outside of units: reductions, and gathers of computed values.
  /// They start at their position in the program.
  bool isReduction(unsigned command) const {
    return program.isAsync(command) && !findUnit(command);
  }
  /// Commands that depend on a reduction, directly or through others.
  bool isFollower(unsigned command) const { return follows[command]; }

  /// The block of a reduction, or "" if unknown.
  std::string getBlockOf(unsigned reduction) const;

private:
  bool findPrefetched(unsigned gather, llvm::SmallVectorImpl<unsigned> &found);
  void findUnits();
  void findBackward();
  void findFollowers();

  const AsyncProgram &program;
  llvm::SmallVector<Gathers> units;
  size_t backward = 0;
  llvm::DenseMap<unsigned, unsigned> unitOf;
  llvm::DenseMap<unsigned, llvm::SmallVector<unsigned>> inputsOf;
  std::vector<bool> prefetched, follows;
};

} // namespace weft

#endif // WEFT_LIB_SCHEDULE_SCHEDULEUNITS_H
