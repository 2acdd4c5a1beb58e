//===- CublasLt.cpp - cuBLASLt of the emulated device ---------------------===//
//
// A libcublasLt.so.13 with the entry points that products use, which computes
// on this machine. It refuses everything that the real one refuses, and more:
// calls that weft does not need are errors, not approximations.
//
// WEFT_EMULATION_FAIL=ENTRY:N:STATUS, with commas between several, lets the Nth
// call of an entry point fail (the emulated driver reads it too);
// WEFT_EMULATION_WORKSPACE=BYTES is the least workspace of every algorithm,
// WEFT_EMULATION_BLASLT=NUMBER the version, and WEFT_EMULATION_PRODUCTS=FILE
// gets a line for each product that is asked for.
//
//===----------------------------------------------------------------------===//

#include "CublasLtObjects.h"
#include "Fail.h"
#include "LibraryWork.h"
#include "Settings.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>

using namespace weft::emulation;

#define WEFT_EXPORT extern "C" __attribute__((visibility("default")))

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

namespace {

std::recursive_mutex lock;

/// The status that this call has to give, if it has to fail.
std::optional<cublasStatus_t> injectedFault(const char *entry) {
  auto findStatus = [](const std::string &name) -> std::optional<int> {
    for (int status = 1; status < 100; ++status)
      if (name == cublasLtGetStatusName(static_cast<cublasStatus_t>(status)))
        return status;
    return std::nullopt;
  };
  static const Entries entries = {
      "cublasLt", reinterpret_cast<const void *>(&cublasLtGetStatusName),
      findStatus};
  std::optional<int> status = faultOf(entries, entry);
  if (!status)
    return std::nullopt;
  return static_cast<cublasStatus_t>(*status);
}

#define WEFT_BEGIN_CALL(name)                                                  \
  if (std::optional<cublasStatus_t> fault = injectedFault(#name))              \
  return *fault

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

enum class Kind { Handle, Operation, Layout, Preference };

/// Everything that is not destroyed, by its address.
std::map<const void *, Kind> &objects() {
  static auto *all = new std::map<const void *, Kind>;
  return *all;
}

template <typename T> T *remember(T *made, Kind kind) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  objects()[made] = kind;
  return made;
}

bool isLive(const void *object, Kind kind) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  auto found = objects().find(object);
  return found != objects().end() && found->second == kind;
}

template <typename T> cublasStatus_t destroy(void *object, Kind kind) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (!isLive(object, kind))
    return CUBLAS_STATUS_INVALID_VALUE;
  objects().erase(object);
  delete static_cast<T *>(object);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T>
cublasStatus_t setField(void *object, Kind kind, const Field *field,
                        const void *value, size_t bytes) {
  if (!isLive(object, kind) || !field || !value || bytes != field->bytes)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(static_cast<char *>(object) + field->offset, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

/// Reads the descriptors of a call; false if one is none.
bool readProduct(Product &p, cublasLtHandle_t handle,
                 cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
                 cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                 cublasLtMatrixLayout_t d) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (!isLive(handle, Kind::Handle) || !isLive(operation, Kind::Operation))
    return false;
  const cublasLtMatrixLayout_t layouts[] = {a, b, c, d};
  Layout *copies[] = {&p.a, &p.b, &p.c, &p.d};
  for (int i = 0; i < 4; ++i) {
    if (!isLive(layouts[i], Kind::Layout))
      return false;
    *copies[i] = *reinterpret_cast<Layout *>(layouts[i]);
  }
  p.operation = *reinterpret_cast<Operation *>(operation);
  return true;
}

} // namespace

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// Handles and descriptors that are not destroyed.
WEFT_EXPORT int64_t weft_emulation_blaslt_objects(void) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return static_cast<int64_t>(objects().size());
}

WEFT_EXPORT size_t cublasLtGetVersion(void) {
  return numberSetting("WEFT_EMULATION_BLASLT", CUBLAS_VERSION);
}

