//===- GemmPlan.h - How a matrix product runs through oneDNN ----*- C++ -*-===//
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
#include <vector>

namespace weft {

/// Of batch, m, n and k, also when the rows of a batch are taken together.
constexpr int64_t kMostRows = int64_t(1) << 30;
/// A record by its fields, in their order.
using GemmKey = std::array<int64_t, sizeof(WeftGemmRecord) / sizeof(int64_t)>;
static_assert(sizeof(WeftGemmRecord) == sizeof(GemmKey), "integers alone");

/// Why this oneDNN cannot be used, or "": how products are cut into bits that
/// do not depend on threads is known for one version.
std::string findWrongOneDnn(const dnnl_version_t &found);

/// One oneDNN primitive and where its operands begin (in elements).
struct Product {
  dnnl::matmul primitive;
  dnnl::memory::desc a, b, c, bias, scratch;
  int64_t offsetA = 0, offsetB = 0, offsetC = 0, offsetBias = 0;
};

/// A product by blocks of the result that are widened to f32. One thread
/// computes a block, one range of K after the other.
struct WidenedPlan {
  WeftGemmRecord shape;
  int64_t rows, columns, depth; // of a block
  int64_t lda, ldb, ldc;        // of the widened pieces
  int64_t floatsA, floatsB, floatsC;
  /// By rows, columns and depth of a block, and whether it adds.
  std::map<std::array<int64_t, 4>, Product> products;
  int64_t productBytes = 0; // scratch of the largest product

  int64_t countUnits() const;
  /// Scratch of one worker.
  int64_t bytes() const;
};

/// How a product runs: `widened`, or stages one after the other, each a list
/// of products that are independent of each other.
struct GemmPlan {
  std::vector<std::vector<Product>> stages;
  bool blocked = false; // products of a stage run on one thread each
  int64_t scratchBytes = 0;
  bool isWidened = false;
  WidenedPlan widened;

  /// Workers of `threads` that need scratch, and how much each of them.
  int countWorkers(int threads) const;
  int64_t workerBytes() const;
};

/// A product that oneDNN computes as a whole.
Product makeProduct(const WeftGemmRecord &shape, const dnnl::engine &engine);

/// `mayUseBf16`: whether bf16 may be multiplied without widening it.
GemmPlan makePlan(WeftGemmRecord shape, const dnnl::engine &engine, int threads,
                  bool mayUseBf16);
WidenedPlan makeWidenedPlan(const WeftGemmRecord &shape,
                            const dnnl::engine &engine);

struct GemmOperands {
  char *a, *b, *c, *bias;
};

/// What a context keeps: oneDNN's engine, one stream per worker, the plans.
struct GemmState {
  explicit GemmState(int threads);
  dnnl::engine engine;
  std::vector<dnnl::stream> streams;
  std::map<GemmKey, GemmPlan> plans;
};

/// Runs one product on operands that begin at the product's offsets.
void execute(const Product &product, const GemmOperands &operands,
             GemmState &state, int worker, char *scratch);
void runWidened(WeftContext &context, GemmState &state, const WidenedPlan &plan,
                const GemmOperands &operands);

} // namespace weft

#endif // WEFT_KERNELS_CPU_GEMMPLAN_H
