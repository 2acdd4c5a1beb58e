//===- Cost.h - Estimated time of a command ---------------------*- C++ -*-===//

#ifndef WEFT_ANALYSIS_COST_H
#define WEFT_ANALYSIS_COST_H

#include "weft/Analysis/MachineCluster.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <cstdint>
#include <memory>
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

  /// Overhead plus the longer of arithmetic and traffic, in microseconds.
  double getTimeUs(double flops, double bytes) const {
    return overheadUs +
           std::max(flops / (gflops * 1e3), bytes / (gigabytesPerSecond * 1e3));
  }
};

/// How fast ranks send to each other. The defaults are those of two processes
/// of one machine.
struct LinkRates {
  double gigabytesPerSecond = 3; // that one rank sends
  double latencyUs = 50;         // of a collective
};

/// What it costs that collectives run beside what computes.
struct Overlap {
  /// The part of its speed that computation loses while a rank sends inside
  /// its node, or where no cluster says which ranks share a node.
  double slowsCompute = 0;
  /// By which a collective in a stream of its own is longer: of a CPU, while it
  /// waits for a processor.
  double besideUs = 0;
  /// What the stream that computes takes to hand over collectives: each record
  /// in it.
  double beginUs = 0;
  /// `slowsCompute` while a rank sends across nodes; null where it is the same.
  std::optional<double> slowsComputeAcross = std::nullopt;

  double getSlowdown(bool isAcross) const {
    return isAcross ? slowsComputeAcross.value_or(slowsCompute) : slowsCompute;
  }
};

/// Speed of a machine, by kind of command and element type, and of links.
struct CostTable {
  /// What the table says of some commands; what it leaves out stands in a more
  /// general part.
  struct Part {
    std::optional<double> gflops, gigabytesPerSecond, overheadUs;
  };
  /// By "gemm.bf16" (a kind and a type), "gemm", "bf16" and "": all commands.
  llvm::StringMap<Part> parts;
  /// By the axis of the mesh along which ranks differ, and "": all links.
  struct LinkPart {
    std::optional<double> gigabytesPerSecond, latencyUs;
  };
  llvm::StringMap<LinkPart> links;
  Overlap overlap;
  /// Where collectives travel over links between nodes and in them.
  std::optional<Cluster> cluster;
  /// What no part gives, not even for all commands; null for the defaults.
  std::shared_ptr<const CostTable> base;

  /// The rates of a kind on a type; "" and null for those of all commands.
  Rates getRates(llvm::StringRef kind, mlir::Type element) const;
  /// The rates of a collective of that kind along an axis: those of the axis
  /// win over its kind's, and these over those of all links.
  LinkRates getLink(llvm::StringRef kind, llvm::StringRef axis) const;
};

/// Module attribute: the speeds that a cost table gave for all commands, by its
/// keys.
inline constexpr llvm::StringLiteral kSpeedsAttr = "plan.speeds";

/// Its keys for the numbers of Overlap that are above 0. The number across
/// nodes may be 0, since a missing one is that inside a node.
inline constexpr llvm::StringLiteral kSlowsComputeKey = "slows_compute";
inline constexpr llvm::StringLiteral kSlowsAcrossKey = "slows_compute_across";
inline constexpr llvm::StringLiteral kBesideKey = "beside_us";
inline constexpr llvm::StringLiteral kBeginKey = "begin_us";

/// By the module's speeds; zeroes without.
Overlap getOverlap(mlir::ModuleOp module);

/// Bytes that a collective sends to other ranks; 0 for another command, or one
/// rank.
int64_t getSentBytes(plan::CommandOpInterface command);

/// The ranks of the mesh; 1 without one.
int64_t countRanks(mlir::ModuleOp module);
/// The ranks that a collective is among.
RankGroup getRankGroup(plan::CommandOpInterface collective);

/// Bytes a command reads and writes; an updated buffer counts twice.
int64_t getTrafficBytes(plan::CommandOpInterface command);

/// Floating-point operations of a command; 0 if nobody counted them.
double getFlops(plan::CommandOpInterface command);

/// How long a command takes by itself, in microseconds: overhead plus the
/// longer of arithmetic and traffic; of a collective among several ranks
/// latency plus the time in which it sends, which is `link`. The links are
/// those of the cluster if it has any.
struct Estimate {
  double all = 0, link = 0;
  llvm::StringRef linkName = {}; // of a cluster
};

/// The links of a cluster, by the names of their tables.
inline constexpr llvm::StringLiteral kNodeLink = "node";
inline constexpr llvm::StringLiteral kNetworkLink = "network";

Estimate estimate(plan::CommandOpInterface command, const CostTable &table);

} // namespace weft

#endif // WEFT_ANALYSIS_COST_H
