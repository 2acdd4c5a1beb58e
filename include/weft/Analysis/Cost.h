//===- Cost.h - Estimated time of a command ---------------------*- C++ -*-===//

#ifndef WEFT_ANALYSIS_COST_H
#define WEFT_ANALYSIS_COST_H

#include "weft/Analysis/CollectiveCost.h"
#include "weft/Analysis/CostKinds.h"

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

/// The work of a command.
struct CommandWork {
  double flops = 0, bytes = 0;
  /// Pairs of a query and a key whose score attention computes.
  double scores = 0;
};

/// Speed of a command. The defaults are for two 3.7 GHz x86 cores with AVX2
/// (products in f32, reads from memory).
struct Rates {
  double gflops = 200;
  double gigabytesPerSecond = 45;
  double overheadUs = 1;
  /// Softmax of attention; 0: it takes no time besides the products.
  double gigascoresPerSecond = 0;

  /// Overhead plus the longer of arithmetic and traffic, in microseconds. With
  /// a rate of scores, products, softmax and traffic add up: the routines of
  /// attention pack rows, multiply and exponentiate in turn.
  double getTimeUs(const CommandWork &work) const {
    const double arithmetic = work.flops / (gflops * 1e3);
    const double traffic = work.bytes / (gigabytesPerSecond * 1e3);
    if (work.scores > 0 && gigascoresPerSecond > 0)
      return overheadUs + arithmetic + traffic +
             work.scores / (gigascoresPerSecond * 1e3);
    return overheadUs + std::max(arithmetic, traffic);
  }
};

/// Speed of a link between ranks. The defaults are for two processes on one
/// machine.
struct LinkRates {
  double gigabytesPerSecond = 3; // that one rank sends
  double latencyUs = 50;         // of a collective
};

/// Cost of overlapping collectives with computation.
struct Overlap {
  /// Fraction of its speed that computation loses while a rank sends inside its
  /// node. It also applies where no cluster maps ranks to nodes.
  double slowsCompute = 0;
  /// Microseconds added to a collective in its own stream. On a CPU, the
  /// collective waits this long for a processor.
  double besideUs = 0;
  /// Microseconds that the compute stream spends on each of its records, which
  /// hand over collectives.
  double beginUs = 0;
  /// `slowsCompute` while a rank sends across nodes; null if it is the same.
  std::optional<double> slowsComputeAcross = std::nullopt;

  double getSlowdown(bool isAcross) const {
    return isAcross ? slowsComputeAcross.value_or(slowsCompute) : slowsCompute;
  }
};

/// Speed of a machine, by kind of command and element type, and of links.
struct CostTable {
  /// Rates of a group of commands. A more general part supplies missing rates.
  struct Part {
    std::optional<double> gflops, gigabytesPerSecond, overheadUs;
    std::optional<double> gigascoresPerSecond = std::nullopt;
  };
  /// By "gemm.bf16" (a kind and a type), "gemm", "bf16" and "": all commands.
  llvm::StringMap<Part> parts;
  /// "cpu" or "cuda", the target of the rates; "": unknown.
  std::string target;
  /// Threads of a rank that the rates were measured with; 0: unknown.
  int64_t threads = 0;
  /// By the axis of the mesh along which ranks differ, and "": all links.
  struct LinkPart {
    std::optional<double> gigabytesPerSecond, latencyUs;
  };
  llvm::StringMap<LinkPart> links;
  Overlap overlap;
  /// Where collectives travel over links between nodes and in them.
  std::optional<MachineCluster> cluster;
  /// Supplies the rates that no part gives; null for the defaults.
  std::shared_ptr<const CostTable> base;

  /// The rates of a command on a type. A rate of a more special kind wins, then
  /// one of a type. An empty list and null select all commands.
  Rates getRates(llvm::ArrayRef<llvm::StringRef> kinds,
                 mlir::Type element) const;
  int64_t getThreads() const {
    return threads > 0 || !base ? threads : base->getThreads();
  }
  /// The rates of a collective of that kind along an axis. Rates of the axis
  /// override rates of the kind, which override rates of all links.
  LinkRates getLink(llvm::StringRef kind, llvm::StringRef axis) const;
};

/// Module attribute: the speeds from a cost table that apply to all commands,
/// by their keys in the table.
inline constexpr llvm::StringLiteral kSpeedsAttr = "plan.speeds";

/// Its keys for the numbers of Overlap that are above 0. The number across
/// nodes may be 0, since a missing one is that inside a node.
inline constexpr llvm::StringLiteral kSlowsComputeKey = "slows_compute";
inline constexpr llvm::StringLiteral kSlowsAcrossKey = "slows_compute_across";
inline constexpr llvm::StringLiteral kBesideKey = "beside_us";
inline constexpr llvm::StringLiteral kBeginKey = "begin_us";

/// The module's overlap costs; zeros if it has no speeds.
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

/// The pairs of a query and a key whose score an attention command computes; 0
/// for another command. Causal attention counts whole tiles.
double getScores(plan::CommandOpInterface command);

/// The three of them.
CommandWork getWork(plan::CommandOpInterface command);

/// The time of the thread with most units of work over the time with even ones,
/// on a CPU whose ranks have that many threads; 0 threads: unknown. 1 for
/// commands other than attention.
double getImbalance(plan::CommandOpInterface command, int64_t threads);

/// Time of a command without overlap, in microseconds: overhead plus the longer
/// of arithmetic and traffic. A collective among several ranks takes its
/// latency plus its transfer time, `link`. A cluster with links overrides the
/// link rates of the table. Attention whose units of work do not divide evenly
/// among the threads of the table takes as long as the thread with most units.
/// With rates of a CUDA device, gradients of attention that draw random numbers
/// draw each of them twice.
struct Estimate {
  double all = 0, link = 0;
  llvm::StringRef linkName = {}; // of a cluster
};

/// The links of a cluster, by the names of their tables.
inline constexpr llvm::StringLiteral kNodeLink = "node";
inline constexpr llvm::StringLiteral kNetworkLink = "network";

Estimate estimate(plan::CommandOpInterface command, const CostTable &table,
                  CostKinds &kinds);

} // namespace weft

#endif // WEFT_ANALYSIS_COST_H
