//===- Gemm.cpp - weft_cpu_gemm -------------------------------------------===//

#include "GemmPlan.h"

#include <algorithm>
#include <cstring>

using dnnl::memory;

namespace weft {

GemmState::GemmState(int threads) : engine(dnnl::engine::kind::cpu, 0) {
  for (int i = 0; i < threads; ++i)
    streams.emplace_back(engine);
}

void execute(const Product &product, const GemmOperands &operands,
             GemmState &state, int worker, char *scratch) {
  const dnnl::engine &engine = state.engine;
  auto at = [&](const memory::desc &desc, char *base, int64_t offset) {
    int64_t bytes = desc.data_type() == memory::data_type::f32 ? 4 : 2;
    return memory(desc, engine, base + offset * bytes);
  };
  std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, at(product.a, operands.a, product.offsetA)},
      {DNNL_ARG_WEIGHTS, at(product.b, operands.b, product.offsetB)},
      {DNNL_ARG_DST, at(product.c, operands.c, product.offsetC)},
      {DNNL_ARG_SCRATCHPAD, memory(product.scratch, engine, scratch)}};
  if (!product.bias.is_zero())
    arguments.emplace(DNNL_ARG_BIAS,
                      at(product.bias, operands.bias, product.offsetBias));
  product.primitive.execute(state.streams[worker], arguments);
  state.streams[worker].wait();
}

