//===- Cost.h - Estimated time of a command ---------------------*- C++ -*-===//

#ifndef WEFT_ANALYSIS_COST_H
#define WEFT_ANALYSIS_COST_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <optional>

namespace weft {

namespace plan {
class CommandOpInterface;
} // namespace plan

/// How fast a command runs. The defaults are those of two 3.7 GHz x86 cores
/// with AVX2 (products in f32, reads from memory).
struct Rates {
  double gflops = 200;
  double gigabytesPerSecond = 45;
  double overheadUs = 1;
};

/// Speed of a machine, by kind of command and element type.
struct CostTable {
  /// What the table says of some commands; what it leaves out stands in a more
  /// general part.
  struct Part {
    std::optional<double> gflops, gigabytesPerSecond, overheadUs;
  };
  /// By "gemm.bf16" (a kind and a type), "gemm", "bf16" and "": all commands.
  llvm::StringMap<Part> parts;

  /// The rates of a kind on a type; "" and null for those of all commands.
  Rates getRates(llvm::StringRef kind, mlir::Type element) const;
};

/// Module attribute: the speeds that a cost table gave for all commands, by its
/// keys.
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
