//===- BlasLt.h - cuBLASLt, opened by name ----------------------*- C++ -*-===//
//
// A program does not link cuBLASLt: it opens libcublasLt.so.13, or .12, where
// it needs a product. The entry points stand in one list.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_BLASLT_H
#define WEFT_KERNELS_CUDA_BLASLT_H

#include "weft/Runtime/Devices/OpenLibrary.h"

#include <cublasLt.h>
#include <memory>
#include <optional>
#include <string>

/// Every entry point that gives a status, without "cublasLt": X(name).
#define WEFT_BLASLT_CALLS(X)                                                   \
  X(Create)                                                                    \
  X(Destroy)                                                                   \
  X(Matmul)                                                                    \
  X(MatmulAlgoCheck)                                                           \
  X(MatmulAlgoConfigGetAttribute)                                              \
  X(MatmulAlgoGetHeuristic)                                                    \
  X(MatmulDescCreate)                                                          \
  X(MatmulDescDestroy)                                                         \
  X(MatmulDescSetAttribute)                                                    \
  X(MatmulPreferenceCreate)                                                    \
  X(MatmulPreferenceDestroy)                                                   \
  X(MatmulPreferenceSetAttribute)                                              \
  X(MatrixLayoutCreate)                                                        \
  X(MatrixLayoutDestroy)                                                       \
  X(MatrixLayoutSetAttribute)
/// The others.
#define WEFT_BLASLT_QUESTIONS(X)                                               \
  X(GetStatusName)                                                             \
  X(GetVersion)

namespace weft {

/// The addresses of the entry points.
struct BlasLtEntries {
#define WEFT_BLASLT_ENTRY(name) decltype(&::cublasLt##name) name = nullptr;
  WEFT_BLASLT_CALLS(WEFT_BLASLT_ENTRY)
  WEFT_BLASLT_QUESTIONS(WEFT_BLASLT_ENTRY)
#undef WEFT_BLASLT_ENTRY
};

/// The library with a handle for the device of the calling thread.
class BlasLt {
public:
  /// Exit 9 where there is no library, one of another version, or no device.
  static Expected<std::unique_ptr<BlasLt>> open();
  ~BlasLt();

  const BlasLtEntries &entries() const { return table; }
  cublasLtHandle_t handle() const { return lightHandle; }
  /// "cuBLASLt 13.1.0 (/usr/local/cuda/lib64/libcublasLt.so.13)"
  const std::string &describe() const { return description; }
  /// "13.1.0"
  const std::string &version() const { return versionNumber; }
  /// Whether f32 factors may be rounded to TF32.
  bool allowsTf32 = false;
  /// Multiprocessors that collectives leave to products; 0: there are no
  /// collectives.
  int32_t sharedProcessors = 0;
  /// An error of exit code 9 that names the entry point, unless it succeeded.
  Status check(const char *entry, cublasStatus_t status) const;

private:
  BlasLt() = default;
  BlasLtEntries table;
  cublasLtHandle_t lightHandle = nullptr;
  std::string description, versionNumber;
};

/// Its calls, by their names without the prefix.
class BlasLtCalls : public LibraryCalls<BlasLt, cublasStatus_t> {
public:
  using LibraryCalls::LibraryCalls;

#define WEFT_BLASLT_CALL(name)                                                 \
  template <typename... Arguments> void name(Arguments... arguments) {         \
    make("cublasLt" #name, library.entries().name, arguments...);              \
  }
  WEFT_BLASLT_CALLS(WEFT_BLASLT_CALL)
#undef WEFT_BLASLT_CALL
};

/// A descriptor of the library's, destroyed by it.
template <typename Handle>
using BlasLtOwned =
    std::unique_ptr<std::remove_pointer_t<Handle>, cublasStatus_t (*)(Handle)>;
using MatmulDescription = BlasLtOwned<cublasLtMatmulDesc_t>;
using MatrixLayout = BlasLtOwned<cublasLtMatrixLayout_t>;
using MatmulPreference = BlasLtOwned<cublasLtMatmulPreference_t>;

} // namespace weft

#endif // WEFT_KERNELS_CUDA_BLASLT_H