WEFT_EXPORT const char *cublasLtGetStatusName(cublasStatus_t status) {
  switch (static_cast<int>(status)) {
#define WEFT_STATUS(name)                                                      \
  case name:                                                                   \
    return #name;
    WEFT_STATUS(CUBLAS_STATUS_SUCCESS)
    WEFT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED)
    WEFT_STATUS(CUBLAS_STATUS_ALLOC_FAILED)
    WEFT_STATUS(CUBLAS_STATUS_INVALID_VALUE)
    WEFT_STATUS(CUBLAS_STATUS_ARCH_MISMATCH)
    WEFT_STATUS(CUBLAS_STATUS_EXECUTION_FAILED)
    WEFT_STATUS(CUBLAS_STATUS_INTERNAL_ERROR)
    WEFT_STATUS(CUBLAS_STATUS_NOT_SUPPORTED)
#undef WEFT_STATUS
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

WEFT_EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  WEFT_BEGIN_CALL(cublasLtCreate);
  // The real one would compute other numbers.
  if (std::getenv("NVIDIA_TF32_OVERRIDE"))
    fail("expects an environment without NVIDIA_TF32_OVERRIDE");
  if (!handle)
    return CUBLAS_STATUS_INVALID_VALUE;
  *handle = reinterpret_cast<cublasLtHandle_t>(
      remember(new int64_t(0), Kind::Handle));
  return CUBLAS_STATUS_SUCCESS;
}

WEFT_EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  WEFT_BEGIN_CALL(cublasLtDestroy);
  return destroy<int64_t>(handle, Kind::Handle);
}

WEFT_EXPORT cublasStatus_t cublasLtMatmulDescCreate(
    cublasLtMatmulDesc_t *made, cublasComputeType_t computeType,
    cudaDataType_t scaleType) {
  WEFT_BEGIN_CALL(cublasLtMatmulDescCreate);
  if (!made)
    return CUBLAS_STATUS_INVALID_VALUE;
  auto *operation = remember(new Operation, Kind::Operation);
  operation->computeType = computeType;
  operation->scaleType = scaleType;
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(operation);
  return CUBLAS_STATUS_SUCCESS;
}

WEFT_EXPORT cublasStatus_t
cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  WEFT_BEGIN_CALL(cublasLtMatmulDescDestroy);
  return destroy<Operation>(operation, Kind::Operation);
}

WEFT_EXPORT cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
    const void *value, size_t bytes) {
  WEFT_BEGIN_CALL(cublasLtMatmulDescSetAttribute);
  return setField<Operation>(operation, Kind::Operation, fieldOf(attribute),
                             value, bytes);
}

WEFT_EXPORT cublasStatus_t
cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *made, cudaDataType type,
                           uint64_t rows, uint64_t columns, int64_t ld) {
  WEFT_BEGIN_CALL(cublasLtMatrixLayoutCreate);
  if (!made)
    return CUBLAS_STATUS_INVALID_VALUE;
  auto *layout = remember(new Layout, Kind::Layout);
  layout->type = type;
  layout->rows = rows;
  layout->columns = columns;
  layout->ld = ld;
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

WEFT_EXPORT cublasStatus_t
cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  WEFT_BEGIN_CALL(cublasLtMatrixLayoutDestroy);
  return destroy<Layout>(layout, Kind::Layout);
}

WEFT_EXPORT cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
    const void *value, size_t bytes) {
  WEFT_BEGIN_CALL(cublasLtMatrixLayoutSetAttribute);
  return setField<Layout>(layout, Kind::Layout, fieldOf(attribute), value,
                          bytes);
}

WEFT_EXPORT cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *made) {
  WEFT_BEGIN_CALL(cublasLtMatmulPreferenceCreate);
  if (!made)
    return CUBLAS_STATUS_INVALID_VALUE;
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(
      remember(new Preference, Kind::Preference));
  return CUBLAS_STATUS_SUCCESS;
}

WEFT_EXPORT cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  WEFT_BEGIN_CALL(cublasLtMatmulPreferenceDestroy);
  return destroy<Preference>(preference, Kind::Preference);
}

WEFT_EXPORT cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
    size_t bytes) {
  WEFT_BEGIN_CALL(cublasLtMatmulPreferenceSetAttribute);
  return setField<Preference>(preference, Kind::Preference, fieldOf(attribute),
                              value, bytes);
}

