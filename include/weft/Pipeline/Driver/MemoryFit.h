//===- MemoryFit.h - Flags that make a program fit --------------*- C++ -*-===//
//
// Under a memory limit the flags that nobody gave, --reshard and --recompute,
// are chosen so that the estimated step is shortest. Each way is compiled up to
// plan-memory, and what it takes read off the plan.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_DRIVER_MEMORYFIT_H
#define WEFT_PIPELINE_DRIVER_MEMORYFIT_H

#include "weft/Memory/MemoryReport.h"
#include "weft/Pipeline/Driver/Compiler.h"

#include <deque>

namespace weft {

struct MemoryBound;

/// One way to compile a model.
struct MemoryTrial {
  FlagValues flags;
  /// Where it differs from the flags as given: "--recompute=blocks", or "".
  std::string change;
  MemoryReport report;
  /// Estimated time of one micro-step and the update.
  double stepUs = 0;

  int64_t getBytes() const { return report.getNeededBytes(); }
};

/// Runs the phases of `compiler` up to `to`. If they plan memory within a
/// limit, first chooses flags that were not given so that the program fits; if
/// nothing fits (exit 4), the compiler stands behind derive-programs.
Status runWithinMemory(Compiler &compiler, int to);

class MemoryFit {
public:
  /// `compiler` has loaded a model with `flags`, keeps snapshots, and has run
  /// the phases up to derive-programs.
  MemoryFit(Compiler &compiler, FlagValues flags);

  /// The flags with those that make the estimated step shortest within the
  /// bound; exit 4 if nothing fits. The compiler is left behind any phase up
  /// to plan-memory, to go back from.
  Expected<FlagValues> choose(const MemoryBound &bound);

  /// What each limit makes possible: from the largest program to the smallest,
  /// without those that another one, no larger, is as fast as.
  Expected<std::vector<MemoryTrial>> getCurve();

private:
  using Change = std::vector<std::pair<std::string, std::string>>;

  Status prepareSteps();
  bool isFree(const std::string &flag) const { return !flags.isSet(flag); }
  bool mayKeepGathered() const;
  Expected<const MemoryTrial *> tryChange(const Change &change);
  Status tryAll(llvm::ArrayRef<Change> changes);
  Status searchSteps(int64_t limit);
  /// Of equals the one that was tried first.
  const MemoryTrial *findFastest(int64_t limit) const;
  const MemoryTrial *findSmallest() const;
  FlagValues withChange(const Change &change) const;
  Error refuse(const MemoryBound &bound);
  std::string describeKnobs(const MemoryTrial &given);

  Compiler &compiler;
  FlagValues flags;
  std::vector<Change> firsts; // without recomputation
  std::vector<Change> steps;  // recompute more and more
  std::vector<Change> rules;  // recompute by a rule for whole blocks
  std::deque<MemoryTrial> trials;
};

} // namespace weft

#endif // WEFT_PIPELINE_DRIVER_MEMORYFIT_H
