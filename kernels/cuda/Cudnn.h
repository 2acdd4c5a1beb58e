//===- Cudnn.h - cuDNN, opened by name --------------------------*- C++ -*-===//
//
// A program does not link cuDNN: it opens libcudnn.so.9 where --attention=cudnn
// has it compute attention. The entry points stand in one list.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_CUDNN_H
#define WEFT_KERNELS_CUDA_CUDNN_H

#include "LibraryCalls.h"

#include <cudnn_graph.h>
#include <memory>
#include <string>

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
  X(GetErrorString)                                                            \
  X(GetLastErrorString)                                                        \
  X(GetVersion)

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

#endif // WEFT_KERNELS_CUDA_CUDNN_H
