//===- CublasLtGemm.cpp - weft_cuda_gemm ----------------------------------===//

#include "GemmTuning.h"

#include "Arguments.h"
#include "weft/Abi/CudaProducts.h"
#include "weft/Runtime/Devices/Launch.h"
#include "weft/Runtime/Execute/CudaProductRun.h"

using namespace weft;
using namespace weft::cuda;

namespace {

/// Alignment of workspaces for cuBLASLt, in bytes.
constexpr int64_t kLtAlignment = 256;

/// The part of a command's workspace that is aligned.
struct GemmWorkspace {
  char *data = nullptr;
  int64_t bytes = 0;

  GemmWorkspace(const WeftCommand &command, void *const *buffers) {
    if (command.workspaceBytes == 0)
      return;
    char *begin = as<char>(buffers[command.numBuffers - 1]);
    const auto place = reinterpret_cast<intptr_t>(begin);
    take(begin, command.workspaceBytes, -place & (kLtAlignment - 1));
  }
  /// Leaves out bytes at the front.
  void take(char *begin, int64_t all, int64_t front) {
    data = begin + std::min(front, all);
    bytes = std::max<int64_t>(all - front, 0);
  }
};

/// One command on its way to cuBLASLt.
class Gemm {
public:
  Gemm(WeftContext &context, const WeftCommand &command, void *const *buffers)
      : context(context), command(command), buffers(buffers),
        workspace(command, buffers) {}

  /// Reads record and buffers; false, with an error, where they are wrong.
  bool read();
  void prepare();
  void run();

private:
  bool readFlag(const void *flag);
  /// findWrongEpilogue() allows one sum of a factor.
  bool addsFactor() const { return s.hasSumA || s.hasSumB; }
  const GemmPlan *plan(GemmState &state);
  void multiply();
  void finishEmpty();
  void clear();
  void multiplyZeros();
  GemmState *state();
  bool succeeds(Status status) {
    if (!status)
      failCommand(context, command, status.error());
    return status.ok();
  }

