//===- GemmWidened.cpp - Products of f16, and of bf16 without hardware ----===//
//
// The result is cut into fixed blocks. For each, pieces of A and B are widened
// to f32 in the worker's scratch, multiplied and added up there by oneDNN on
// one thread, and the block is rounded once. Nothing depends on the threads.
//
//===----------------------------------------------------------------------===//

#include "GemmPlan.h"

#include <algorithm>

namespace weft {
namespace {

/// Largest block of the result and longest range of K: pieces of at most 1 MiB.
constexpr int64_t kRows = 256, kColumns = 256, kDepth = 1024;
/// Keeps rows of a piece out of each other's cache sets.
constexpr int64_t kPadding = 16;

int64_t countPieces(int64_t size, int64_t piece) {
  return (size + piece - 1) / piece;
}

/// One block of the result.
struct Block {
  int64_t batch, row, column, rows, columns;
};

Block getBlock(const WidenedPlan &plan, int64_t unit) {
  const WeftGemmRecord &s = plan.shape;
  int64_t across = countPieces(s.n, plan.columns);
  int64_t down = countPieces(s.m, plan.rows);
  Block block;
  block.column = unit % across * plan.columns;
  block.row = unit / across % down * plan.rows;
  block.batch = unit / across / down;
  block.rows = std::min(plan.rows, s.m - block.row);
  block.columns = std::min(plan.columns, s.n - block.column);
  return block;
}

/// Rows of a stored matrix as f32.
struct Piece {
  const char *from; // the matrix of this batch
  int64_t dtype, ld, row, column, rows, columns;
};

void widenPiece(const Loops &loops, const Piece &p, float *to, int64_t toLd) {
  int64_t bytes = floatBytes(p.dtype);
  for (int64_t r = 0; r < p.rows; ++r)
    loops.widen(static_cast<int>(p.dtype), p.columns,
                p.from + ((p.row + r) * p.ld + p.column) * bytes,
                to + r * toLd);
}

/// A worker's scratch.
struct Room {
  float *a, *b, *c;
  char *product;
  Room(const WidenedPlan &plan, char *base)
      : a(reinterpret_cast<float *>(base)), b(a + plan.floatsA),
        c(b + plan.floatsB),
        product(reinterpret_cast<char *>(c + plan.floatsC)) {}
};

/// The sum over K of one block, in room.c.
void multiplyBlock(const Loops &loops, const WidenedPlan &plan,
                   const Block &block, const GemmOperands &operands,
                   GemmState &state, int worker, const Room &room) {
  const WeftGemmRecord &s = plan.shape;
  int64_t bytes = floatBytes(s.dtype);
  const char *a = operands.a + block.batch * s.batchStrideA * bytes;
  const char *b = operands.b + block.batch * s.batchStrideB * bytes;
  for (int64_t k = 0; k < s.k; k += plan.depth) {
    int64_t depth = std::min(plan.depth, s.k - k);
    Piece left = {a, s.dtype, s.lda, block.row, k, block.rows, depth};
    if (s.transA)
      left = {a, s.dtype, s.lda, k, block.row, depth, block.rows};
    Piece right = {b, s.dtype, s.ldb, k, block.column, depth, block.columns};
    if (s.transB)
      right = {b, s.dtype, s.ldb, block.column, k, block.columns, depth};
    widenPiece(loops, left, room.a, plan.lda);
    widenPiece(loops, right, room.b, plan.ldb);
    const Product &product =
        plan.products.at({block.rows, block.columns, depth, k > 0});
    execute(product,
            {reinterpret_cast<char *>(room.a), reinterpret_cast<char *>(room.b),
             reinterpret_cast<char *>(room.c), nullptr},
            state, worker, room.product);
  }
}

/// Adds bias and old contents to a block and writes it.
void finishBlock(const Loops &loops, const WeftGemmRecord &s,
                 const Block &block, const GemmOperands &operands, float *sums,
                 int64_t ld) {
  float bias[kColumns] = {}, old[kColumns];
  if (s.hasBias)
    loops.widen(static_cast<int>(s.dtype), block.columns,
                operands.bias + block.column * floatBytes(s.dtype), bias);
  for (int64_t r = 0; r < block.rows; ++r) {
    float *row = sums + r * ld;
    char *to = operands.c + (block.batch * s.batchStrideC +
                             (block.row + r) * s.ldc + block.column) *
                                floatBytes(s.dtypeC);
    if (s.hasBias)
      loops.addRows(block.columns, bias, row);
    if (s.accumulate) {
      loops.widen(static_cast<int>(s.dtypeC), block.columns, to, old);
      loops.addRows(block.columns, old, row);
    }
    loops.narrow(static_cast<int>(s.dtypeC), block.columns, row, to);
  }
}

/// Pieces of sizes that occur when `size` is cut: `piece` and what is left.
std::vector<int64_t> listSizes(int64_t size, int64_t piece) {
  std::vector<int64_t> sizes = {std::min(size, piece)};
  if (size > piece && size % piece != 0)
    sizes.push_back(size % piece);
  return sizes;
}

void addProduct(WidenedPlan &plan, int64_t rows, int64_t columns, int64_t depth,
                int64_t adds, const dnnl::engine &engine) {
  WeftGemmRecord piece = plan.shape;
  piece.batch = 1, piece.m = rows, piece.n = columns, piece.k = depth;
  piece.lda = plan.lda, piece.ldb = plan.ldb, piece.ldc = plan.ldc;
  piece.batchStrideA = piece.batchStrideB = piece.batchStrideC = 0;
  piece.accumulate = adds, piece.hasBias = 0;
  piece.dtype = piece.dtypeC = WEFT_F32;
  Product product = makeProduct(piece, engine);
  plan.productBytes =
      std::max<int64_t>(plan.productBytes, product.scratch.get_size());
  plan.products.emplace(std::array<int64_t, 4>{rows, columns, depth, adds},
                        std::move(product));
}

} // namespace

int64_t WidenedPlan::countUnits() const {
  return shape.batch * countPieces(shape.m, rows) *
         countPieces(shape.n, columns);
}

int64_t WidenedPlan::bytes() const {
  return (floatsA + floatsB + floatsC) * static_cast<int64_t>(sizeof(float)) +
         productBytes;
}

WidenedPlan makeWidenedPlan(const WeftGemmRecord &s,
                            const dnnl::engine &engine) {
  WidenedPlan plan;
  plan.shape = s;
  plan.rows = std::min(kRows, s.m), plan.columns = std::min(kColumns, s.n);
  plan.depth = std::min(kDepth, s.k);
  auto padded = [](int64_t width) {
    return (width + kPadding - 1) / kPadding * kPadding + kPadding;
  };
  plan.lda = padded(s.transA ? plan.rows : plan.depth);
  plan.ldb = padded(s.transB ? plan.depth : plan.columns);
  plan.ldc = padded(plan.columns);
  plan.floatsA = plan.lda * (s.transA ? plan.depth : plan.rows);
  plan.floatsB = plan.ldb * (s.transB ? plan.columns : plan.depth);
  plan.floatsC = plan.ldc * plan.rows;
  LibraryThreads scope(1);
  for (int64_t rows : listSizes(s.m, plan.rows))
    for (int64_t columns : listSizes(s.n, plan.columns))
      for (int64_t depth : listSizes(s.k, plan.depth))
        for (int64_t adds = 0; adds <= (s.k > plan.depth); ++adds)
          addProduct(plan, rows, columns, depth, adds, engine);
  return plan;
}

void runWidened(WeftContext &context, GemmState &state, const WidenedPlan &plan,
                const GemmOperands &operands) {
  int64_t units = plan.countUnits();
  const Loops &loops = loopsOf(context);
  context.parallelFor(
      units, 1,
      [&](RangePart part) {
        LibraryThreads scope(1);
        for (int64_t unit = part.begin; unit < part.end; ++unit) {
          Block block = getBlock(plan, unit);
          Room room(plan, context.scratch(part.worker));
          multiplyBlock(loops, plan, block, operands, state, part.worker, room);
          finishBlock(loops, plan.shape, block, operands, room.c, plan.ldc);
        }
      },
      Schedule::Dynamic);
}

} // namespace weft
