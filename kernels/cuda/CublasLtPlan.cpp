//===- CublasLtPlan.cpp - Choice of a cuBLASLt algorithm ------------------===//
//
// Sums are f32 and bits repeat: the compute type is 32F, which takes no TF32
// unless that is allowed, and where an algorithm cuts K, its parts meet as f32
// in the workspace (COMPUTE_TYPE), never in C.
//
// With several ranks the library is asked for algorithms for the
// multiprocessors that collectives leave, for all products alike: bits must not
// depend on which of them the schedule puts beside collectives. Such a product
// also runs on these multiprocessors only, if that cannot change its bits.
//
//===----------------------------------------------------------------------===//

#include "CublasLtPlan.h"

#include "weft/Abi/Executable.h"
#include "weft/Base/Text.h"

#include <cstring>

using namespace weft;
using namespace weft::cuda;

static int64_t alignmentOf(const void *address) {
  const uint64_t bits = reinterpret_cast<uintptr_t>(address) | 256;
  return static_cast<int64_t>(bits & -bits);
}

GemmAlignments weft::cuda::alignmentsOf(const GemmOperands &operands) {
  return {alignmentOf(operands.a), alignmentOf(operands.b),
          alignmentOf(operands.c), alignmentOf(operands.biasOrSum()),
          alignmentOf(operands.aux)};
}

GemmKey weft::cuda::keyOf(const WeftGemmRecord &record,
                          const GemmOperands &operands,
                          int64_t workspaceBytes) {
  GemmKey key = {{}, alignmentsOf(operands), workspaceBytes};
  std::memcpy(std::get<0>(key).data(), &record, sizeof std::get<0>(key));
  return key;
}

static cudaDataType_t dataType(int64_t dtype) {
  return dtype == WEFT_F16    ? CUDA_R_16F
         : dtype == WEFT_BF16 ? CUDA_R_16BF
                              : CUDA_R_32F;
}

namespace {

/// Makes the descriptors of one plan.
class Planner {
public:
  Planner(const BlasLt &library, const WeftGemmRecord &record)
      : library(library), s(record), calls(library) {}

  Expected<GemmPlan> plan(const GemmOperands &operands, uint64_t most,
                          const cublasLtMatmulAlgo_t *tuned);
  /// Those that work in at most that many bytes, the best first.
  Expected<std::vector<GemmAlgorithm>>
  findAll(const GemmPlan &plan, const GemmOperands &operands, uint64_t most);

private:
  MatmulDescription describeOperation();
  MatrixLayout describe(int64_t dtype, int64_t rows, int64_t columns,
                        int64_t leading, int64_t batchStride);
  MatmulPreference prefer(const GemmOperands &operands, uint64_t most);
  void describeAll(GemmPlan &plan, const GemmOperands &operands);
  Status take(GemmPlan &plan, const cublasLtMatmulAlgo_t &tuned, uint64_t most);
  Status give(GemmPlan &plan, const cublasLtMatmulAlgo_t &algorithm,
              size_t workspaceBytes);
  template <typename T>
  T ask(const cublasLtMatmulAlgo_t &algorithm,
        cublasLtMatmulAlgoConfigAttributes_t attribute);
  bool repeatsBits(const cublasLtMatmulAlgo_t &algorithm);
  Error describeMissing(const GemmPlan &plan, const GemmOperands &operands,
                        uint64_t most);

  template <typename T>
  void set(cublasLtMatmulDesc_t description,
           cublasLtMatmulDescAttributes_t attribute, const T &value) {
    calls.MatmulDescSetAttribute(description, attribute, &value, sizeof value);
  }
  template <typename T>
  void set(cublasLtMatrixLayout_t layout,
           cublasLtMatrixLayoutAttribute_t attribute, const T &value) {
    calls.MatrixLayoutSetAttribute(layout, attribute, &value, sizeof value);
  }
  template <typename T>
  void set(cublasLtMatmulPreference_t preference,
           cublasLtMatmulPreferenceAttributes_t attribute, const T &value) {
    calls.MatmulPreferenceSetAttribute(preference, attribute, &value,
                                       sizeof value);
  }

