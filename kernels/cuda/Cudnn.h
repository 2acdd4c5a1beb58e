//===- Cudnn.h - cuDNN, opened by name --------------------------*- C++ -*-===//
//
// A program does not link cuDNN: it opens libcudnn.so.9 where --attention=cudnn
// has it compute attention. The entry points stand in one list.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_CUDNN_H
#define WEFT_KERNELS_CUDA_CUDNN_H

#include "weft/Runtime/Devices/OpenLibrary.h"

#include <array>
#include <cudnn_graph.h>
#include <memory>
#include <string>
#include <vector>

/// Every entry point that gives a status, without "cudnn": X(name).
#define WEFT_CUDNN_CALLS(X)                                                    \
  X(BackendCreateDescriptor)                                                   \
  X(BackendDestroyDescriptor)                                                  \
  X(BackendExecute)                                                            \
  X(BackendFinalize)                                                           \
  X(BackendGetAttribute)                                                       \
  X(BackendSetAttribute)                                                       \
  X(Create)                                                                    \
  X(Destroy)                                                                   \
  X(SetStream)
/// The others.
#define WEFT_CUDNN_QUESTIONS(X)                                                \
  X(GetCudartVersion)                                                          \
  X(GetErrorString)                                                            \
  X(GetLastErrorString)                                                        \
  X(GetVersion)

struct WeftContext;

namespace weft {

/// The addresses of the entry points.
struct CudnnEntries {
#define WEFT_CUDNN_ENTRY(name) decltype(&::cudnn##name) name = nullptr;
  WEFT_CUDNN_CALLS(WEFT_CUDNN_ENTRY)
  WEFT_CUDNN_QUESTIONS(WEFT_CUDNN_ENTRY)
#undef WEFT_CUDNN_ENTRY
};

/// The library with a handle for the device of the calling thread.
class Cudnn {
public:
  /// The first version whose plans were checked against what workspaces are
  /// bounded by (CudnnAttention.h).
  static constexpr size_t kOldest = 91900;

  /// Exit 9 where there is no library, one of another or an older version, or
  /// no device.
  static Expected<std::unique_ptr<Cudnn>> open();
  /// The same with entry points that were found in the file `path`.
  static Expected<std::unique_ptr<Cudnn>> open(const CudnnEntries &entries,
                                               const std::string &path);
  ~Cudnn();

  const CudnnEntries &entries() const { return table; }
  cudnnHandle_t handle() const { return backendHandle; }
  /// 91900 for 9.19.0.
  size_t version() const { return table.GetVersion(); }
  /// "9.19.0"
  std::string versionName() const;
  /// "cuDNN 9.19.0 (/usr/local/cuda/lib64/libcudnn.so.9)"
  const std::string &describe() const { return description; }
  /// An error of exit code 9 that names the entry point, unless it succeeded.
  Status check(const char *entry, cudnnStatus_t status) const;

private:
  Cudnn() = default;
  CudnnEntries table;
  cudnnHandle_t backendHandle = nullptr;
  std::string description;
};

/// Its calls, by their names without the prefix.
class CudnnCalls : public LibraryCalls<Cudnn, cudnnStatus_t> {
public:
  using LibraryCalls::LibraryCalls;

#define WEFT_CUDNN_CALL(name)                                                  \
  template <typename... Arguments> void name(Arguments... arguments) {         \
    make("cudnn" #name, library.entries().name, arguments...);                 \
  }
  WEFT_CUDNN_CALLS(WEFT_CUDNN_CALL)
#undef WEFT_CUDNN_CALL
};

} // namespace weft

//===- Graphs of operations and their plans -------------------------------===//
//
// A small layer over cuDNN's backend API: operations on tensors of four
// dimensions become a graph, the graph a plan, and the plan runs in a stream.
// docs/decisions/0038-cudnn-backend-api.md says why it is not cudnn-frontend.
//
//===----------------------------------------------------------------------===//

namespace weft::cuda {

/// Destroyed by the library, in any order.
using CudnnDescriptor =
    std::unique_ptr<void, cudnnStatus_t (*)(cudnnBackendDescriptor_t)>;

/// Batch, head, row, element of the head.
using CudnnSizes = std::array<int64_t, 4>;

/// A choice among the engines of the library, where its own order does not say
/// which one repeats its bits.
struct CudnnEngine {
  int64_t index;
  std::vector<std::pair<cudnnBackendKnobType_t, int64_t>> knobs;
};

/// A graph with an engine that runs it.
struct CudnnPlan {
  std::vector<CudnnDescriptor> parts; // all that the plan is made of
  cudnnBackendDescriptor_t plan = nullptr;
  int64_t workspaceBytes = 0;
};

/// The arguments of one run of a plan.
struct CudnnArguments {
  std::vector<int64_t> ids;
  std::vector<void *> addresses; // numbers are at addresses of the host
  void *workspace = nullptr;
  void *stream = nullptr;
};

/// Operations as they are added. After a failure nothing more is done, and the
/// plan is that failure.
class CudnnGraph {
public:
  using Tensor = cudnnBackendDescriptor_t;

