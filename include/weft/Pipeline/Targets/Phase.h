//===- Phase.h - One step of a compilation ----------------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_TARGETS_PHASE_H
#define WEFT_PIPELINE_TARGETS_PHASE_H

namespace weft {

/// What the module consists of after a phase, for `--emit`.
enum class Level { Graph, Dist, Plan, Llvm, Output };

struct Phase {
  const char *name;     // "autodiff"
  const char *contract; // what holds after it, one line
  Level level;
};

} // namespace weft

#endif // WEFT_PIPELINE_TARGETS_PHASE_H
