//===- Gemm.cpp - weft_cpu_gemm -------------------------------------------===//

#include "GemmPlan.h"

#include "weft/Base/OutOfMemory.h"

#include <cstring>
#include <new>

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

GemmState &stateOf(WeftContext &context) {
  static const char key = 0;
  std::shared_ptr<void> &slot = context.state(&key);
  if (!slot)
    slot = std::make_shared<GemmState>(context.threads());
  return *static_cast<GemmState *>(slot.get());
}

namespace {

/// Makes the copies that a stage's products read.
void copyRows(WeftContext &context, const GemmStage &stage,
              const GemmOperands &operands, float *copies) {
  constexpr int64_t grain = 16; // rows
  for (const RowCopies &rows : stage.copies) {
    const float *from =
        as<float>(rows.ofB ? operands.b : operands.a) + rows.from;
    context.parallelFor(rows.rows, grain, [&](RangePart part) {
      for (int64_t r = part.begin; r < part.end; ++r)
        std::memcpy(copies + rows.to + r * rows.paddedLd, from + r * rows.ld,
                    rows.width * sizeof(float));
    });
  }
}

/// The products of a stage, each on one thread.
void runBlocks(WeftContext &context, GemmState &state,
               const std::vector<Product> &products,
               const GemmOperands &operands, char *workers,
               int64_t workerBytes) {
  context.parallelFor(
      products.size(), 1,
      [&](RangePart part) {
        LibraryThreads scope(1);
        for (int64_t i = part.begin; i < part.end; ++i)
          execute(products[i], operands, state, part.worker,
                  workers + part.worker * workerBytes);
      },
      Schedule::Dynamic);
}

void runPlan(WeftContext &context, GemmState &state, const GemmPlan &plan,
             const GemmOperands &operands, char *workspace) {
  int64_t bytes = plan.workerBytes();
  if (plan.packed)
    return runPacked(context, state, *plan.packed, operands, workspace, bytes);
  char *copies = workspace + plan.countWorkers(context.threads()) * bytes;
  GemmOperands read = operands;
  if (plan.padded && plan.padded->copiesA)
    read.a = copies;
  if (plan.padded && plan.padded->copiesB)
    read.b = copies;
  for (const GemmStage &stage : plan.stages) {
    copyRows(context, stage, operands, as<float>(copies));
    if (plan.blocked)
      runBlocks(context, state, stage.products, read, workspace, bytes);
    else
      execute(stage.products[0], read, state, 0, workspace);
  }
}

WeftGemmRecord mergedBatch(WeftGemmRecord shape) {
  mergeBatch(shape);
  return shape;
}

/// How a product with right arguments runs in this context; made at the first
/// call, which takes some milliseconds.
const GemmPlan &planOf(WeftContext &context, GemmState &state,
                       const WeftGemmRecord &shape, int64_t workspaceBytes) {
  GemmKey key = {{}, workspaceBytes};
  std::memcpy(key.first.data(), &shape, sizeof shape);
  auto found = state.plans.find(key);
  if (found == state.plans.end())
    found =
        state.plans
            .emplace(key, makePlan(shape, state.engine,
                                   {context.threads(), context.mostThreads(),
                                    context.isa() >= CpuIsa::Avx512Bf16,
                                    workspaceBytes}))
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
  std::string wrong = findWrongProduct(shape);
  if (wrong.empty() && (shape.epilogue || shape.hasAux || shape.hasColumnSum ||
                        shape.hasSumA || shape.hasSumB))
    wrong =
        "expects a product with at most a bias on the CPU, but got epilogue " +
        std::to_string(shape.epilogue);
  if (!wrong.empty())
    return failCommand(*context, *command, internalError(wrong));
  int64_t needed =
      3 + (shape.hasBias != 0) + (shape.accumulate == WEFT_ADD_IF_FLAG);
  if (!checkBuffers(*context, *command, needed))
    return;
  shape.accumulate = addsToDestination(shape.accumulate, buffers[needed - 1]);
  if (!context->ensureTeam())
    return;
  const GemmOperands operands = {
      as<char>(buffers[0]), as<char>(buffers[1]), as<char>(buffers[2]),
      shape.hasBias ? as<char>(buffers[3]) : nullptr};
  if (WeftGemmRecord merged = mergedBatch(shape); merged.m == 1)
    return runRow(*context, merged, operands);
  std::string library = findWrongOneDnn(*dnnl_version());
  if (!library.empty())
    return failCommand(*context, *command, deviceError(library));
  try {
    GemmState &state = stateOf(*context);
    const GemmPlan &plan =
        planOf(*context, state, shape, command->workspaceBytes);
    char *workspace = workspaceOf(*context, *command, buffers,
                                  plan.countBytes(context->threads()));
    if (!workspace)
      return;
    runPlan(*context, state, plan, operands, workspace);
  } catch (const dnnl::error &error) {
    // It may not say that it is memory.
    if (error.status == dnnl_out_of_memory || isMemoryExhausted())
      throw std::bad_alloc();
    failCommand(*context, *command, "oneDNN reports ", error.what());
  }
}

/// Wrong arguments, and what oneDNN has to say, are left to the call itself.
extern "C" void weft_cpu_gemm_prepare(WeftContext *context,
                                      const WeftCommand *command) {
  const auto *record = findRecord<WEFT_GEMM>(*command);
  if (!record || !findWrongProduct(*record).empty() ||
      mergedBatch(*record).m == 1 ||
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
      planOf(*context, state, shape, command->workspaceBytes);
    }
  } catch (const dnnl::error &) {
  }
}
