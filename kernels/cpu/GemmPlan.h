//===- GemmPlan.h - Matrix products through oneDNN --------------*- C++ -*-===//
//
// Private to Gemm*.cpp, the files that know oneDNN.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_GEMMPLAN_H
#define WEFT_KERNELS_CPU_GEMMPLAN_H

#include "FloatRuns.h"

#include <array>
#include <dnnl.hpp>
#include <map>
#include <optional>
#include <vector>

namespace weft {

/// A record by its fields, in their order, and the bytes of its workspace.
using GemmFields =
    std::array<int64_t, sizeof(WeftGemmRecord) / sizeof(int64_t)>;
static_assert(sizeof(WeftGemmRecord) == sizeof(GemmFields), "integers alone");
using GemmKey = std::pair<GemmFields, int64_t>;

/// Whether the kernels of oneDNN 2.6 for tiles of bf16 (AMX) may end the
/// process with SIGILL, or read and write beside the matrices.
///
/// brgemm_matmul.cpp cuts K into blocks of K_blk columns and a tail, which it
/// rounds up to an even number, K_tail. compute_kernel() gives the tile
/// registers the shapes that the kernel of the tail needs where
/// `K_tail != K_blk`. It should also do so in the last rows or columns of a
/// result, where a kernel has other shapes than the one that the registers were
/// set for: `tdpbf16ps` on registers whose shapes do not match is an illegal
/// instruction.
///
/// K_blk is 32, or a multiple of 32 where all whole blocks run as one; K_tail
/// is at most 32. They are equal only for K_blk = 32 and a tail of 31 columns.
/// The smallest such K is 63. Longer ones need a K that is cut for the level 2
/// cache or for threads, which depends on the machine: all of them count here.
inline bool failsInTiles(const WeftGemmRecord &s) {
  constexpr int64_t columns = 32;
  return s.dtype == WEFT_BF16 && s.k > columns && s.k % columns == columns - 1;
}

/// Why this oneDNN cannot be used, or "": how products are cut into bits that
/// do not depend on threads is known for one version.
std::string findWrongOneDnn(const dnnl_version_t &found);

/// One oneDNN primitive and where its operands begin (in elements).
struct Product {
  dnnl::matmul primitive;
  dnnl::memory::desc a, b, c, bias, scratch;
  int64_t offsetA = 0, offsetB = 0, offsetC = 0, offsetBias = 0;
};

/// A product by blocks of the result, from pieces that are packed as f32. One
/// thread computes a block, one range of K after the other.
struct PackedPlan {
  WeftGemmRecord shape;
  PackedBlocks blocks;
  /// By rows, columns and depth of a block, and whether it adds.
  std::map<std::array<int64_t, 4>, Product> products;
  int64_t productBytes = 0; // that the largest product works in

  PackedPlan(const WeftGemmRecord &shape, const dnnl::engine &engine,
             const PackedBlocks &blocks);
  int64_t countUnits() const { return blocks.countUnits(shape); }
  /// Bytes of the workspace of one worker.
  int64_t bytes() const { return blocks.pieceBytes() + productBytes; }

private:
  void addProduct(int64_t rows, int64_t columns, int64_t depth, int64_t adds,
                  const dnnl::engine &engine);
};

/// Rows of an operand, in f32, that a stage copies: from an element of the
/// operand on, to one of the workspace's copies.
struct RowCopies {
  bool ofB;
  int64_t from, to, rows, width, ld, paddedLd;
};

/// Products that are independent of each other, behind copies that they read.
struct GemmStage {
  std::vector<RowCopies> copies;
  std::vector<Product> products;
};

/// How a product runs: `packed`, or stages one after the other.
struct GemmPlan {
  std::vector<GemmStage> stages;
  bool blocked = false; // products of a stage run on one thread each
  int64_t productBytes = 0;
  std::optional<PaddedRows> padded;
  std::optional<PackedPlan> packed;

  /// Moves the operands of a stage that becomes this plan's.
  void addOffsets(GemmStage &stage, int64_t a, int64_t b);
  /// Workers of `threads` that need memory, how much each of them, and all:
  /// copies lie behind the workers' pieces.
  int countWorkers(int threads) const;
  int64_t workerBytes() const;
  int64_t countBytes(int threads) const {
    return countWorkers(threads) * workerBytes() +
           (padded ? padded->bytes() : 0);
  }
};

/// A product that oneDNN computes as a whole.
Product makeProduct(const WeftGemmRecord &shape, const dnnl::engine &engine);

/// The inputs, besides the record, that decide how a product runs. The choice
/// follows from `mostThreads`, the most threads that its program may have, so
/// that the thread count of a run changes no bits.
struct GemmLimits {
  int threads, mostThreads;
  bool mayUseBf16; // may bf16 be multiplied as it is?
  int64_t bytes;   // of the workspace
};

/// The fastest plan whose workspace fits into `limits.bytes`, or the plan with
/// the smallest workspace.
GemmPlan makePlan(WeftGemmRecord shape, const dnnl::engine &engine,
                  const GemmLimits &limits);

struct GemmOperands {
  char *a, *b, *c, *bias;
};

/// State of a context: oneDNN's engine, one stream per worker, the plans.
struct GemmState {
  explicit GemmState(int threads);
  dnnl::engine engine;
  std::vector<dnnl::stream> streams;
  std::map<GemmKey, GemmPlan> plans;
};

/// The state of a context, created at the first call.
GemmState &stateOf(WeftContext &context);

/// Runs one product on operands that begin at the product's offsets.
void execute(const Product &product, const GemmOperands &operands,
             GemmState &state, int worker, char *scratch);
/// One block of the result.
struct GemmBlock {
  int64_t batch, row, column, rows, columns;
};
constexpr int64_t kMostBlockColumns = 256;

/// Adds bias and old contents to the sums over K of a block with at most
/// kMostBlockColumns columns and writes it. Rows of `sums` are `ld` floats
/// apart.
void finishBlock(const Loops &loops, const WeftGemmRecord &s,
                 const GemmBlock &block, const GemmOperands &operands,
                 float *sums, int64_t ld);

/// A product whose A has one row, without oneDNN and without a workspace: B is
/// read once, in its own type. `s` is merged (mergeBatch).
void runRow(WeftContext &context, const WeftGemmRecord &s,
            const GemmOperands &operands);

/// `workers`: their pieces of the workspace, `workerBytes` apart.
void runPacked(WeftContext &context, GemmState &state, const PackedPlan &plan,
               const GemmOperands &operands, char *workers,
               int64_t workerBytes);

} // namespace weft

#endif // WEFT_KERNELS_CPU_GEMMPLAN_H
