//===- TuneProducts.cpp - Measures algorithms of products -----------------===//
//
// Candidates take turns, so that a clock that drifts favours none, and the
// median of each counts. Factors hold random numbers: products of zeros are
// faster than others.
//
//===----------------------------------------------------------------------===//

#include "GemmTuning.h"

#include "weft/Base/Half.h"
#include "weft/Base/OutputFile.h"
#include "weft/Runtime/Devices/Launch.h"

#include <algorithm>
#include <cstring>

using namespace weft;
using namespace weft::cuda;

namespace {
/// Measures one product.
class Tuner {
public:
  Tuner(WeftContext &context, const GemmState &state,
        const GemmProduct &product)
      : context(context), state(state), product(product) {}

  Expected<TunedProduct> tune();

private:
  Status fill(const void *data, int64_t rows, int64_t columns, int64_t ld,
              int64_t stride);
  Status fillFactors();
  Expected<double> run(const GemmPlan &plan);

  WeftContext &context;
  const GemmState &state;
  const GemmProduct &product;
};
} // namespace

/// Timed rounds over all candidates. One more round before them is not counted.
static constexpr int kRounds = 10;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Numbers of a type between -1 and 1, the same in every run.
static std::vector<char> randomNumbers(int64_t dtype, int64_t count) {
  const int64_t bytes = dtype == WEFT_F32 ? 4 : 2;
  std::vector<char> numbers(static_cast<size_t>(count * bytes));
  uint64_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const float value = static_cast<float>(state >> 40) * 0x1p-23f - 1.0f;
    const uint16_t low =
        dtype == WEFT_F16 ? floatToHalf(value) : floatToBf16(value);
    std::memcpy(numbers.data() + i * bytes,
                dtype == WEFT_F32 ? static_cast<const void *>(&value) : &low,
                static_cast<size_t>(bytes));
  }
  return numbers;
}

/// Fills everything from the first element of a factor to its last.
Status Tuner::fill(const void *data, int64_t rows, int64_t columns, int64_t ld,
                   int64_t stride) {
  const WeftGemmRecord &s = product.record;
  const int64_t elements = (s.batch - 1) * stride + (rows - 1) * ld + columns;
  const int64_t bytes = elements * (s.dtype == WEFT_F32 ? 4 : 2);
  const std::vector<char> numbers =
      randomNumbers(s.dtype, std::min<int64_t>(elements, 1 << 18));
  // Overwriting the operands is safe: no later command reads them, and the
  // arena is discarded.
  char *begin = static_cast<char *>(const_cast<void *>(data));
  const auto piece = static_cast<int64_t>(numbers.size());
  for (int64_t at = 0; at < bytes; at += piece)
    if (Status copied = copyToDevice(context, begin + at, numbers.data(),
                                     std::min(piece, bytes - at));
        !copied)
      return copied;
  return Status::success();
}

Status Tuner::fillFactors() {
  const WeftGemmRecord &s = product.record;
  const int64_t rowsA = s.transA ? s.k : s.m, rowsB = s.transB ? s.n : s.k;
  if (Status filled = fill(product.operands.a, rowsA, s.transA ? s.m : s.k,
                           s.lda, s.batchStrideA);
      !filled)
    return filled;
  return fill(product.operands.b, rowsB, s.transB ? s.k : s.n, s.ldb,
              s.batchStrideB);
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// Microseconds of one run.
Expected<double> Tuner::run(const GemmPlan &plan) {
  Status enqueued;
  auto milliseconds = timeOnDevice(context, [&] {
    enqueued = enqueue(state.blasLt(), plan, product.operands,
                       {product.mayAdd, /*shares=*/false}, product.workspace,
                       deviceStream(context));
  });
  if (!enqueued)
    return enqueued.takeError();
  if (!milliseconds)
    return milliseconds.takeError();
  return 1000.0 * *milliseconds;
}

static double medianOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const size_t middle = times.size() / 2;
  return times.size() % 2 ? times[middle]
                          : 0.5 * (times[middle - 1] + times[middle]);
}

