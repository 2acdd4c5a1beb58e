//===- AttentionCudnn.cpp - Attention that cuDNN computes -----------------===//
//
// weft_cuda_attention_cudnn and weft_cuda_attention_grad_cudnn: the records and
// buffers of AttentionLaunch.cpp. Plans are made when the program starts; a run
// only gives one to the stream. The gradients have a second routine, which adds
// up in any order.
//
//===----------------------------------------------------------------------===//

#include "AttentionGraphs.h"

#include "Arguments.h"
#include "weft/Abi/CudaRoutineAbi.h"
#include "weft/Abi/CudnnAttention.h"
#include "weft/Runtime/Devices/Launch.h"
#include "weft/Runtime/Execute/CudaAttentionRun.h"

#include <cstring>
#include <limits>
#include <map>
#include <tuple>

using namespace weft;
using namespace weft::cuda;

namespace {

/// The fields of a record, the bytes of its workspace, and its order of sums.
using AttentionKey = std::tuple<std::vector<int64_t>, int64_t, CudnnOrder>;

/// State of attention in a context, kept across calls. The library is declared
/// first so that it closes last.
struct AttentionState {
  std::unique_ptr<Cudnn> library;
  std::map<AttentionKey, CudnnPlan> plans;
};

/// The state of a context; null if it has none.
AttentionState *findState(WeftContext &context) {
  return static_cast<AttentionState *>(context.state(&Cudnn::kOldest).get());
}

/// The part of a command's workspace that is aligned.
struct AttentionWorkspace {
  char *data = nullptr;
  int64_t bytes = 0;

