//===- ScheduleUnits.h - What moves in a program --------------------------===//
//
// Collectives that can begin early, those that can only end late, and the
// commands that go with them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SCHEDULE_SCHEDULEUNITS_H
#define WEFT_LIB_SCHEDULE_SCHEDULEUNITS_H

#include "AsyncProgram.h"

namespace weft {

/// Commands by their places in the program.
class ScheduleUnits {
public:
  explicit ScheduleUnits(const AsyncProgram &program);

  /// What is gathered in a row for one block, in the order of first uses.
  struct Gathers {
    std::string block;
    llvm::SmallVector<unsigned> gathers;
  };
  llvm::ArrayRef<Gathers> getGathers() const { return units; }
  /// The first unit of the backward pass: of what is gathered again. Their
  /// number if nothing is.
  size_t getBackward() const { return backward; }
  /// The unit of a collective that needs nothing which the program computes for
  /// others, or nothing.
  std::optional<unsigned> findUnit(unsigned command) const;

  /// Commands that only such a gather needs, in their order: they go with it.
  llvm::ArrayRef<unsigned> getLeaders(unsigned gather) const;
  bool isLeader(unsigned command) const { return leads[command]; }

  /// Collectives that are no part of a unit: they begin where they stand.
  bool isLate(unsigned command) const {
    return program.isAsync(command) && !findUnit(command);
  }
  /// What needs the result of a late collective, or of a follower.
  bool isFollower(unsigned command) const { return follows[command]; }

  /// The block that a late collective belongs to, or "": nobody knows.
  std::string getBlockOf(unsigned late) const;

private:
  bool findLeaders(unsigned gather, llvm::SmallVectorImpl<unsigned> &found);
  void findUnits();
  void findBackward();
  void findFollowers();

  const AsyncProgram &program;
  llvm::SmallVector<Gathers> units;
  size_t backward = 0;
  llvm::DenseMap<unsigned, unsigned> unitOf;
  llvm::DenseMap<unsigned, llvm::SmallVector<unsigned>> leaders;
  std::vector<bool> leads, follows;
};

} // namespace weft

#endif // WEFT_LIB_SCHEDULE_SCHEDULEUNITS_H