  WeftContext &context;
  const WeftCommand &command;
  void *const *buffers;
  GemmWorkspace workspace;
  WeftGemmRecord s = {};
  GemmOperands operands = {};
  const void *flag = nullptr;
  bool adds = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Record and buffers of the command
//===----------------------------------------------------------------------===//

bool Gemm::read() {
  const auto *record = recordOf<WEFT_GEMM>(context, command);
  if (!record)
    return false;
  s = *record;
  if (std::string wrong = findWrongCudaProduct(s); !wrong.empty())
    return failCommand(context, command, wrong);
  const bool hasFlag = s.accumulate == WEFT_ADD_IF_FLAG;
  if (!checkBuffers(context, command,
                    3 + (s.hasBias != 0) + (s.hasAux != 0) +
                        (s.hasColumnSum != 0) + addsFactor() + hasFlag))
    return false;
  void *const *next = buffers + 3;
  operands = {};
  operands.a = buffers[0];
  operands.b = buffers[1];
  operands.c = buffers[2];
  operands.bias = s.hasBias ? *next++ : nullptr;
  operands.aux = s.hasAux ? *next++ : nullptr;
  operands.columnSum = s.hasColumnSum ? *next++ : nullptr;
  operands.factorSum = addsFactor() ? *next++ : nullptr;
  flag = hasFlag ? *next : nullptr;
  adds = s.accumulate == WEFT_ADD;
  mergeBatch(s);
  return true;
}

/// Whether the product adds is a constant of the call, so the host has to know
/// the flag.
bool Gemm::readFlag(const void *flag) {
  std::optional<float> value = deviceFlag(context, flag);
  if (!value)
    return failCommand(context, command,
                       "expects the flag of accumulate to be an input of the "
                       "program, but got one that the host does not know");
  adds = *value != 0.0f;
  return true;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

GemmState *Gemm::state() {
  GemmState &state = GemmState::of(context);
  return succeeds(state.open()) ? &state : nullptr;
}

const GemmPlan *Gemm::plan(GemmState &state) {
  GemmProduct product = {s, operands, workspace.data, workspace.bytes,
                         s.accumulate != WEFT_OVERWRITE};
  const GemmPlan *planned = nullptr;
  succeeds(assign(state.plan(product), planned));
  return planned;
}

void Gemm::multiply() {
  GemmState *kept = state();
  const GemmPlan *planned = kept ? plan(*kept) : nullptr;
  if (planned)
    succeeds(enqueue(kept->blasLt(), *planned, operands,
                     {adds, s.besideCollectives != 0}, workspace.data,
                     deviceStream(context)));
}

void Gemm::prepare() {
  GemmState *kept = isEmptyProduct(s) ? nullptr : state();
  if (kept)
    plan(*kept);
}

void Gemm::run() {
  if (flag && !readFlag(flag))
    return;
  isEmptyProduct(s) ? finishEmpty() : multiply();
}

//===----------------------------------------------------------------------===//
// Nothing to multiply
//===----------------------------------------------------------------------===//

/// Sets C to zero.
void Gemm::clear() {
  const int64_t bytes = s.dtypeC == WEFT_F32 ? 4 : 2;
  const bool isDense =
      s.ldc == s.n && (s.batch == 1 || s.batchStrideC == s.m * s.n);
  const int64_t rows = isDense ? 1 : s.batch * s.m;
  const int64_t width = isDense ? s.batch * s.m * s.n : s.n;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t at = row / s.m * s.batchStrideC + row % s.m * s.ldc;
    fillOnDevice(context, command, as<char>(operands.c) + at * bytes, 0,
                 width * bytes);
  }
}

/// K = 0 with something around the product: a product of zeros in the
/// workspace, of K = 1.
void Gemm::multiplyZeros() {
  const int64_t bytes = s.dtype == WEFT_F32 ? 4 : 2;
  const int64_t zeros = roundUp(std::max(s.m, s.n) * bytes, kLtAlignment);
  if (zeros > workspace.bytes)
    return failCommand(context, command,
                       memoryError("expects a workspace of at least ", zeros,
                                   " bytes, but got ", workspace.bytes));
  fillOnDevice(context, command, workspace.data, 0, zeros);
  operands.a = operands.b = workspace.data;
  workspace.take(workspace.data, workspace.bytes, zeros);
  s.k = 1;
  s.transA = 1, s.lda = s.m;
  s.transB = 0, s.ldb = s.n;
  s.batchStrideA = s.batchStrideB = 0;
  multiply();
}

void Gemm::finishEmpty() {
  const bool hasResult = s.batch > 0 && s.m > 0 && s.n > 0;
  if (!hasResult) {
    if (s.hasColumnSum)
      fillOnDevice(context, command, operands.columnSum, 0, s.n * 4);
    return;
  }
  if (s.hasBias || s.epilogue != WEFT_EPILOGUE_NONE || addsFactor())
    return multiplyZeros();
  if (!adds)
    clear();
}

//===----------------------------------------------------------------------===//
// Start of a run
//===----------------------------------------------------------------------===//

Expected<CudaProductFacts> weft::openCudaProducts(WeftContext &context,
                                                  const CudaProductRun &run) {
  GemmState &state = GemmState::of(context);
  if (Status s = state.open(); !s)
    return s.takeError();
  state.allowTf32(run.tf32);
  state.leaveTo(run.collectiveCtas, run.multiprocessors);
  state.machine = {run.device, run.multiprocessors, state.blasLt().version(),
                   run.tf32};
  CudaProductFacts facts = {state.machine.library, ""};
  if (run.tuning.empty())
    return facts;
  if (Status s = state.takeTuning(run.tuning, state.machine); !s)
    return s.takeError();
  facts.tuning = state.tuning->digest();
  return facts;
}

Status weft::checkCudaTuning(const CudaProductRun &run) {
  GemmMachine machine;
  machine.tf32 = run.tf32;
  if (auto tuning = GemmTuning::read(run.tuning, machine); !tuning)
    return tuning.takeError();
  return Status::success();
}

Status weft::checkCudaProducts(WeftContext &context) {
  const GemmState &state = GemmState::of(context);
  return state.tuning ? state.tuning->checkAllFound() : Status::success();
}

std::string weft::describeTuning(WeftContext &context) {
  const GemmMachine &machine = GemmState::of(context).machine;
  return concat(machine.device, " with ", machine.multiprocessors,
                " multiprocessors and cuBLASLt ", machine.library);
}

Expected<std::string> weft::findCachedTuning(WeftContext &context,
                                             const std::string &cache) {
  return findCached(context, GemmState::of(context), cache);
}

Expected<std::string> weft::takeFoundTuning(WeftContext &context,
                                            const std::string &text) {
  GemmState &state = GemmState::of(context);
  if (Status s = state.planAgain(
          GemmTuning::parse(text, "the algorithms of rank 0", state.machine));
      !s)
    return s.takeError();
  if (Status s = state.tuning->checkAllFound(); !s)
    return s.takeError();
  return state.tuning->digest();
}

Expected<int64_t> weft::tuneCudaProducts(WeftContext &context,
                                         const std::string &path) {
  return tuneProducts(context, GemmState::of(context), path);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

extern "C" void weft_cuda_gemm(WeftContext *context, const WeftCommand *command,
                               void *const *buffers) {
  Gemm gemm(*context, *command, buffers);
  if (gemm.read())
    gemm.run();
}

extern "C" void weft_cuda_gemm_prepare(WeftContext *context,
                                       const WeftCommand *command,
                                       void *const *buffers) {
  Gemm gemm(*context, *command, buffers);
  if (gemm.read())
    gemm.prepare();
}
