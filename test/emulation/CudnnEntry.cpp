//===- CudnnEntry.cpp - cuDNN of the emulated device ----------------------===//
//
// A libcudnn.so.9 with the entry points that attention uses, which computes on
// this machine. It takes graphs of attention alone, in the form that the real
// one knows, and refuses more than the real one: calls that weft does not need
// are errors, not approximations.
//
// WEFT_EMULATION_FAIL=ENTRY:N:STATUS, with commas between several, lets the Nth
// call of an entry point fail; WEFT_EMULATION_CUDNN_WORKSPACE=BYTES is what
// engines take, WEFT_EMULATION_CUDNN=NUMBER the version. Every graph that is
// finished is written to the end of the file WEFT_EMULATION_CUDNN_LOG.
//
//===----------------------------------------------------------------------===//

#include "CudnnObjects.h"
#include "Settings.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

using namespace weft::emulation;

#define WEFT_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

std::recursive_mutex lock;
thread_local std::string lastError;

/// The status that this call has to give, if it has to fail.
std::optional<int> injectedFault(const char *entry) {
  auto findStatus = [](const std::string &name) -> std::optional<int> {
    for (int status = 1; status <= 9999; ++status)
      if (name == cudnnGetErrorString(static_cast<cudnnStatus_t>(status)))
        return status;
    return std::nullopt;
  };
  static const Entries entries = {
      "cudnn", reinterpret_cast<const void *>(&cudnnGetErrorString),
      findStatus};
  return faultOf(entries, entry);
}