WEFT_EXPORT cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(
    const cublasLtMatmulAlgo_t *algorithm,
    cublasLtMatmulAlgoConfigAttributes_t attribute, void *value, size_t bytes,
    size_t *written) {
  WEFT_BEGIN_CALL(cublasLtMatmulAlgoConfigGetAttribute);
  if (!algorithm || !value || bytes != sizeof(uint32_t) ||
      (attribute != CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME &&
       attribute != CUBLASLT_ALGO_CONFIG_SPLITK_NUM))
    return CUBLAS_STATUS_INVALID_VALUE;
  Algorithm known;
  std::memcpy(&known, algorithm, sizeof known);
  if (attribute == CUBLASLT_ALGO_CONFIG_SPLITK_NUM)
    std::memcpy(value, &known.parts, bytes);
  else
    std::memcpy(value, &known.scheme, bytes);
  if (written)
    *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

WEFT_EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int most,
    cublasLtMatmulHeuristicResult_t results[], int *count) {
  WEFT_BEGIN_CALL(cublasLtMatmulAlgoGetHeuristic);
  Product p = {};
  if (!readProduct(p, handle, operation, a, b, c, d) ||
      !isLive(preference, Kind::Preference) || most < 1 || !results || !count)
    return CUBLAS_STATUS_INVALID_VALUE;
  *count = 0;
  if (cublasStatus_t status = checkProduct(p))
    return status;
  for (const Algorithm &one :
       algorithmsFor(p, *reinterpret_cast<Preference *>(preference))) {
    if (*count == most)
      break;
    cublasLtMatmulHeuristicResult_t &result = results[(*count)++];
    result = {};
    std::memcpy(&result.algo, &one, sizeof one);
    result.workspaceSize = one.workspaceBytes;
    result.state = CUBLAS_STATUS_SUCCESS;
    result.wavesCount = 1.0f;
  }
  return *count ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

WEFT_EXPORT cublasStatus_t
cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                        cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                        cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                        const cublasLtMatmulAlgo_t *algorithm,
                        cublasLtMatmulHeuristicResult_t *result) {
  WEFT_BEGIN_CALL(cublasLtMatmulAlgoCheck);
  Product p = {};
  if (!readProduct(p, handle, operation, a, b, c, d) || !algorithm || !result)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (cublasStatus_t status = checkProduct(p))
    return status;
  std::memcpy(&p.algorithm, algorithm, sizeof p.algorithm);
  if (cublasStatus_t status = checkAlgorithm(p))
    return status;
  *result = {};
  result->algo = *algorithm;
  result->workspaceSize = p.algorithm.workspaceBytes;
  result->state = CUBLAS_STATUS_SUCCESS;
  return CUBLAS_STATUS_SUCCESS;
}

/// Adds a line "M N K NUMBER PROCESSORS" for a call to the file that
/// WEFT_EMULATION_PRODUCTS names.
static void report(const Product &p) {
  const char *path = std::getenv("WEFT_EMULATION_PRODUCTS");
  std::FILE *file = path ? std::fopen(path, "a") : nullptr;
  if (!file)
    return;
  std::fprintf(
      file, "%lld %lld %lld %d %d\n", static_cast<long long>(p.d.columns),
      static_cast<long long>(p.d.rows), static_cast<long long>(p.depth()),
      p.algorithm.number, p.processors());
  std::fclose(file);
}

WEFT_EXPORT cublasStatus_t
cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
               const void *alpha, const void *dataA, cublasLtMatrixLayout_t a,
               const void *dataB, cublasLtMatrixLayout_t b, const void *beta,
               const void *dataC, cublasLtMatrixLayout_t c, void *dataD,
               cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t *algorithm,
               void *workspace, size_t workspaceBytes, cudaStream_t stream) {
  WEFT_BEGIN_CALL(cublasLtMatmul);
  Product p = {};
  if (!readProduct(p, handle, operation, a, b, c, d) || !alpha || !beta ||
      !algorithm)
    return CUBLAS_STATUS_INVALID_VALUE;
  p.dataA = dataA, p.dataB = dataB, p.dataC = dataC, p.dataD = dataD;
  std::memcpy(&p.alpha, alpha, sizeof p.alpha);
  std::memcpy(&p.beta, beta, sizeof p.beta);
  std::memcpy(&p.algorithm, algorithm, sizeof p.algorithm);
  p.workspace = workspace;
  if (cublasStatus_t status = checkProduct(p))
    return status;
  if (cublasStatus_t status = checkCall(p, workspaceBytes))
    return status;
  report(p);
  return enqueue(stream, [p] { multiply(p); }) ? CUBLAS_STATUS_SUCCESS
                                               : CUBLAS_STATUS_EXECUTION_FAILED;
}