/// The first of those with the least median.
Expected<TunedProduct> Tuner::tune() {
  if (Status filled = fillFactors(); !filled)
    return filled.takeError();
  auto plan = makePlan(state.blasLt(), product.record, product.operands,
                       product.workspaceBytes);
  if (!plan)
    return plan.takeError();
  auto algorithms = findAlgorithms(state.blasLt(), product.record, *plan,
                                   product.operands, product.workspaceBytes);
  if (!algorithms)
    return algorithms.takeError();
  std::vector<std::vector<double>> times(algorithms->size());
  for (int round = 0; round <= kRounds; ++round)
    for (size_t i = 0; i < algorithms->size(); ++i) {
      plan->algorithm = (*algorithms)[i].algorithm;
      plan->workspaceBytes = (*algorithms)[i].workspaceBytes;
      auto time = run(*plan);
      if (!time)
        return time.takeError();
      if (round > 0)
        times[i].push_back(*time);
    }
  std::vector<double> medians;
  for (const std::vector<double> &some : times)
    medians.push_back(medianOf(some));
  const auto best = std::min_element(medians.begin(), medians.end());
  return TunedProduct{
      keyOf(product.record, product.operands, product.workspaceBytes),
      (*algorithms)[static_cast<size_t>(best - medians.begin())].algorithm,
      *best, medians.front(), static_cast<int64_t>(medians.size())};
}

Expected<TunedProduct> weft::cuda::tuneProduct(WeftContext &context,
                                               const GemmState &state,
                                               const GemmProduct &product) {
  return Tuner(context, state, product).tune();
}

Expected<int64_t> weft::cuda::tuneProducts(WeftContext &context,
                                           const GemmState &state,
                                           const std::string &path) {
  std::vector<TunedProduct> tuned;
  for (const GemmProduct &product : state.products()) {
    auto one = tuneProduct(context, state, product);
    if (!one)
      return one.takeError();
    tuned.push_back(std::move(*one));
  }
  if (Status s = writeFile(path, tuningText(state.machine, tuned)); !s)
    return s.takeError();
  return static_cast<int64_t>(tuned.size());
}

//===- The state of products, kept from call to call ----------------------===//

GemmState &GemmState::of(WeftContext &context) {
  static const char key = 0;
  std::shared_ptr<void> &slot = context.state(&key);
  if (!slot)
    slot = std::make_shared<GemmState>();
  return *static_cast<GemmState *>(slot.get());
}

Status GemmState::open() {
  if (library)
    return Status::success();
  Expected<std::unique_ptr<BlasLt>> opened = BlasLt::open();
  if (!opened)
    return opened.takeError();
  library = std::move(*opened);
  return Status::success();
}

void GemmState::leaveTo(int64_t ctas, int64_t multiprocessors) {
  // On a part of a device it would slow products more than collectives.
  if (ctas > 0 && 2 * ctas <= multiprocessors)
    library->sharedProcessors = static_cast<int32_t>(multiprocessors - ctas);
}

Status GemmState::takeTuning(const std::string &path,
                             const GemmMachine &machine) {
  return assign(GemmTuning::read(path, machine), tuning);
}

Status GemmState::planAgain(Expected<GemmTuning> algorithms) {
  if (Status s = assign(std::move(algorithms), tuning); !s)
    return s;
  plans.clear();
  for (const GemmProduct &product : std::exchange(planned, {}))
    if (auto again = plan(product); !again)
      return again.takeError();
  return Status::success();
}

Expected<const GemmPlan *> GemmState::plan(const GemmProduct &product) {
  GemmKey key = keyOf(product.record, product.operands, product.workspaceBytes);
  auto found = plans.find(key);
  if (found != plans.end())
    return &found->second;
  const cublasLtMatmulAlgo_t *tuned = nullptr;
  if (tuning)
    if (Status s = assign(tuning->find(key, product.record), tuned); !s)
      return s.takeError();
  auto made = makePlan(*library, product.record, product.operands,
                       product.workspaceBytes, tuned);
  if (!made)
    return tuned && made.error().code() == ExitCode::Input
               ? tuning->place(made.takeError(), key)
               : made.takeError();
  planned.push_back(product);
  return &plans.emplace(key, std::move(*made)).first->second;
}
