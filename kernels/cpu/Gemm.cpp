//===- Gemm.cpp - weft_cpu_gemm through oneDNN's matmul -------------------===//
//
// The only file that knows oneDNN. A product's bits must not depend on the
// number of threads. oneDNN 2.6 breaks that in two places, which plan() avoids:
//  - its brgemm kernels (AVX-512) split K among threads when A is transposed
//    and K >= 2048: such products run as pieces of fewer than 2048;
//  - its other f32 kernels (machines without AVX-512) split K as they like:
//    there the result is cut into fixed blocks, each computed by one thread.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include <algorithm>
#include <array>
#include <dnnl.hpp>
#include <map>
#include <mutex>

using dnnl::memory;

extern "C" void omp_set_num_threads(int threads);
extern "C" int omp_get_max_threads(void);

namespace weft {
namespace {

/// Longest K of one product: pieces of B that stay in the last-level cache.
constexpr int64_t kLongestK = 4096;
/// Longest K of one product with a transposed A, below oneDNN's limit of 2048.
constexpr int64_t kLongestTransposedK = 1536;
/// Rows or columns of a block that one thread computes.
constexpr int64_t kBlock = 192;

/// The ints of weft_cpu_gemm, by name.
struct Shape {
  int64_t batch, m, n, k, transA, transB, lda, ldb, ldc, strideA, strideB,
      strideC, accumulate, hasBias;
};
constexpr int kNumInts = 14;
using Key = std::array<int64_t, kNumInts>;
static_assert(sizeof(Shape) == sizeof(Key), "one field per int");

Shape toShape(const Key &key) {
  Shape shape;
  std::copy(key.begin(), key.end(), reinterpret_cast<int64_t *>(&shape));
  return shape;
}

/// Makes libgomp report `threads` to oneDNN, which asks when it creates a
/// primitive.
class ThreadCount {
public:
  explicit ThreadCount(int threads) : old(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ThreadCount() { omp_set_num_threads(old); }

private:
  int old;
};

/// A shared left or right matrix, or rows of all batches that lie behind each
/// other, make one larger product instead of many.
void mergeBatch(Shape &s) {
  bool rowsFollow = !s.transA && s.strideA == s.m * s.lda &&
                    s.strideC == s.m * s.ldc && s.strideB == 0;
  if (s.batch > 1 && rowsFollow) {
    s.m *= s.batch;
    s.batch = 1;
  }
  if (s.batch == 1)
    s.strideA = s.strideB = s.strideC = 0;
}

/// Whether rows of B lie a multiple of 4 KiB apart, so that a column of B keeps
/// falling into the same cache sets. brgemm reads B in place and loses a
/// quarter of its speed then; blocks of columns go to kernels that pack B.
bool aliasesInCache(const Shape &s) {
  return !s.transB && s.ldb % 1024 == 0 && s.n > kBlock;
}

/// One oneDNN primitive and where its operands begin (in elements).
struct Product {
  dnnl::matmul primitive;
  memory::desc a, b, c, bias, scratch;
  int64_t offsetA = 0, offsetB = 0, offsetC = 0, offsetBias = 0;
};

/// How a product runs: stages one after the other, each a list of products
/// that are independent of each other.
struct Plan {
  std::vector<std::vector<Product>> stages;
  bool blocked = false; // products of a stage run on one thread each
  int64_t scratchBytes = 0;
};

/// A matrix, or `batch` of them; a batch stride of 0 shares one matrix.
memory::desc matrixDesc(int64_t batch, int64_t batchStride, int64_t rows,
                        int64_t columns, int64_t rowStride,
                        int64_t columnStride) {
  constexpr memory::data_type f32 = memory::data_type::f32;
  if (batch == 1)
    return {{rows, columns}, f32, memory::dims{rowStride, columnStride}};
  int64_t size = std::max(rows * rowStride, columns * columnStride);
  return {
      {batchStride ? batch : 1, rows, columns},
      f32,
      memory::dims{batchStride ? batchStride : size, rowStride, columnStride}};
}

dnnl::matmul::primitive_desc describe(const Shape &s,
                                      const dnnl::engine &engine) {
  memory::desc a = matrixDesc(s.batch, s.strideA, s.m, s.k,
                              s.transA ? 1 : s.lda, s.transA ? s.lda : 1);
  memory::desc b = matrixDesc(s.batch, s.strideB, s.k, s.n,
                              s.transB ? 1 : s.ldb, s.transB ? s.ldb : 1);
  memory::desc c = matrixDesc(s.batch, s.strideC, s.m, s.n, s.ldc, 1);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (s.accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
  if (!s.hasBias)
    return {dnnl::matmul::desc(a, b, c), attributes, engine};
  memory::desc bias = matrixDesc(s.batch, 0, 1, s.n, s.n, 1);
  return {dnnl::matmul::desc(a, b, bias, c), attributes, engine};
}

Product makeProduct(const dnnl::matmul::primitive_desc &descriptor) {
  Product product;
  product.primitive = dnnl::matmul(descriptor);
  product.a = descriptor.src_desc();
  product.b = descriptor.weights_desc();
  product.c = descriptor.dst_desc();
  product.bias = descriptor.bias_desc();
  product.scratch = descriptor.scratchpad_desc();
  return product;
}

/// The blocks of one result, by rows or columns, whichever are more (columns
/// where B aliases).
std::vector<Product> makeBlocks(const Shape &s, const dnnl::engine &engine) {
  std::vector<Product> blocks;
  bool byRows = s.m >= s.n && !aliasesInCache(s);
  int64_t extent = byRows ? s.m : s.n;
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t begin = 0; begin < extent; begin += kBlock) {
      Shape block = s;
      block.batch = 1;
      (byRows ? block.m : block.n) = std::min(kBlock, extent - begin);
      Product product = makeProduct(describe(block, engine));
      product.offsetA =
          b * s.strideA + (byRows ? begin * (s.transA ? 1 : s.lda) : 0);
      product.offsetB =
          b * s.strideB + (byRows ? 0 : begin * (s.transB ? s.ldb : 1));
      product.offsetC = b * s.strideC + begin * (byRows ? s.ldc : 1);
      product.offsetBias = byRows ? 0 : begin;
      blocks.push_back(std::move(product));
    }
  return blocks;
}

/// The products of one range of K.
std::vector<Product> makeStage(const Shape &s, const dnnl::engine &engine,
                               bool blocked) {
  if (blocked)
    return makeBlocks(s, engine);
  std::vector<Product> whole;
  whole.push_back(makeProduct(describe(s, engine)));
  return whole;
}

bool usesBrgemm(const Shape &s, const dnnl::engine &engine) {
  return std::string(describe(s, engine).impl_info_str()).rfind("brg", 0) == 0;
}

Plan makePlan(Shape s, const dnnl::engine &engine, int threads) {
  mergeBatch(s);
  Plan plan;
  {
    ThreadCount scope(threads);
    plan.blocked = aliasesInCache(s) || !usesBrgemm(s, engine);
  }
  ThreadCount scope(plan.blocked ? 1 : threads);
  int64_t longest = s.transA && !plan.blocked ? kLongestTransposedK : kLongestK;
  for (int64_t begin = 0; begin < s.k; begin += longest) {
    Shape piece = s;
    piece.k = std::min(longest, s.k - begin);
    piece.accumulate = s.accumulate || begin > 0;
    piece.hasBias = s.hasBias && begin == 0;
    plan.stages.push_back(makeStage(piece, engine, plan.blocked));
    for (Product &product : plan.stages.back()) {
      product.offsetA += begin * (s.transA ? s.lda : 1);
      product.offsetB += begin * (s.transB ? 1 : s.ldb);
      plan.scratchBytes =
          std::max<int64_t>(plan.scratchBytes, product.scratch.get_size());
    }
  }
  return plan;
}

/// What a context keeps: oneDNN's engine, one stream per worker, the plans.
struct GemmState {
  explicit GemmState(int threads) : engine(dnnl::engine::kind::cpu, 0) {
    for (int i = 0; i < threads; ++i)
      streams.emplace_back(engine);
  }
  dnnl::engine engine;
  std::vector<dnnl::stream> streams;
  std::map<Key, Plan> plans;
};

GemmState &stateOf(WeftContext &context) {
  static const char key = 0;
  std::shared_ptr<void> &slot = context.state(&key);
  if (!slot)
    slot = std::make_shared<GemmState>(context.threads());
  return *static_cast<GemmState *>(slot.get());
}

struct Operands {
  float *a, *b, *c, *bias;
};

void execute(const Product &product, const Operands &operands, GemmState &state,
             int worker, char *scratch) {
  const dnnl::engine &engine = state.engine;
  std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, memory(product.a, engine, operands.a + product.offsetA)},
      {DNNL_ARG_WEIGHTS,
       memory(product.b, engine, operands.b + product.offsetB)},
      {DNNL_ARG_DST, memory(product.c, engine, operands.c + product.offsetC)},
      {DNNL_ARG_SCRATCHPAD, memory(product.scratch, engine, scratch)}};
  if (!product.bias.is_zero())
    arguments.emplace(
        DNNL_ARG_BIAS,
        memory(product.bias, engine, operands.bias + product.offsetBias));
  product.primitive.execute(state.streams[worker], arguments);
  state.streams[worker].wait();
}

void runPlan(WeftContext &context, GemmState &state, const Plan &plan,
             const Operands &operands) {
  if (!context.reserveScratch(plan.blocked ? context.threads() : 1,
                              std::max<int64_t>(plan.scratchBytes, 64)))
    return;
  for (const std::vector<Product> &stage : plan.stages) {
    if (!plan.blocked) {
      execute(stage[0], operands, state, 0, context.scratch(0));
      continue;
    }
    context.parallelFor(
        stage.size(), 1,
        [&](RangePart part) {
          ThreadCount scope(1);
          for (int64_t i = part.begin; i < part.end; ++i)
            execute(stage[i], operands, state, part.worker,
                    context.scratch(part.worker));
        },
        Schedule::Dynamic);
  }
}

/// A rule the ints break, or "".
std::string findWrongArgument(const Shape &s) {
  auto say = [](const char *rule, int64_t value) {
    return std::string("expects ") + rule + ", but got " +
           std::to_string(value);
  };
  if (std::min({s.batch, s.m, s.n, s.k}) < 1)
    return say("batch, M, N and K of at least 1",
               std::min({s.batch, s.m, s.n, s.k}));
  if (s.lda < (s.transA ? s.m : s.k))
    return say("lda of at least the length of a row of A", s.lda);
  if (s.ldb < (s.transB ? s.k : s.n))
    return say("ldb of at least the length of a row of B", s.ldb);
  if (s.ldc < s.n)
    return say("ldc of at least N", s.ldc);
  if (s.batch > 1 && s.strideC < (s.m - 1) * s.ldc + s.n)
    return say("a batch stride of C that keeps results apart", s.strideC);
  if (s.strideA < 0 || s.strideB < 0)
    return say("batch strides of at least 0", std::min(s.strideA, s.strideB));
  if (s.batch > 1 && s.strideA == 0 && s.strideB == 0)
    return "expects A or B to differ within a batch, but got strides 0";
  if (s.accumulate < 0 || s.accumulate > 2)
    return say("accumulate of 0, 1 or 2", s.accumulate);
  return "";
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_gemm(WeftContext *context, const WeftCommand *command,
                              void *const *buffers) {
  if (!checkCounts(*context, *command, 3, kNumInts, 0))
    return;
  Key key;
  std::copy(command->ints, command->ints + kNumInts, key.begin());
  Shape shape = toShape(key);
  std::string wrong = findWrongArgument(shape);
  if (!wrong.empty())
    return failCommand(*context, *command, kInternalError, wrong);
  int64_t needed = 3 + (shape.hasBias != 0) + (shape.accumulate == 2);
  if (!checkCounts(*context, *command, needed, 0, 0))
    return;
  shape.accumulate = addsToDestination(shape.accumulate, buffers[needed - 1]);
  key[12] = shape.accumulate;
  try {
    GemmState &state = stateOf(*context);
    auto found = state.plans.find(key);
    if (found == state.plans.end())
      found =
          state.plans
              .emplace(key, makePlan(shape, state.engine, context->threads()))
              .first;
    ThreadCount scope(context->threads());
    runPlan(*context, state, found->second,
            {as<float>(buffers[0]), as<float>(buffers[1]),
             as<float>(buffers[2]),
             shape.hasBias ? as<float>(buffers[3]) : nullptr});
  } catch (const dnnl::error &error) {
    failCommand(*context, *command, kInternalError,
                std::string("oneDNN reports ") + error.what());
  }
}

extern "C" int64_t weft_cpu_gemm_scratch_bytes(const int64_t *ints,
                                               int32_t threads) {
  Key key;
  std::copy(ints, ints + kNumInts, key.begin());
  Shape shape = toShape(key);
  if (!findWrongArgument(shape).empty() || threads < 1)
    return -1;
  shape.accumulate = shape.accumulate != 0;
  try {
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    Plan plan = makePlan(shape, engine, threads);
    return plan.scratchBytes * (plan.blocked ? threads : 1);
  } catch (const dnnl::error &) {
    return -1;
  }
}