  explicit CudnnGraph(const Cudnn &library)
      : library(library), calls(library) {}

  /// A tensor in memory, at 16 bytes.
  Tensor memory(int64_t id, cudnnDataType_t type, const CudnnSizes &sizes,
                const CudnnSizes &strides);
  /// An f32 number that the host gives with every run.
  Tensor number(int64_t id);
  /// A tensor that is nowhere, dense unless it has strides.
  Tensor between(cudnnDataType_t type, const CudnnSizes &sizes);
  Tensor between(cudnnDataType_t type, const CudnnSizes &sizes,
                 const CudnnSizes &strides);

  /// y = a b, of the last two dimensions.
  void multiply(Tensor a, Tensor b, Tensor y);
  /// y = mode(x), mode(x, b), or with a condition t. The arithmetic has type
  /// `type`.
  void apply(cudnnPointwiseMode_t mode, Tensor y, Tensor x, Tensor b = nullptr,
             Tensor t = nullptr, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  /// y = the index of each element along a dimension.
  void index(Tensor x, Tensor y, int64_t dimension);
  /// Over the dimensions that y has fewer of.
  void reduce(cudnnReduceTensorOp_t operation, Tensor x, Tensor y);
  /// The same elements with the sizes and strides of y.
  void reshape(Tensor x, Tensor y);

  /// Has the library plan the graph: by that engine, or by the first of its own
  /// order that works in at most that many bytes and, with `repeatsBits`,
  /// repeats its bits. Exit 4 with both numbers where all need more, 9 where
  /// there is none; `what` is planned, for messages.
  Expected<CudnnPlan> plan(const std::string &what, int64_t mostBytes,
                           bool repeatsBits, const CudnnEngine *engine);

private:
  Tensor make(cudnnBackendDescriptorType_t type);
  Tensor tensor(int64_t id, cudnnDataType_t type, const CudnnSizes &sizes,
                const CudnnSizes &strides);
  void finish(Tensor descriptor) { calls.BackendFinalize(descriptor); }
  void addOperation(Tensor operation);
  Tensor finishGraph();
  std::vector<Tensor> makePinned(Tensor graph, const CudnnEngine &engine);
  std::vector<Tensor> askHeuristic(Tensor graph);
  bool isDeterministic(Tensor configuration);
  /// Whether a plan of that configuration can be made, and its workspace.
  bool finalizePlan(Tensor configuration, CudnnPlan &plan);
  /// `least`: what engines need at least that need too much; -1: none does.
  Error describeMissing(const std::string &what, bool repeatsBits, int64_t most,
                        int64_t least);

  void set(Tensor to, cudnnBackendAttributeName_t name,
           cudnnBackendAttributeType_t type, int64_t count,
           const void *values) {
    calls.BackendSetAttribute(to, name, type, count, values);
  }
  void set(Tensor to, cudnnBackendAttributeName_t name, int64_t value) {
    set(to, name, CUDNN_TYPE_INT64, 1, &value);
  }
  void set(Tensor to, cudnnBackendAttributeName_t name, cudnnDataType_t value) {
    set(to, name, CUDNN_TYPE_DATA_TYPE, 1, &value);
  }
  void set(Tensor to, cudnnBackendAttributeName_t name, Tensor value) {
    set(to, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
  }
  void setFlag(Tensor to, cudnnBackendAttributeName_t name) {
    const bool value = true;
    set(to, name, CUDNN_TYPE_BOOLEAN, 1, &value);
  }

  const Cudnn &library;
  CudnnCalls calls;
  std::vector<CudnnDescriptor> made;
  std::vector<Tensor> operations;
  int64_t nextId = 100; // of tensors that are nowhere
  std::string refusal;  // of the last engine that did not support the graph
};

/// Gives the plan to the stream.
Status enqueue(const Cudnn &library, const CudnnPlan &plan,
               const CudnnArguments &arguments);

/// Opens cuDNN for a context, once: exit 9 if it is missing or too old.
Status openCudnn(WeftContext &context);
/// Drops its plans and closes it.
void closeCudnn(WeftContext &context);

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_CUDNN_H