  const BlasLt &library;
  const WeftGemmRecord &s;
  BlasLtCalls calls;
};

} // namespace

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// Of a record that findWrongEpilogue() finds right. The library's A is B, and
/// its B is A.
static uint32_t epilogueOf(const WeftGemmRecord &s) {
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  if (s.hasSumA || s.hasSumB)
    return s.hasSumB ? CUBLASLT_EPILOGUE_BGRADA : CUBLASLT_EPILOGUE_BGRADB;
  if (s.epilogue == WEFT_EPILOGUE_GELU_GRAD)
    return s.hasColumnSum ? CUBLASLT_EPILOGUE_DGELU_BGRAD
                          : CUBLASLT_EPILOGUE_DGELU;
  if (s.epilogue == WEFT_EPILOGUE_RELU)
    epilogue = CUBLASLT_EPILOGUE_RELU;
  if (s.epilogue == WEFT_EPILOGUE_GELU)
    epilogue = s.hasAux ? CUBLASLT_EPILOGUE_GELU_AUX : CUBLASLT_EPILOGUE_GELU;
  if (!s.hasBias)
    return epilogue;
  return epilogue == CUBLASLT_EPILOGUE_DEFAULT
             ? static_cast<uint32_t>(CUBLASLT_EPILOGUE_BIAS)
             : epilogue | CUBLASLT_EPILOGUE_BIAS;
}

MatmulDescription Planner::describeOperation() {
  cublasLtMatmulDesc_t made = nullptr;
  const bool isTf32 = library.allowsTf32 && s.dtype == WEFT_F32;
  calls.MatmulDescCreate(
      &made, isTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
      CUDA_R_32F);
  MatmulDescription owned(made, library.entries().MatmulDescDestroy);
  const int32_t first = s.transB ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int32_t second = s.transA ? CUBLAS_OP_T : CUBLAS_OP_N;
  set(made, CUBLASLT_MATMUL_DESC_TRANSA, first);
  set(made, CUBLASLT_MATMUL_DESC_TRANSB, second);
  set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogueOf(s));
  if (library.sharedProcessors > 0)
    set(made, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, library.sharedProcessors);
  if (s.hasSumA || s.hasSumB)
    set(made, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, int32_t(CUDA_R_32F));
  if (s.hasAux) {
    set(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, s.n);
    set(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE,
        s.batch > 1 ? s.m * s.n : int64_t(0));
  }
  return owned;
}

MatrixLayout Planner::describe(int64_t dtype, int64_t rows, int64_t columns,
                               int64_t leading, int64_t batchStride) {
  cublasLtMatrixLayout_t made = nullptr;
  calls.MatrixLayoutCreate(&made, dataType(dtype), static_cast<uint64_t>(rows),
                           static_cast<uint64_t>(columns), leading);
  MatrixLayout owned(made, library.entries().MatrixLayoutDestroy);
  if (s.batch > 1) {
    set(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
        static_cast<int32_t>(s.batch));
    set(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, batchStride);
  }
  return owned;
}

/// The addresses that are part of an operation, whose alignment counts when it
/// is planned.
static void setAddresses(BlasLtCalls &calls, cublasLtMatmulDesc_t operation,
                         const GemmOperands &operands) {
  if (const void *bias = operands.biasOrSum())
    calls.MatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                 &bias, sizeof bias);
  if (operands.aux)
    calls.MatmulDescSetAttribute(operation,
                                 CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                                 &operands.aux, sizeof operands.aux);
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

/// Algorithms that the library is asked for: the first that will do is taken.
constexpr int kOffered = 16;