namespace {

GemmState &stateOf(WeftContext &context) {
  static const char key = 0;
  std::shared_ptr<void> &slot = context.state(&key);
  if (!slot)
    slot = std::make_shared<GemmState>(context.threads());
  return *static_cast<GemmState *>(slot.get());
}

void runPlan(WeftContext &context, GemmState &state, const GemmPlan &plan,
             const GemmOperands &operands) {
  if (!context.reserveScratch(plan.countWorkers(context.threads()),
                              plan.workerBytes()))
    return;
  if (plan.isWidened)
    return runWidened(context, state, plan.widened, operands);
  for (const std::vector<Product> &stage : plan.stages) {
    if (!plan.blocked) {
      execute(stage[0], operands, state, 0, context.scratch(0));
      continue;
    }
    context.parallelFor(
        stage.size(), 1,
        [&](RangePart part) {
          LibraryThreads scope(1);
          for (int64_t i = part.begin; i < part.end; ++i)
            execute(stage[i], operands, state, part.worker,
                    context.scratch(part.worker));
        },
        Schedule::Dynamic);
  }
}

std::string say(const char *rule, int64_t value) {
  return std::string("expects ") + rule + ", but got " + std::to_string(value);
}

std::string findWrongType(const WeftGemmRecord &s) {
  if (!isFloatType(s.dtype))
    return say("A and B of dtype f32 (0), f16 (2) or bf16 (3)", s.dtype);
  if (s.dtypeC != WEFT_F32 && s.dtypeC != s.dtype)
    return say("C of dtype f32 (0) or that of A", s.dtypeC);
  return "";
}

/// Far above what a machine holds, and below where oneDNN's own arithmetic
/// overflows.
constexpr int64_t kMostElements = int64_t(1) << 34;
constexpr int64_t kMostStride = int64_t(1) << 32;

bool isTooLarge(const WeftGemmRecord &s) {
  if (std::max({s.batch, s.m, s.n, s.k}) > kMostRows)
    return true;
  return std::max({s.m * s.k, s.k * s.n, s.m * s.n}) > kMostElements;
}

/// A rule the record breaks, or "".
std::string findWrongArgument(const WeftGemmRecord &s) {
  if (std::min({s.batch, s.m, s.n, s.k}) < 1)
    return say("batch, M, N and K of at least 1",
               std::min({s.batch, s.m, s.n, s.k}));
  if (isTooLarge(s))
    return say("batch, M, N and K of at most 2^30 and matrices of at most 2^34 "
               "elements",
               std::max({s.batch, s.m, s.n, s.k}));
  if (int64_t most = std::max({s.lda, s.ldb, s.ldc}); most > kMostStride)
    return say("rows at most 2^32 elements apart", most);
  if (s.lda < (s.transA ? s.m : s.k))
    return say("lda of at least the length of a row of A", s.lda);
  if (s.ldb < (s.transB ? s.k : s.n))
    return say("ldb of at least the length of a row of B", s.ldb);
  if (s.ldc < s.n)
    return say("ldc of at least N", s.ldc);
  if (s.batch > 1 && s.batchStrideC < (s.m - 1) * s.ldc + s.n)
    return say("a batch stride of C that keeps results apart", s.batchStrideC);
  if (s.batchStrideA < 0 || s.batchStrideB < 0)
    return say("batch strides of at least 0",
               std::min(s.batchStrideA, s.batchStrideB));
  if (s.batch > 1 && s.batchStrideA == 0 && s.batchStrideB == 0)
    return "expects A or B to differ within a batch, but got strides 0";
  if (s.accumulate < 0 || s.accumulate > 2)
    return say("accumulate of 0, 1 or 2", s.accumulate);
  return findWrongType(s);
}

/// Whether the processor multiplies bf16 faster than f32. Intel's dot products
/// of bf16 (VDPBF16PS) do half as many products a cycle as its f32
/// instructions; its tiles (AMX) do 16 times as many.
bool hasFastBf16() {
  return !__builtin_cpu_is("intel") ||
         dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_amx;
}

bool mayUseBf16(const WeftContext &context) {
  return context.isa() == CpuIsa::Avx512 &&
         (context.allowsSlowBf16() || hasFastBf16());
}

/// How a product with right arguments runs in this context; made at the first
/// call, which takes some milliseconds.
const GemmPlan &planOf(WeftContext &context, GemmState &state,
                       const WeftGemmRecord &shape) {
  GemmKey key;
  std::memcpy(key.data(), &shape, sizeof shape);
  auto found = state.plans.find(key);
  if (found == state.plans.end())
    found = state.plans
                .emplace(key, makePlan(shape, state.engine, context.threads(),
                                       mayUseBf16(context)))
                .first;
  return found->second;
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_gemm(WeftContext *context, const WeftCommand *command,
                              void *const *buffers) {
  const auto *record = recordOf<WEFT_GEMM>(*context, *command);
  if (!record || !checkBuffers(*context, *command, 3))
    return;
  WeftGemmRecord shape = *record;
  std::string wrong = findWrongArgument(shape);
  if (!wrong.empty())
    return failCommand(*context, *command, kInternalError, wrong);
  int64_t needed =
      3 + (shape.hasBias != 0) + (shape.accumulate == WEFT_ADD_IF_FLAG);
  if (!checkBuffers(*context, *command, needed))
    return;
  shape.accumulate = addsToDestination(shape.accumulate, buffers[needed - 1]);
  std::string library = findWrongOneDnn(*dnnl_version());
  if (!library.empty())
    return failCommand(*context, *command, kDeviceError, library);
  if (!context->ensureTeam())
    return;
  try {
    GemmState &state = stateOf(*context);
    runPlan(*context, state, planOf(*context, state, shape),
            {as<char>(buffers[0]), as<char>(buffers[1]), as<char>(buffers[2]),
             shape.hasBias ? as<char>(buffers[3]) : nullptr});
  } catch (const dnnl::error &error) {
    failCommand(*context, *command, kInternalError,
                std::string("oneDNN reports ") + error.what());
  }
}

/// Wrong arguments, and what oneDNN has to say, are left to the call itself.
extern "C" void weft_cpu_gemm_prepare(WeftContext *context,
                                      const WeftCommand *command) {
  const auto *record = findRecord<WEFT_GEMM>(*command);
  if (!record || !findWrongArgument(*record).empty() ||
      !findWrongOneDnn(*dnnl_version()).empty() || !context->ensureTeam())
    return;
  WeftGemmRecord shape = *record;
  const int64_t accumulate = shape.accumulate;
  try {
    GemmState &state = stateOf(*context);
    for (int64_t adds : {0, 1}) {
      if (accumulate != adds && accumulate != WEFT_ADD_IF_FLAG)
        continue;
      shape.accumulate = adds;
      const GemmPlan &plan = planOf(*context, state, shape);
      context->reserveScratch(plan.countWorkers(context->threads()),
                              plan.workerBytes());
    }
  } catch (const dnnl::error &) {
  }
}

/// The program may run on another machine than this: for bf16, the larger of
/// what it takes with and without the instructions for it.
extern "C" bool weft_cpu_gemm_scratch_bytes(const WeftGemmRecord *record,
                                            int64_t *bytes, int32_t threads) {
  WeftGemmRecord shape = *record;
  if (!findWrongArgument(shape).empty() || threads < 1)
    return false;
  shape.accumulate = shape.accumulate != 0;
  try {
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    for (bool mayUseBf16 : {true, false}) {
      if (!mayUseBf16 && shape.dtype != WEFT_BF16)
        continue;
      GemmPlan plan = makePlan(shape, engine, threads, mayUseBf16);
      raiseScratch(bytes, plan.countWorkers(threads), plan.workerBytes());
    }
    return true;
  } catch (const dnnl::error &) {
    return false;
  }
}