#define WEFT_BEGIN_CALL(name)                                                  \
  std::lock_guard<std::recursive_mutex> guard(lock);                           \
  lastError.clear();                                                           \
  if (std::optional<int> fault = injectedFault(#name))                         \
  return static_cast<cudnnStatus_t>(*fault)

cudnnStatus_t say(const Problem &problem) {
  lastError = problem.text;
  return problem.status;
}
cudnnStatus_t refuse(const std::string &text) {
  return say(Problem::bad(text));
}

/// Everything that is not destroyed, by its address.
std::map<const void *, DescriptorRef> &descriptors() {
  static auto *all = new std::map<const void *, DescriptorRef>;
  return *all;
}

DescriptorRef find(const void *descriptor) {
  auto found = descriptors().find(descriptor);
  return found == descriptors().end() ? nullptr : found->second;
}

/// The state of a handle: its stream.
struct Handle {
  cudaStream_t stream = nullptr;
};

std::set<Handle *> &handles() {
  static auto *all = new std::set<Handle *>;
  return *all;
}
Handle *find(cudnnHandle_t handle) {
  auto *known = reinterpret_cast<Handle *>(handle);
  return handles().count(known) ? known : nullptr;
}

int64_t bytesOf(int type) {
  switch (type) {
  case CUDNN_TYPE_BOOLEAN:
  case CUDNN_TYPE_CHAR:
    return 1;
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  }
  return 4;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

cudnnStatus_t getResults(const Descriptor &heuristic, int64_t most,
                         int64_t *count, void *values) {
  const DescriptorRef graph =
      heuristic.part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  const std::vector<int64_t> engines = enginesFor(*graph);
  if (!count)
    return refuse("nowhere to say how many engines there are");
  if (!values || most == 0) {
    // As the real one, which says more here than it gives below.
    *count = static_cast<int64_t>(engines.size()) + 1;
    return CUDNN_STATUS_SUCCESS;
  }
  *count = std::min<int64_t>(most, static_cast<int64_t>(engines.size()));
  for (int64_t i = 0; i < *count; ++i) {
    DescriptorRef to = find(static_cast<void **>(values)[i]);
    if (!to || to->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR || to->isFinal)
      return refuse("no new configuration to fill");
    fillConfiguration(*to, graph, engines[i]);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t getEngine(const Descriptor &configuration, int64_t *count,
                        void *values) {
  DescriptorRef to = values ? find(*static_cast<void **>(values)) : nullptr;
  if (!to || to->type != CUDNN_BACKEND_ENGINE_DESCRIPTOR || to->isFinal)
    return refuse("no new engine to fill");
  *to = *configuration.part(CUDNN_ATTR_ENGINECFG_ENGINE);
  if (count)
    *count = 1;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t getNotes(const Descriptor &engine, int64_t most, int64_t *count,
                       void *values) {
  std::vector<cudnnBackendNumericalNote_t> notes = {
      CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
  if (engine.get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX) == kUnordered)
    notes.push_back(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  if (!count || !values || most < static_cast<int64_t>(notes.size()))
    return refuse("no room for notes");
  std::copy(notes.begin(), notes.end(),
            static_cast<cudnnBackendNumericalNote_t *>(values));
  *count = static_cast<int64_t>(notes.size());
  return CUDNN_STATUS_SUCCESS;
}

void logGraph(const Descriptor &graph) {
  const char *path = std::getenv("WEFT_EMULATION_CUDNN_LOG");
  if (!path)
    return;
  AttentionForm f;
  readAttention(graph, f);
  std::ofstream(path, std::ios::app)
      << (f.isGradient ? "gradient" : "attention")
      << (f.isCausal ? " causal " : " ") << f.batch << "x" << f.heads << "/"
      << f.keyHeads << "x" << f.queries << "x" << f.keys << "x" << f.size
      << "\n"
      << describeGraph(graph);
}

} // namespace

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// Handles and descriptors that are not destroyed.
WEFT_EXPORT int64_t weft_emulation_cudnn_objects(void) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return static_cast<int64_t>(descriptors().size() + handles().size());
}

WEFT_EXPORT size_t cudnnGetVersion(void) {
  const char *text = std::getenv("WEFT_EMULATION_CUDNN");
  return text ? std::strtoull(text, nullptr, 10) : CUDNN_VERSION;
}

WEFT_EXPORT size_t cudnnGetCudartVersion(void) {
  const char *text = std::getenv("WEFT_EMULATION_CUDNN_CUDA");
  return text ? std::strtoull(text, nullptr, 10) : 13000;
}

WEFT_EXPORT const char *cudnnGetErrorString(cudnnStatus_t status) {
  switch (static_cast<int>(status)) {
#define WEFT_STATUS(name)                                                      \
  case name:                                                                   \
    return #name;
    WEFT_STATUS(CUDNN_STATUS_SUCCESS)
    WEFT_STATUS(CUDNN_STATUS_NOT_INITIALIZED)
    WEFT_STATUS(CUDNN_STATUS_BAD_PARAM)
    WEFT_STATUS(CUDNN_STATUS_NOT_SUPPORTED)
    WEFT_STATUS(CUDNN_STATUS_INTERNAL_ERROR)
    WEFT_STATUS(CUDNN_STATUS_EXECUTION_FAILED)
#undef WEFT_STATUS
  }
  return "CUDNN_STATUS_UNKNOWN";
}

WEFT_EXPORT void cudnnGetLastErrorString(char *message, size_t bytes) {
  if (message && bytes)
    message[lastError.copy(message, bytes - 1)] = 0;
}

WEFT_EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  WEFT_BEGIN_CALL(cudnnCreate);
  if (!handle)
    return refuse("nowhere to put a handle");
  *handle =
      reinterpret_cast<cudnnHandle_t>(*handles().insert(new Handle).first);
  return CUDNN_STATUS_SUCCESS;
}

WEFT_EXPORT cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  WEFT_BEGIN_CALL(cudnnDestroy);
  Handle *known = find(handle);
  if (!known)
    return refuse("no handle to destroy");
  handles().erase(known);
  delete known;
  return CUDNN_STATUS_SUCCESS;
}

WEFT_EXPORT cudnnStatus_t cudnnSetStream(cudnnHandle_t handle,
                                         cudaStream_t stream) {
  WEFT_BEGIN_CALL(cudnnSetStream);
  Handle *known = find(handle);
  if (!known)
    return refuse("no handle for a stream");
  known->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

WEFT_EXPORT cudnnStatus_t cudnnBackendCreateDescriptor(
    cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *descriptor) {
  WEFT_BEGIN_CALL(cudnnBackendCreateDescriptor);
  if (!descriptor)
    return refuse("nowhere to put a descriptor");
  auto made = std::make_shared<Descriptor>();
  made->type = type;
  descriptors()[made.get()] = made;
  *descriptor = made.get();
  return CUDNN_STATUS_SUCCESS;
}

WEFT_EXPORT cudnnStatus_t
cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  WEFT_BEGIN_CALL(cudnnBackendDestroyDescriptor);
  return descriptors().erase(descriptor) ? CUDNN_STATUS_SUCCESS
                                         : refuse("no descriptor to destroy");
}

WEFT_EXPORT cudnnStatus_t cudnnBackendSetAttribute(
    cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values) {
  WEFT_BEGIN_CALL(cudnnBackendSetAttribute);
  DescriptorRef to = find(descriptor);
  if (!to || to->isFinal || (count > 0 && !values))
    return refuse("no open descriptor to set an attribute of");
  if (Problem wrong = checkAttribute(*to, name, type, count))
    return say(wrong);
  Attribute attribute;
  attribute.count = count;
  const auto *bytes = static_cast<const char *>(values);
  attribute.bytes.assign(bytes, bytes + count * bytesOf(type));
  if (type == CUDNN_TYPE_HANDLE &&
      !find(*static_cast<const cudnnHandle_t *>(values)))
    return refuse("no handle in an attribute");
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    for (int64_t i = 0; i < count; ++i) {
      attribute.parts.push_back(find(static_cast<void *const *>(values)[i]));
      if (!attribute.parts.back())
        return refuse("no descriptor in an attribute");
    }
  to->values[name] = std::move(attribute);
  return CUDNN_STATUS_SUCCESS;
}

WEFT_EXPORT cudnnStatus_t
cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  WEFT_BEGIN_CALL(cudnnBackendFinalize);
  DescriptorRef known = find(descriptor);
  if (!known || known->isFinal)
    return refuse("no open descriptor to finish");
  if (Problem wrong = checkFinal(*known))
    return say(wrong);
  known->isFinal = true;
  if (known->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
    logGraph(*known);
  return CUDNN_STATUS_SUCCESS;
}

WEFT_EXPORT cudnnStatus_t cudnnBackendGetAttribute(
    cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t, int64_t most, int64_t *count, void *values) {
  WEFT_BEGIN_CALL(cudnnBackendGetAttribute);
  DescriptorRef of = find(descriptor);
  if (!of || !of->isFinal)
    return refuse("no finished descriptor to ask");
  if (of->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR &&
      name == CUDNN_ATTR_ENGINEHEUR_RESULTS)
    return getResults(*of, most, count, values);
  if (of->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR &&
      name == CUDNN_ATTR_ENGINECFG_ENGINE)
    return getEngine(*of, count, values);
  if (of->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR &&
      name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE)
    return getNotes(*of, most, count, values);
  if (of->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      name != CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE || !values)
    return refuse("attribute " + std::to_string(name) + " has no answer");
  const int64_t bytes =
      workspaceOf(*of->part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
                       ->part(CUDNN_ATTR_ENGINECFG_ENGINE));
  std::memcpy(values, &bytes, sizeof bytes);
  if (count)
    *count = 1;
  return CUDNN_STATUS_SUCCESS;
}

WEFT_EXPORT cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                              cudnnBackendDescriptor_t plan,
                                              cudnnBackendDescriptor_t pack) {
  WEFT_BEGIN_CALL(cudnnBackendExecute);
  Handle *known = find(handle);
  DescriptorRef planned = find(plan), given = find(pack);
  if (!known || !planned || !given || !planned->isFinal || !given->isFinal ||
      planned->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      given->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    return refuse("no finished plan and tensors to run it with");
  return say(start(known->stream, *planned, *given));
}
