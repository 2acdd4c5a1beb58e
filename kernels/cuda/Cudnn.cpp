//===- Cudnn.cpp - cuDNN, opened by name ----------------------------------===//

#include "Cudnn.h"

#include "weft/Base/Text.h"
#include "weft/Runtime/Execute/CudaAttentionRun.h"

#include <algorithm>

using namespace weft;
using namespace weft::cuda;

static LibraryName cudnnLibrary() {
  return {"libcudnn.so.9", "cuDNN 9", cudaLibraryPlaces()};
}
static_assert(CUDNN_MAJOR == 9, "the library has the version of its header");

static Status findEntries(const OpenLibrary &library, CudnnEntries &table) {
#define WEFT_FIND_ENTRY(name)                                                  \
  if (Status s = library.find("cudnn" #name, table.name); !s)                  \
    return s;
  WEFT_CUDNN_CALLS(WEFT_FIND_ENTRY)
  WEFT_CUDNN_QUESTIONS(WEFT_FIND_ENTRY)
#undef WEFT_FIND_ENTRY
  return Status::success();
}

/// NVRTC of the CUDA that a cuDNN is for. cuDNN opens it by name: one that lies
/// where only we look is there if it has been opened.
static LibraryName compilerLibrary(size_t cudartVersion) {
  const std::string major = std::to_string(cudartVersion / 1000);
  return {"libnvrtc.so." + major, "NVRTC of CUDA " + major,
          cudaLibraryPlaces()};
}

/// Before cuDNN is open, its version of CUDA is not known.
std::vector<LibraryName> weft::cudnnLibraries() {
  return {cudnnLibrary(),
          {"libnvrtc.so.13", "NVRTC of the CUDA that cuDNN is for",
           cudaLibraryPlaces(), "libnvrtc.so.12"}};
}

std::string Cudnn::versionName() const { return versionText(version()); }

Expected<std::unique_ptr<Cudnn>> Cudnn::open() {
  Expected<OpenLibrary> library = OpenLibrary::open(cudnnLibrary());
  if (!library)
    return library.takeError();
  CudnnEntries entries;
  if (Status status = findEntries(*library, entries); !status)
    return status.takeError();
  if (Status compiler =
          findLibraries({compilerLibrary(entries.GetCudartVersion())});
      !compiler)
    return compiler.takeError();
  return open(entries, library->path());
}

Expected<std::unique_ptr<Cudnn>> Cudnn::open(const CudnnEntries &entries,
                                             const std::string &path) {
  std::unique_ptr<Cudnn> opened(new Cudnn);
  opened->table = entries;
  const size_t version = opened->version();
  opened->description = "cuDNN " + opened->versionName() + " (" + path + ")";
  if (version / 10000 != CUDNN_MAJOR || version < kOldest)
    return deviceError("expects cuDNN " + std::to_string(CUDNN_MAJOR) +
                       " from " + versionText(kOldest) + ", but got " +
                       opened->description);
  CudnnCalls calls(*opened);
  calls.Create(&opened->backendHandle);
  if (!calls.ok())
    return calls.take().takeError();
  return opened;
}

/// Ignores the status of Destroy: no later call depends on it.
Cudnn::~Cudnn() {
  if (backendHandle)
    table.Destroy(backendHandle);
}

Status Cudnn::check(const char *entry, cudnnStatus_t status) const {
  if (status == CUDNN_STATUS_SUCCESS)
    return Status::success();
  char text[512] = "";
  table.GetLastErrorString(text, sizeof text - 1);
  std::string reason = text;
  const bool isOutOfMemory =
      status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  return failedCall(
      entry,
      concat(table.GetErrorString(status), " (", status, ")",
             reason.empty() ? "" : ": " + reason.substr(0, reason.find('\n'))),
      isOutOfMemory);
}

//===- Graphs of operations and their plans -------------------------------===//

/// `made` owns the descriptor; the library destroys it with the graph or its
/// plan.
CudnnGraph::Tensor CudnnGraph::make(cudnnBackendDescriptorType_t type) {
  Tensor descriptor = nullptr;
  calls.BackendCreateDescriptor(type, &descriptor);
  made.emplace_back(descriptor, library.entries().BackendDestroyDescriptor);
  return descriptor;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

CudnnGraph::Tensor CudnnGraph::tensor(int64_t id, cudnnDataType_t type,
                                      const CudnnSizes &sizes,
                                      const CudnnSizes &strides) {
  Tensor made = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  set(made, CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  set(made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes.data());
  set(made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides.data());
  set(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  set(made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t(16));
  return made;
}

CudnnGraph::Tensor CudnnGraph::memory(int64_t id, cudnnDataType_t type,
                                      const CudnnSizes &sizes,
                                      const CudnnSizes &strides) {
  Tensor made = tensor(id, type, sizes, strides);
  finish(made);
  return made;
}

CudnnGraph::Tensor CudnnGraph::number(int64_t id) {
  Tensor made = tensor(id, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1});
  setFlag(made, CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  finish(made);
  return made;
}

CudnnGraph::Tensor CudnnGraph::between(cudnnDataType_t type,
                                       const CudnnSizes &sizes,
                                       const CudnnSizes &strides) {
  Tensor made = tensor(nextId++, type, sizes, strides);
  setFlag(made, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  finish(made);
  return made;
}

CudnnGraph::Tensor CudnnGraph::between(cudnnDataType_t type,
                                       const CudnnSizes &sizes) {
  return between(
      type, sizes,
      {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1});
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void CudnnGraph::addOperation(Tensor operation) {
  finish(operation);
  operations.push_back(operation);
}

void CudnnGraph::multiply(Tensor a, Tensor b, Tensor y) {
  Tensor product = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  set(product, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  finish(product);
  Tensor operation = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  set(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
  set(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
  set(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, y);
  set(operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, product);
  addOperation(operation);
}

void CudnnGraph::apply(cudnnPointwiseMode_t mode, Tensor y, Tensor x, Tensor b,
                       Tensor t, cudnnDataType_t type) {
  Tensor function = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  set(function, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  set(function, CUDNN_ATTR_POINTWISE_MATH_PREC, type);
  finish(function);
  Tensor operation = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function);
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  if (b)
    set(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
  if (t)
    set(operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t);
  addOperation(operation);
}

void CudnnGraph::index(Tensor x, Tensor y, int64_t dimension) {
  const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_GEN_INDEX;
  Tensor function = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  set(function, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  set(function, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  set(function, CUDNN_ATTR_POINTWISE_AXIS, dimension);
  finish(function);
  Tensor operation = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function);
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  addOperation(operation);
}

void CudnnGraph::reduce(cudnnReduceTensorOp_t operator_, Tensor x, Tensor y) {
  Tensor reduction = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  set(reduction, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  set(reduction, CUDNN_ATTR_REDUCTION_OPERATOR,
      CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &operator_);
  finish(reduction);
  Tensor operation = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  set(operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction);
  set(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
  set(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
  addOperation(operation);
}

void CudnnGraph::reshape(Tensor x, Tensor y) {
  Tensor operation = make(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  set(operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
  set(operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
  addOperation(operation);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

CudnnGraph::Tensor CudnnGraph::finishGraph() {
  cudnnHandle_t handle = library.handle();
  Tensor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
      static_cast<int64_t>(operations.size()), operations.data());
  finish(graph);
  return graph;
}

std::vector<CudnnGraph::Tensor>
CudnnGraph::makePinned(Tensor graph, const CudnnEngine &chosen) {
  Tensor engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  set(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  set(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, chosen.index);
  finish(engine);
  std::vector<Tensor> choices;
  for (auto [knob, value] : chosen.knobs) {
    Tensor choice = make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    set(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1,
        &knob);
    set(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value);
    finish(choice);
    choices.push_back(choice);
  }
  Tensor configuration = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  set(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  set(configuration, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
      CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(choices.size()),
      choices.data());
  finish(configuration);
  return {configuration};
}

std::vector<CudnnGraph::Tensor> CudnnGraph::askHeuristic(Tensor graph) {
  const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
  Tensor heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  finish(heuristic);
  int64_t most = 0, count = 0;
  calls.BackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                            CUDNN_TYPE_BACKEND_DESCRIPTOR, int64_t(0), &most,
                            static_cast<void *>(nullptr));
  std::vector<Tensor> found;
  for (int64_t i = 0; i < most && calls.ok(); ++i)
    found.push_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  if (!found.empty())
    calls.BackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                              CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count,
                              static_cast<void *>(found.data()));
  found.resize(std::min<size_t>(found.size(), std::max<int64_t>(count, 0)));
  return found;
}

bool CudnnGraph::isDeterministic(Tensor configuration) {
  Tensor engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  int64_t count = 0;
  calls.BackendGetAttribute(configuration, CUDNN_ATTR_ENGINECFG_ENGINE,
                            CUDNN_TYPE_BACKEND_DESCRIPTOR, int64_t(1), &count,
                            static_cast<void *>(&engine));
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT] = {};
  count = 0;
  calls.BackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                            CUDNN_TYPE_NUMERICAL_NOTE,
                            int64_t(CUDNN_NUMERICAL_NOTE_TYPE_COUNT), &count,
                            static_cast<void *>(notes));
  count = std::clamp<int64_t>(count, 0, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  return calls.ok() &&
         std::find(notes, notes + count,
                   CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) == notes + count;
}

bool CudnnGraph::finalizePlan(Tensor configuration, CudnnPlan &plan) {
  plan.plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  cudnnHandle_t handle = library.handle();
  set(plan.plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
      &handle);
  set(plan.plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  finish(plan.plan);
  // An engine may find only now that it does not support the graph.
  if (!calls.ok() &&
      CUDNN_STATUS_CATEGORY(calls.last()) == CUDNN_STATUS_NOT_SUPPORTED) {
    refusal = "; " + calls.take().error().message();
    calls.forgive();
    return false;
  }
  int64_t count = 0;
  calls.BackendGetAttribute(plan.plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                            CUDNN_TYPE_INT64, int64_t(1), &count,
                            static_cast<void *>(&plan.workspaceBytes));
  return calls.ok();
}

Error CudnnGraph::describeMissing(const std::string &what, bool repeatsBits,
                                  int64_t most, int64_t least) {
  if (least < 0)
    return deviceError("expects an engine of ", library.describe(), " for ",
                       what, ", but got none",
                       repeatsBits ? " that repeats its bits" : "", refusal);
  return memoryError("expects an engine of cuDNN for ", what, " that works in ",
                     exactBytes(most), ", but got one that takes ",
                     exactBytes(least));
}

Expected<CudnnPlan> CudnnGraph::plan(const std::string &what, int64_t mostBytes,
                                     bool repeatsBits,
                                     const CudnnEngine *engine) {
  Tensor graph = finishGraph();
  CudnnPlan plan;
  int64_t least = -1;
  for (Tensor configuration :
       engine ? makePinned(graph, *engine) : askHeuristic(graph)) {
    if (!engine && repeatsBits && !isDeterministic(configuration))
      continue;
    if (!finalizePlan(configuration, plan))
      continue;
    if (plan.workspaceBytes <= mostBytes) {
      plan.parts = std::move(made);
      return plan;
    }
    least =
        least < 0 ? plan.workspaceBytes : std::min(least, plan.workspaceBytes);
  }
  if (!calls.ok())
    return calls.take().takeError();
  return describeMissing(what, repeatsBits, mostBytes, least);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Status weft::cuda::enqueue(const Cudnn &library, const CudnnPlan &plan,
                           const CudnnArguments &arguments) {
  CudnnCalls calls(library);
  cudnnBackendDescriptor_t created = nullptr;
  calls.BackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
                                &created);
  CudnnDescriptor pack(created, library.entries().BackendDestroyDescriptor);
  const auto count = static_cast<int64_t>(arguments.ids.size());
  calls.BackendSetAttribute(pack.get(), CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                            CUDNN_TYPE_INT64, count,
                            static_cast<const void *>(arguments.ids.data()));
  calls.BackendSetAttribute(
      pack.get(), CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
      count, static_cast<const void *>(arguments.addresses.data()));
  calls.BackendSetAttribute(pack.get(), CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                            CUDNN_TYPE_VOID_PTR, int64_t(1),
                            static_cast<const void *>(&arguments.workspace));
  calls.BackendFinalize(pack.get());
  calls.SetStream(library.handle(),
                  static_cast<cudaStream_t>(arguments.stream));
  calls.BackendExecute(library.handle(), plan.plan, pack.get());
  return calls.take();
}
