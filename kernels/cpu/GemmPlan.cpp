//===- GemmPlan.cpp - Matrix products through oneDNN ----------------------===//
//
// A product's bits must not depend on the number of threads. oneDNN 2.6 breaks
// that in two places, which makePlan() avoids:
//  - its brgemm kernels (AVX-512) split K among threads when A or B is
//    transposed and K >= 2048: such products run as pieces of fewer than 2048,
//    or, where every piece would round a low result, as blocks of one thread
//    each;
//  - its other f32 kernels (machines without AVX-512) split K as they like, and
//    its kernels for tiles of bf16 (AMX) cut a long K by the number of threads:
//    there the result is cut into fixed blocks, each computed by one thread. An
//    f32 result of tiles is the sum of pieces of K that are not cut.
// Its kernels for tiles also fail for some K: such products are packed as f32
// (failsInTiles).
// A program of one thread has one block with AVX and AVX2. Blocks of f32 read
// copies there of an operand whose columns fall into the same sets of a cache
// (PaddedRows).
//
//===----------------------------------------------------------------------===//

#include "GemmPlan.h"

#include <algorithm>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

using dnnl::memory;

namespace weft {

/// The version that the comment above is about.
constexpr int kKnownMajor = 2, kKnownMinor = 6;
static_assert(DNNL_VERSION_MAJOR == kKnownMajor &&
                  DNNL_VERSION_MINOR == kKnownMinor,
              "how products are cut is known for oneDNN 2.6 only: check every "
              "rule of this file, and GemmTest, before you allow another one");

std::string findWrongOneDnn(const dnnl_version_t &found) {
  auto name = [](int major, int minor) { return concat(major, ".", minor); };
  if (found.major != kKnownMajor || found.minor != kKnownMinor)
    return "expects oneDNN " + name(kKnownMajor, kKnownMinor) +
           ", which the program was built for, but this machine has " +
           name(found.major, found.minor);
  if (found.cpu_runtime != DNNL_RUNTIME_OMP)
    return "expects a oneDNN that was built for OpenMP, but this machine has "
           "one with other threads";
  return "";
}

namespace {

memory::data_type dataType(int64_t dtype) {
  return dtype == WEFT_BF16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// A matrix, or `batch` of them; a batch stride of 0 shares one matrix.
memory::desc matrixDesc(int64_t dtype, int64_t batch, int64_t batchStride,
                        int64_t rows, int64_t columns, int64_t rowStride,
                        int64_t columnStride) {
  memory::data_type type = dataType(dtype);
  if (batch == 1)
    return {{rows, columns}, type, memory::dims{rowStride, columnStride}};
  int64_t size = std::max(rows * rowStride, columns * columnStride);
  return {
      {batchStride ? batch : 1, rows, columns},
      type,
      memory::dims{batchStride ? batchStride : size, rowStride, columnStride}};
}

dnnl::matmul::primitive_desc describe(const WeftGemmRecord &s,
                                      const dnnl::engine &engine) {
  memory::desc a = matrixDesc(s.dtype, s.batch, s.batchStrideA, s.m, s.k,
                              s.transA ? 1 : s.lda, s.transA ? s.lda : 1);
  memory::desc b = matrixDesc(s.dtype, s.batch, s.batchStrideB, s.k, s.n,
                              s.transB ? 1 : s.ldb, s.transB ? s.ldb : 1);
  memory::desc c =
      matrixDesc(s.dtypeC, s.batch, s.batchStrideC, s.m, s.n, s.ldc, 1);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  // Not what ONEDNN_DEFAULT_FPMATH_MODE says: f32 stays f32.
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  if (s.accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
  if (!s.hasBias)
    return {dnnl::matmul::desc(a, b, c), attributes, engine};
  memory::desc bias = matrixDesc(s.dtype, s.batch, 0, 1, s.n, s.n, 1);
  return {dnnl::matmul::desc(a, b, bias, c), attributes, engine};
}

/// Whether oneDNN multiplies bf16 in the tiles of AMX. Its levels are no
/// sequence: AVX2_VNNI is the greatest number.
bool usesTiles() {
  return dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx512_core_amx;
}

/// Whether a low product runs in tiles, in stages of all threads.
bool runsInTileStages(const WeftGemmRecord &s) {
  static const bool isUsual = ::sysconf(_SC_LEVEL2_CACHE_SIZE) >= kTileCache;
  return s.dtype != WEFT_F32 && usesTiles() && isUsual && isTileSum(s);
}

/// Whether a product runs in tiles, in blocks of one thread each.
bool runsInTileBlocks(const WeftGemmRecord &s) {
  return s.dtype != WEFT_F32 && usesTiles() && !runsInTileStages(s);
}

/// A block of the result that one thread computes.
struct OneDnnBlock {
  int64_t rows, columns;
};

/// The products of blocks, by rows and columns: most blocks are alike.
class BlockProducts {
public:
  BlockProducts(const WeftGemmRecord &shape, const dnnl::engine &engine)
      : s(shape), engine(engine) {}

  /// The block of a result that begins at a row and a column of a batch.
  Product make(OneDnnBlock size, int64_t batch, int64_t row, int64_t column) {
    size.rows = std::min(size.rows, s.m - row);
    size.columns = std::min(size.columns, s.n - column);
    Product product = find(size);
    product.offsetA = batch * s.batchStrideA + row * (s.transA ? 1 : s.lda);
    product.offsetB = batch * s.batchStrideB + column * (s.transB ? s.ldb : 1);
    product.offsetC = batch * s.batchStrideC + row * s.ldc + column;
    product.offsetBias = column;
    return product;
  }

private:
  const Product &find(OneDnnBlock size) {
    auto [known, isNew] = products.try_emplace({size.rows, size.columns});
    if (isNew) {
      WeftGemmRecord block = s;
      block.batch = 1, block.m = size.rows, block.n = size.columns;
      known->second = makeProduct(block, engine);
    }
    return known->second;
  }

  const WeftGemmRecord &s;
  const dnnl::engine &engine;
  std::map<std::pair<int64_t, int64_t>, Product> products;
};

/// The blocks of a result in tiles. Larger ones pack less: 86, 92 and 100 are
/// measured times of equal work (1024 x 576 by 1536; 82, 86 and 100 by 49152).
/// A result with few blocks gets smaller ones, one for each of 16 threads. The
/// bits of a long K depend on the size, so the threads of a run do not count.
OneDnnBlock sizeOfTileBlocks(const WeftGemmRecord &s) {
  struct Choice {
    OneDnnBlock size;
    int64_t time;
  };
  constexpr Choice choices[] = {{{kTileRows, kTileColumns}, 86},
                                {{kTileRows, kBlock}, 92},
                                {{kBlock, kBlock}, 100}};
  auto timeOf = [&](const Choice &choice) {
    const auto [rows, columns] = choice.size;
    const int64_t blocks =
        s.batch * countPieces(s.m, rows) * countPieces(s.n, columns);
    return countPieces(blocks, kDefaultMaxThreads) * rows * columns *
           choice.time;
  };
  return std::min_element(std::begin(choices), std::end(choices),
                          [&](const Choice &a, const Choice &b) {
                            return timeOf(a) < timeOf(b);
                          })
      ->size;
}

/// By rows or columns, by both where there are tiles.
OneDnnBlock sizeOfBlocks(const WeftGemmRecord &s) {
  if (runsInTileBlocks(s))
    return sizeOfTileBlocks(s);
  return isCutByRows(s) ? OneDnnBlock{kBlock, s.n} : OneDnnBlock{s.m, kBlock};
}

/// The blocks of one result.
std::vector<Product> makeBlocks(const WeftGemmRecord &s, OneDnnBlock size,
                                const dnnl::engine &engine) {
  BlockProducts products(s, engine);
  std::vector<Product> blocks;
  for (int64_t batch = 0; batch < s.batch; ++batch)
    for (int64_t row = 0; row < s.m; row += size.rows)
      for (int64_t column = 0; column < s.n; column += size.columns)
        blocks.push_back(products.make(size, batch, row, column));
  return blocks;
}

bool usesBrgemm(const WeftGemmRecord &s, const dnnl::engine &engine) {
  try {
    return std::string(describe(s, engine).impl_info_str()).rfind("brg", 0) ==
           0;
  } catch (const dnnl::error &) {
    return false; // oneDNN has nothing for these types on this machine
  }
}

} // namespace

/// oneDNN crashes where it gets no memory for the code that it generates: ask
/// for more than it takes before it does.
static void requireMemory() {
  constexpr size_t bytes = size_t(16) << 20;
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  ::munmap(memory, bytes);
}

Product makeProduct(const WeftGemmRecord &shape, const dnnl::engine &engine) {
  requireMemory();
  dnnl::matmul::primitive_desc descriptor = describe(shape, engine);
  Product product;
  product.primitive = dnnl::matmul(descriptor);
  product.a = descriptor.src_desc();
  product.b = descriptor.weights_desc();
  product.c = descriptor.dst_desc();
  product.bias = descriptor.bias_desc();
  product.scratch = descriptor.scratchpad_desc();
  return product;
}

/// The range of K from `begin` on that one stage multiplies.
static WeftGemmRecord pieceOf(WeftGemmRecord s, int64_t begin,
                              int64_t longest) {
  s.k = std::min(longest, s.k - begin);
  s.accumulate = s.accumulate || begin > 0;
  s.hasBias = s.hasBias && begin == 0;
  return s;
}

/// How far an element of K lies from the first, in A and in B.
static int64_t offsetInA(const WeftGemmRecord &s, int64_t k) {
  return k * (s.transA ? s.lda : 1);
}
static int64_t offsetInB(const WeftGemmRecord &s, int64_t k) {
  return k * (s.transB ? 1 : s.ldb);
}

/// The copies of a stage for the `rows` rows of K from `begin` on.
static std::vector<RowCopies> listCopies(const WeftGemmRecord &s,
                                         const PaddedRows &padded,
                                         int64_t begin, int64_t rows) {
  std::vector<RowCopies> copies;
  if (padded.copiesA)
    copies.push_back(
        {/*ofB=*/false, offsetInA(s, begin), 0, rows, s.m, s.lda, padded.lda});
  if (padded.copiesB)
    copies.push_back({/*ofB=*/true, offsetInB(s, begin), padded.floatsOfA(),
                      rows, s.n, s.ldb, padded.ldb});
  return copies;
}

/// Stages of a product that oneDNN computes as a whole, on `threads` threads.
static GemmPlan makeStages(const WeftGemmRecord &s, const dnnl::engine &engine,
                           int threads) {
  GemmPlan plan;
  LibraryThreads scope(threads);
  const int64_t longest =
      runsInTileStages(s) ? tileStageK(s) : longestStageK(s, /*blocked=*/false);
  for (int64_t begin = 0; begin < s.k; begin += longest) {
    GemmStage &stage = plan.stages.emplace_back();
    stage.products = {makeProduct(pieceOf(s, begin, longest), engine)};
    plan.addOffsets(stage, offsetInA(s, begin), offsetInB(s, begin));
  }
  return plan;
}

/// Stages of blocks of one thread each.
static GemmPlan makeBlockStages(const WeftGemmRecord &s,
                                const dnnl::engine &engine, OneDnnBlock size) {
  GemmPlan plan;
  plan.blocked = true;
  LibraryThreads scope(1);
  const int64_t longest = longestStageK(s, /*blocked=*/true);
  for (int64_t begin = 0; begin < s.k; begin += longest) {
    GemmStage &stage = plan.stages.emplace_back();
    stage.products = makeBlocks(pieceOf(s, begin, longest), size, engine);
    plan.addOffsets(stage, offsetInA(s, begin), offsetInB(s, begin));
  }
  return plan;
}

/// The same of blocks that read copies of an operand or of both.
static GemmPlan makePaddedStages(const WeftGemmRecord &s,
                                 const dnnl::engine &engine, OneDnnBlock size,
                                 const PaddedRows &padded) {
  GemmPlan plan;
  plan.blocked = true;
  plan.padded = padded;
  LibraryThreads scope(1);
  for (int64_t begin = 0; begin < s.k; begin += padded.depth) {
    WeftGemmRecord piece = pieceOf(s, begin, padded.depth);
    piece.lda = padded.lda, piece.ldb = padded.ldb;
    GemmStage &stage = plan.stages.emplace_back();
    stage.copies = listCopies(s, padded, begin, piece.k);
    stage.products = makeBlocks(piece, size, engine);
    plan.addOffsets(stage, padded.copiesA ? 0 : offsetInA(s, begin),
                    padded.copiesB ? padded.floatsOfA() : offsetInB(s, begin));
  }
  return plan;
}

static GemmPlan makePackedPlan(const WeftGemmRecord &s,
                               const dnnl::engine &engine,
                               const PackedBlocks &blocks) {
  GemmPlan plan;
  plan.packed.emplace(s, engine, blocks);
  return plan;
}

/// Whether only blocks of one thread each give bits that depend on no thread
/// count, or run fast, where brgemm multiplies.
static bool mustBlock(const WeftGemmRecord &s) {
  return runsInTileBlocks(s) || aliasesInCache(s) || isLongLowProduct(s);
}

/// Whether oneDNN has kernels of f32 that read small operands in place: those
/// of AVX and AVX2.
static bool mayReadInPlace() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx || isa == dnnl::cpu_isa::avx2 ||
         isa == dnnl::cpu_isa::avx2_vnni;
}

/// The fastest plan for kernels that read in place, or nullopt if blocks of the
/// operands themselves are faster. Operands with aliasing rows are copied; a
/// single thread computes one block.
static std::optional<GemmPlan> makeInPlacePlan(const WeftGemmRecord &s,
                                               const dnnl::engine &engine,
                                               int mostThreads) {
  const bool isWhole = mostThreads == 1;
  const OneDnnBlock size = isWhole ? OneDnnBlock{s.m, s.n} : sizeOfBlocks(s);
  if (const PaddedRows padded(s, mostThreads); padded.depth > 0)
    return makePaddedStages(s, engine, size, padded);
  if (isWhole)
    return makeBlockStages(s, engine, size);
  return std::nullopt;
}

GemmPlan makePlan(WeftGemmRecord s, const dnnl::engine &engine,
                  const GemmLimits &limits) {
  mergeBatch(s);
  bool isBrgemm = false;
  const bool mayUseBf16 =
      limits.mayUseBf16 && !(usesTiles() && failsInTiles(s));
  if (s.dtype == WEFT_F32 || (s.dtype == WEFT_BF16 && mayUseBf16)) {
    LibraryThreads scope(limits.mostThreads);
    isBrgemm = usesBrgemm(s, engine);
  }
  auto fits = [&](const GemmPlan &plan) {
    return plan.countBytes(limits.mostThreads) <= limits.bytes;
  };
  if (s.dtype == WEFT_F32 && mayReadInPlace())
    if (auto plan = makeInPlacePlan(s, engine, limits.mostThreads);
        plan && fits(*plan))
      return std::move(*plan);
  if (isBrgemm && !mustBlock(s))
    if (GemmPlan plan = makeStages(s, engine, limits.mostThreads); fits(plan))
      return limits.threads == limits.mostThreads
                 ? std::move(plan)
                 : makeStages(s, engine, limits.threads);
  if (s.dtype == WEFT_F32 || isBrgemm)
    if (GemmPlan plan = makeBlockStages(s, engine, sizeOfBlocks(s)); fits(plan))
      return plan;
  GemmPlan plan = makePackedPlan(s, engine, lowBlocks(s));
  return fits(plan) ? std::move(plan)
                    : makePackedPlan(s, engine, smallBlocks(s));
}

void GemmPlan::addOffsets(GemmStage &stage, int64_t a, int64_t b) {
  for (Product &product : stage.products) {
    product.offsetA += a;
    product.offsetB += b;
    productBytes = std::max<int64_t>(productBytes, product.scratch.get_size());
  }
}

int GemmPlan::countWorkers(int threads) const {
  int64_t units = packed ? packed->countUnits() : blocked ? threads : 1;
  return static_cast<int>(std::min<int64_t>(threads, units));
}

int64_t GemmPlan::workerBytes() const {
  return roundUp(packed ? packed->bytes() : productBytes, kWorkspaceAlignment);
}

} // namespace weft
