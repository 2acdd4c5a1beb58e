//===- MemoryFit.h - Flags that make a program fit --------------*- C++ -*-===//
//
// With a memory limit, --reshard and --recompute are chosen for the shortest
// estimated step, unless the user gave them, and with --loss-chunks=auto the
// chunks of the loss. Each candidate is compiled up to
// plan-memory. Its memory and its estimated time come from the plan.
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
  /// The difference to the given flags: "--recompute=blocks", or "".
  std::string change;
  MemoryReport report;
  /// Estimated time of one micro-step and the update, in microseconds.
  double stepUs = 0;

  int64_t getBytes() const { return report.getNeededBytes(); }
};

/// Runs the phases of `compiler` up to `to`. If they plan memory within a
/// limit, it first chooses values for flags that were not given, so that the
/// program fits. If nothing fits (exit 4), the compiler is left after
/// derive-programs.
Status runWithinMemory(Compiler &compiler, int to);

/// The flags that were chosen in addition to the given ones:
/// "--recompute=blocks --reshard=off".
std::string listChosen(const FlagValues &given, const FlagValues &chosen);

class MemoryFit {
public:
  /// `compiler` has loaded a model with `flags`, keeps snapshots, and has run
  /// the phases up to derive-programs.
  MemoryFit(Compiler &compiler, FlagValues flags);

  /// The flags plus the choices with the shortest estimated step within the
  /// bound; exit 4 if nothing fits. The compiler is left after any phase up to
  /// plan-memory; call goBack() before it is used again.
  Expected<FlagValues> choose(const MemoryBound &bound);

  /// The Pareto front of memory and step time, from the largest program to the
  /// smallest. A trial is left out if one that is no larger is as fast.
  Expected<std::vector<MemoryTrial>> getCurve();

private:
  using Change = std::vector<std::pair<std::string, std::string>>;

  Status prepareSteps();
  bool isFree(const std::string &flag) const { return !flags.isSet(flag); }
  /// A program without training has no backward pass.
  bool mayRecompute() const {
    return isFree("recompute") && !flags.getSwitch("inference");
  }
  bool mayKeepGathered() const;
  bool mayForgoCudnn() const;
  Expected<const MemoryTrial *> tryChange(const Change &change);
  Status tryAll(llvm::ArrayRef<Change> changes);
  Status searchSteps(int64_t limit);
  Status tryFirsts(int64_t limit);
  Status tryRecomputation(int64_t limit);
  Status tryDrawnRecomputation();
  void tryChunks(int64_t limit);
  /// The fastest trial within the limit. Ties go to the smaller program, then
  /// to the trial that ran first.
  const MemoryTrial *findFastest(int64_t limit) const;
  const MemoryTrial *findSmallest() const;
  FlagValues withChange(const Change &change) const;
  Error refuse(const MemoryBound &bound);
  std::string describeKnobs(const MemoryTrial &given);

  Compiler &compiler;
  FlagValues flags;
  bool mayDraw;               // --dropout-bits=draw frees memory
  Change base;                // part of every later change
  std::vector<Change> firsts; // without recomputation
  std::vector<Change> steps;  // recompute more and more
  std::vector<Change> rules;  // recompute by a rule for whole blocks
  std::deque<MemoryTrial> trials;
};

} // namespace weft

#endif // WEFT_PIPELINE_DRIVER_MEMORYFIT_H