  AttentionWorkspace(const WeftCommand &command, void *const *buffers) {
    if (command.workspaceBytes == 0)
      return;
    char *begin = as<char>(buffers[command.numBuffers - 1]);
    take(begin, command.workspaceBytes,
         -reinterpret_cast<intptr_t>(begin) & (kCudnnAlignment - 1));
  }
  /// Leaves out bytes at the front.
  void take(char *begin, int64_t all, int64_t front) {
    data = begin + std::min(front, all);
    bytes = std::max<int64_t>(all - front, 0);
  }
};

/// One command on its way to cuDNN. A forward command has a fixed order.
template <WeftCommandKind Kind> class CudnnAttention {
public:
  CudnnAttention(WeftContext &context, const WeftCommand &command,
                 void *const *buffers, CudnnOrder order)
      : context(context), command(command), buffers(buffers),
        workspace(command, buffers), order(order) {}

  /// Reads record and buffers; false, with an error, where they are wrong.
  bool read();
  /// The plan, which is made unless there is one; null, with an error, where
  /// that fails.
  const CudnnPlan *prepare();
  void run();

private:
  static constexpr bool kIsGradient = Kind == WEFT_ATTENTION_GRAD;

  std::string findWrong(int64_t chip) const;
  bool checkAddresses();
  AttentionState *state();
  Expected<CudnnPlan> makePlan(const Cudnn &library);
  CudnnArguments arguments();
  bool takeSums();
  bool succeeds(Status status) {
    if (!status)
      failCommand(context, command, status.error());
    return status.ok();
  }

  WeftContext &context;
  const WeftCommand &command;
  void *const *buffers;
  AttentionWorkspace workspace;
  CudnnOrder order;
  const RecordOf<Kind> *record = nullptr;
  const WeftAttentionRecord *s = nullptr; // of the forward command
  void *rowSums = nullptr;
  void *querySums = nullptr; // without a fixed order
  float numbers[3] = {};     // kScale, kMasked, kOne
};

//===----------------------------------------------------------------------===//
// Record and buffers of the command
//===----------------------------------------------------------------------===//

template <WeftCommandKind Kind>
std::string CudnnAttention<Kind>::findWrong(int64_t chip) const {
  const auto &variant = variantOf(*record, command.recordBytes);
  if constexpr (kIsGradient)
    return findWrongCudnnGradient(*record, chip, variant);
  else
    return findWrongCudnnForward(*record, chip, variant);
}

/// Only what lies in memory, in the order of the buffers.
template <WeftCommandKind Kind> bool CudnnAttention<Kind>::checkAddresses() {
  for (int i = 0; i < (kIsGradient ? 9 : 5); ++i) {
    const auto place = reinterpret_cast<uintptr_t>(buffers[i]);
    if (place % (2 * kCudnnElements) != 0)
      return failCommand(context, command,
                         "expects buffers at multiples of 16 bytes, but got ",
                         place % 16, " more of buffer ", i);
  }
  return true;
}

/// Places the sums of our graph at the front of the workspace. The engine gets
/// the remainder.
template <WeftCommandKind Kind> bool CudnnAttention<Kind>::takeSums() {
  const int64_t rowBytes = cudnnRowSumBytes(*s),
                queryBytes = cudnnQuerySumBytes(*s, order);
  if (rowBytes + queryBytes > workspace.bytes)
    return failCommand(context, command, "expects a workspace of at least ",
                       rowBytes + queryBytes, " bytes, but got ",
                       workspace.bytes);
  rowSums = workspace.data;
  querySums = workspace.data + rowBytes;
  workspace.take(workspace.data, workspace.bytes, rowBytes + queryBytes);
  return true;
}

template <WeftCommandKind Kind> bool CudnnAttention<Kind>::read() {
  record = recordOf<Kind>(context, command);
  if (!record || !checkBuffers(context, command, kIsGradient ? 9 : 5))
    return false;
  s = reinterpret_cast<const WeftAttentionRecord *>(record);
  std::string wrong = findWrong(deviceNumber(context));
  if (!wrong.empty())
    return failCommand(context, command, wrong);
  numbers[0] = static_cast<float>(s->scale);
  numbers[1] = -std::numeric_limits<float>::infinity();
  numbers[2] = 1.0f;
  if (kIsGradient && !takeSums())
    return false;
  return checkAddresses();
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// The attention state of the context, with the library open; null after a
/// failure.
template <WeftCommandKind Kind> AttentionState *CudnnAttention<Kind>::state() {
  return succeeds(openCudnn(context)) ? findState(context) : nullptr;
}

template <WeftCommandKind Kind>
Expected<CudnnPlan> CudnnAttention<Kind>::makePlan(const Cudnn &library) {
  if constexpr (kIsGradient)
    return planBackward(library, *record, workspace.bytes,
                        deviceNumber(context), order);
  else
    return planForward(library, *record, workspace.bytes);
}

template <WeftCommandKind Kind>
const CudnnPlan *CudnnAttention<Kind>::prepare() {
  AttentionState *kept = state();
  if (!kept)
    return nullptr;
  AttentionKey key = {{}, workspace.bytes, order};
  std::vector<int64_t> &fields = std::get<0>(key);
  fields.resize(sizeof *record / sizeof(int64_t));
  std::memcpy(fields.data(), record, sizeof *record);
  auto found = kept->plans.find(key);
  if (found != kept->plans.end())
    return &found->second;
  Expected<CudnnPlan> made = makePlan(*kept->library);
  if (made)
    return &kept->plans.emplace(key, std::move(*made)).first->second;
  succeeds(made.takeError());
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

template <WeftCommandKind Kind>
CudnnArguments CudnnAttention<Kind>::arguments() {
  CudnnArguments a;
  auto add = [&](int64_t id, void *address) {
    a.ids.push_back(id);
    a.addresses.push_back(address);
  };
  int next = 0;
  auto addBuffers = [&](std::initializer_list<AttentionTensor> ids) {
    for (int64_t id : ids)
      add(id, buffers[next++]);
  };
  if (kIsGradient) {
    addBuffers({kGradOut, kQuery, kKey, kValue, kOut, kStatistics, kGradQuery,
                kGradKey, kGradValue});
    add(kRowSums, rowSums);
    if (order == CudnnOrder::Any)
      add(kQuerySums, querySums);
    add(kOne, &numbers[2]);
  } else {
    addBuffers({kQuery, kKey, kValue, kOut, kStatistics});
  }
  add(kScale, &numbers[0]);
  if (s->causal)
    add(kMasked, &numbers[1]);
  return a;
}

template <WeftCommandKind Kind> void CudnnAttention<Kind>::run() {
  const CudnnPlan *plan = prepare();
  if (!plan)
    return;
  CudnnArguments all = arguments();
  all.workspace = plan->workspaceBytes ? workspace.data : nullptr;
  all.stream = deviceStream(context);
  succeeds(enqueue(*state()->library, *plan, all));
}

template <WeftCommandKind Kind>
void runCommand(WeftContext &context, const WeftCommand &command,
                void *const *buffers, CudnnOrder order = CudnnOrder::Fixed) {
  CudnnAttention<Kind> attention(context, command, buffers, order);
  if (attention.read())
    attention.run();
}

template <WeftCommandKind Kind>
void prepareCommand(WeftContext &context, const WeftCommand &command,
                    void *const *buffers,
                    CudnnOrder order = CudnnOrder::Fixed) {
  CudnnAttention<Kind> attention(context, command, buffers, order);
  if (attention.read())
    attention.prepare();
}

} // namespace

Status weft::cuda::openCudnn(WeftContext &context) {
  std::shared_ptr<void> &slot = context.state(&Cudnn::kOldest);
  if (!slot)
    slot = std::make_shared<AttentionState>();
  AttentionState &state = *findState(context);
  return state.library ? Status::success()
                       : assign(Cudnn::open(), state.library);
}

void weft::cuda::closeCudnn(WeftContext &context) {
  context.state(&Cudnn::kOldest).reset();
}

std::string weft::cudnnVersion(WeftContext &context) {
  const AttentionState *kept = findState(context);
  return kept && kept->library ? kept->library->versionName() : "";
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

extern "C" void weft_cuda_attention_cudnn(WeftContext *context,
                                          const WeftCommand *command,
                                          void *const *buffers) {
  runCommand<WEFT_ATTENTION>(*context, *command, buffers);
}

extern "C" void weft_cuda_attention_grad_cudnn(WeftContext *context,
                                               const WeftCommand *command,
                                               void *const *buffers) {
  runCommand<WEFT_ATTENTION_GRAD>(*context, *command, buffers);
}

extern "C" void weft_cuda_attention_cudnn_prepare(WeftContext *context,
                                                  const WeftCommand *command,
                                                  void *const *buffers) {
  command->kind == WEFT_ATTENTION
      ? prepareCommand<WEFT_ATTENTION>(*context, *command, buffers)
      : prepareCommand<WEFT_ATTENTION_GRAD>(*context, *command, buffers);
}

extern "C" void weft_cuda_attention_grad_cudnn_nondeterministic(
    WeftContext *context, const WeftCommand *command, void *const *buffers) {
  runCommand<WEFT_ATTENTION_GRAD>(*context, *command, buffers, CudnnOrder::Any);
}

extern "C" void weft_cuda_attention_grad_cudnn_nondeterministic_prepare(
    WeftContext *context, const WeftCommand *command, void *const *buffers) {
  prepareCommand<WEFT_ATTENTION_GRAD>(*context, *command, buffers,
                                      CudnnOrder::Any);
}