MatmulPreference Planner::prefer(const GemmOperands &operands, uint64_t most) {
  cublasLtMatmulPreference_t made = nullptr;
  calls.MatmulPreferenceCreate(&made);
  MatmulPreference owned(made, library.entries().MatmulPreferenceDestroy);
  const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE; // or none
  set(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most);
  set(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes);
  const GemmAlignments alignments = alignmentsOf(operands);
  auto align = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                   int operand) {
    set(made, attribute, static_cast<uint32_t>(alignments[operand]));
  };
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 1);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 0);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 2);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 2);
  return owned;
}

template <typename T>
T Planner::ask(const cublasLtMatmulAlgo_t &algorithm,
               cublasLtMatmulAlgoConfigAttributes_t attribute) {
  T value = 0;
  size_t written = 0;
  calls.MatmulAlgoConfigGetAttribute(&algorithm, attribute,
                                     static_cast<void *>(&value), sizeof value,
                                     &written);
  return value;
}

bool Planner::repeatsBits(const cublasLtMatmulAlgo_t &algorithm) {
  const auto scheme =
      ask<uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
  return scheme == CUBLASLT_REDUCTION_SCHEME_NONE ||
         scheme == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
}

Expected<std::vector<GemmAlgorithm>>
Planner::findAll(const GemmPlan &plan, const GemmOperands &operands,
                 uint64_t most) {
  MatmulPreference preference = prefer(operands, most);
  cublasLtMatmulHeuristicResult_t offered[kOffered] = {};
  int count = 0;
  calls.MatmulAlgoGetHeuristic(library.handle(), plan.operation.get(),
                               plan.first.get(), plan.second.get(),
                               plan.target.get(), plan.target.get(),
                               preference.get(), kOffered, &*offered, &count);
  if (calls.last() == CUBLAS_STATUS_NOT_SUPPORTED)
    calls.forgive(), count = 0;
  std::vector<GemmAlgorithm> found;
  for (int i = 0; i < count && calls.ok(); ++i)
    if (offered[i].state == CUBLAS_STATUS_SUCCESS &&
        offered[i].workspaceSize <= most && repeatsBits(offered[i].algo))
      found.push_back({offered[i].algo, offered[i].workspaceSize});
  if (!calls.ok())
    return calls.take().takeError();
  return found;
}

Error Planner::describeMissing(const GemmPlan &plan,
                               const GemmOperands &operands, uint64_t most) {
  auto larger = findAll(plan, operands, uint64_t(1) << 40);
  if (!larger)
    return larger.takeError();
  const std::string product = describeProduct(s);
  if (!larger->empty())
    return memoryError("expects an algorithm of cuBLASLt for ", product,
                       " that works in ", exactBytes(most),
                       ", but got one that takes ",
                       exactBytes(larger->front().workspaceBytes));
  const bool addsFactor = s.hasSumA || s.hasSumB;
  Error error(ExitCode::Device,
              concat("expects an algorithm of ", library.describe(), " for ",
                     product, ", but got none for epilogue ", s.epilogue,
                     addsFactor ? " and the sum of a factor" : ""));
  if (s.epilogue != WEFT_EPILOGUE_NONE || addsFactor)
    error.hint("compile with --epilogues=off");
  return error;
}

void Planner::describeAll(GemmPlan &plan, const GemmOperands &operands) {
  plan.operation = describeOperation();
  setAddresses(calls, plan.operation.get(), operands);
  plan.first = s.transB ? describe(s.dtype, s.k, s.n, s.ldb, s.batchStrideB)
                        : describe(s.dtype, s.n, s.k, s.ldb, s.batchStrideB);
  plan.second = s.transA ? describe(s.dtype, s.m, s.k, s.lda, s.batchStrideA)
                         : describe(s.dtype, s.k, s.m, s.lda, s.batchStrideA);
  plan.target = describe(s.dtypeC, s.n, s.m, s.ldc, s.batchStrideC);
}

/// Gives a plan its algorithm.
Status Planner::give(GemmPlan &plan, const cublasLtMatmulAlgo_t &algorithm,
                     size_t workspaceBytes) {
  plan.algorithm = algorithm;
  plan.workspaceBytes = workspaceBytes;
  plan.mayShare =
      workspaceBytes == 0 &&
      ask<uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) ==
          CUBLASLT_REDUCTION_SCHEME_NONE &&
      ask<int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM) <= 1;
  return calls.take();
}

