//===- Cost.h - Estimated time of a command ---------------------*- C++ -*-===//

#ifndef WEFT_ANALYSIS_COST_H
#define WEFT_ANALYSIS_COST_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace weft {

namespace plan {
class CommandOpInterface;
} // namespace plan

/// Speed of a machine. The defaults are those of two 3.7 GHz x86 cores with
/// AVX2 (products in f32, reads from memory).
struct CostTable {
  double gflops = 200;
  double gigabytesPerSecond = 45;
  double overheadUs = 1;
};

/// Module attribute: the speeds that a cost table gave, by its keys.
inline constexpr llvm::StringLiteral kSpeedsAttr = "plan.speeds";

/// Bytes a command reads and writes; an updated buffer counts twice.
int64_t getTrafficBytes(plan::CommandOpInterface command);

/// Floating-point operations of a command; 0 if nobody counted them.
double getFlops(plan::CommandOpInterface command);

/// Overhead plus the longer of arithmetic and traffic, in microseconds.
double estimateMicroseconds(plan::CommandOpInterface command,
                            const CostTable &table);

} // namespace weft

#endif // WEFT_ANALYSIS_COST_H