/// Takes an algorithm that was measured, if it still is one.
Status Planner::take(GemmPlan &plan, const cublasLtMatmulAlgo_t &tuned,
                     uint64_t most) {
  auto refuse = [&](const std::string &what) {
    return inputError("expects an algorithm of ", library.describe(), " for ",
                      describeProduct(s), ", but got one ", what);
  };
  cublasLtMatmulHeuristicResult_t result = {};
  calls.MatmulAlgoCheck(library.handle(), plan.operation.get(),
                        plan.first.get(), plan.second.get(), plan.target.get(),
                        plan.target.get(), &tuned, &result);
  if (!calls.ok())
    return refuse(std::string("that it refuses with ") +
                  library.entries().GetStatusName(calls.last()));
  if (result.workspaceSize > most)
    return refuse("that works in " + exactBytes(result.workspaceSize));
  if (!repeatsBits(tuned))
    return calls.ok() ? refuse("whose partial sums are not f32") : calls.take();
  return give(plan, tuned, result.workspaceSize);
}

Expected<GemmPlan> Planner::plan(const GemmOperands &operands, uint64_t most,
                                 const cublasLtMatmulAlgo_t *tuned) {
  GemmPlan plan;
  describeAll(plan, operands);
  if (!calls.ok())
    return calls.take().takeError();
  if (tuned) {
    if (Status taken = take(plan, *tuned, most); !taken)
      return taken.takeError();
    return plan;
  }
  auto found = findAll(plan, operands, most);
  if (!found)
    return found.takeError();
  if (found->empty())
    return describeMissing(plan, operands, most);
  if (Status s =
          give(plan, found->front().algorithm, found->front().workspaceBytes);
      !s)
    return s.takeError();
  return plan;
}

Expected<GemmPlan> weft::cuda::makePlan(const BlasLt &library,
                                        const WeftGemmRecord &record,
                                        const GemmOperands &operands,
                                        int64_t workspaceBytes,
                                        const cublasLtMatmulAlgo_t *tuned) {
  return Planner(library, record)
      .plan(operands, static_cast<uint64_t>(workspaceBytes), tuned);
}

Expected<std::vector<GemmAlgorithm>>
weft::cuda::findAlgorithms(const BlasLt &library, const WeftGemmRecord &record,
                           const GemmPlan &plan, const GemmOperands &operands,
                           int64_t workspaceBytes) {
  return Planner(library, record)
      .findAll(plan, operands, static_cast<uint64_t>(workspaceBytes));
}

/// All multiprocessors, or as many as collectives leave. One plan serves calls
/// of both kinds.
static void setProcessors(BlasLtCalls &calls, const BlasLt &library,
                          const GemmPlan &plan, bool shares) {
  if (library.sharedProcessors == 0)
    return;
  const int32_t target = shares && plan.mayShare ? library.sharedProcessors : 0;
  calls.MatmulDescSetAttribute(plan.operation.get(),
                               CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, &target,
                               sizeof target);
}

Status weft::cuda::enqueue(const BlasLt &library, const GemmPlan &plan,
                           const GemmOperands &operands, GemmCall call,
                           void *workspace, void *stream) {
  const float one = 1.0f, beta = call.adds ? 1.0f : 0.0f;
  BlasLtCalls calls(library);
  setProcessors(calls, library, plan, call.shares);
  setAddresses(calls, plan.operation.get(), operands);
  calls.Matmul(library.handle(), plan.operation.get(), &one, operands.b,
               plan.first.get(), operands.a, plan.second.get(), &beta,
               operands.c, plan.target.get(), operands.c, plan.target.get(),
               &plan.algorithm, plan.workspaceBytes ? workspace : nullptr,
               plan.workspaceBytes, static_cast<cudaStream_t>(stream));
  return calls.take();
}
