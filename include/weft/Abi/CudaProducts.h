//===- CudaProducts.h - Products that cuBLASLt computes ---------*- C++ -*-===//
//
// Rules for a WeftGemmRecord that cuBLASLt computes in one call, shared by the
// compiler and the routine. Plain arithmetic: no CUDA header, no device.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_CUDAPRODUCTS_H
#define WEFT_ABI_CUDAPRODUCTS_H

#include "weft/Abi/CpuProducts.h"

namespace weft {

/// Whether there is nothing to multiply: the result is empty, or only the bias
/// and the old content.
inline bool isEmptyProduct(const WeftGemmRecord &s) {
  return s.batch == 0 || s.m == 0 || s.n == 0 || s.k == 0;
}

/// The reason why cuBLASLt cannot sum a factor over k in the call of the
/// product, as text for a diagnostic, or "".
///
/// Its bias gradients of a factor (BGRADA, BGRADB) are epilogues, and a call
/// has one epilogue. They have the type of C. No document says whether cuBLASLt
/// supports them for other types of C and for batches.
inline std::string findWrongSums(const WeftGemmRecord &s) {
  auto say = [](const char *rule, int64_t value) {
    return std::string("expects ") + rule + ", but got " +
           std::to_string(value);
  };
  if (!s.hasSumA && !s.hasSumB)
    return "";
  if (s.hasSumA && s.hasSumB)
    return "expects the sum of one factor, but got both";
  if (s.epilogue != WEFT_EPILOGUE_NONE)
    return say("the sum of a factor without an epilogue", s.epilogue);
  if (s.hasBias || s.hasColumnSum)
    return std::string("expects only the sum of a factor, but got ") +
           (s.hasBias ? "a bias" : "a column sum");
  if (s.dtypeC != WEFT_F32)
    return say("the sum of a factor of the type of C, f32 (0)", s.dtypeC);
  if (s.batch != 1)
    return say("the sum of a factor of one matrix", s.batch);
  if (s.m < 1 || s.n < 1)
    return say("the sum of a factor only with a product that has elements",
               std::min(s.m, s.n));
  return "";
}

/// The reason why cuBLASLt has no epilogue for the operations around the
/// product, as text for a diagnostic, or "".
///
/// cuBLASLt is column-major, so a row of C is a column to it. A bias over the
/// columns of C, and their sums, run along its rows, as it requires.
inline std::string findWrongEpilogue(WeftGemmRecord s) {
  auto say = [](const char *rule, int64_t value) {
    return std::string("expects ") + rule + ", but got " +
           std::to_string(value);
  };
  const std::string wrongSums = findWrongSums(s);
  mergeBatch(s);
  const bool isGradient = s.epilogue == WEFT_EPILOGUE_RELU_GRAD ||
                          s.epilogue == WEFT_EPILOGUE_GELU_GRAD;
  if (s.epilogue < WEFT_EPILOGUE_NONE || s.epilogue > WEFT_EPILOGUE_GELU_GRAD)
    return say("an epilogue of 0 to 4", s.epilogue);
  if (s.epilogue == WEFT_EPILOGUE_RELU_GRAD ||
      (s.epilogue == WEFT_EPILOGUE_RELU && s.hasAux))
    return say("no aux of relu, of which cuBLASLt keeps bits", s.epilogue);
  if (s.epilogue == WEFT_EPILOGUE_NONE && s.hasAux)
    return say("an epilogue that has an aux", s.epilogue);
  if (isGradient && !s.hasAux)
    return say("an aux for a gradient", s.hasAux);
  if (isGradient && s.hasBias)
    return say("a gradient without bias", s.hasBias);
  if (s.hasAux && s.n % 8 != 0)
    return say("rows of aux of a multiple of 8 elements", s.n);
  if (s.hasBias && s.dtype != s.dtypeC)
    return say("a bias of the type of C", s.dtype);
  if (s.hasColumnSum && s.epilogue != WEFT_EPILOGUE_GELU_GRAD)
    return say("a column sum only with gelu_grad (4)", s.epilogue);
  if (s.hasColumnSum && s.dtypeC != WEFT_F32)
    return say("a column sum of the type of C, f32 (0)", s.dtypeC);
  if (s.hasColumnSum && s.batch > 1)
    return say("a column sum of one matrix", s.batch);
  return wrongSums;
}

/// The rule that the record breaks, as text for a diagnostic, or "". Sizes may
/// be 0.
inline std::string findWrongCudaProduct(const WeftGemmRecord &s) {
  WeftGemmRecord whole = s;
  if (isEmptyProduct(s) && std::min({s.batch, s.m, s.n, s.k}) == 0) {
    for (int64_t *size : {&whole.batch, &whole.m, &whole.n, &whole.k})
      *size = std::max<int64_t>(*size, 1);
    for (int64_t *stride : {&whole.lda, &whole.ldb, &whole.ldc})
      *stride = std::max<int64_t>(*stride, 1);
  }
  std::string wrong = findWrongProduct(whole);
  return wrong.empty() ? findWrongEpilogue(s) : wrong;
}

/// Workspace bytes for cuBLASLt; from sm_90 on the size that NVIDIA recommends.
/// Commands of a stream run one after another, so all its products share one
/// workspace.
inline int64_t cudaGemmWorkspaceBytes(const WeftGemmRecord &s, int64_t chip) {
  return chip >= 90 ? int64_t(32) << 20 : int64_t(8) << 20;
}

} // namespace weft

/// Computes weft_cpu_gemm (CpuRoutineAbi.h) with all buffers in device memory.
/// Sizes may be 0. A workspace of cudaGemmWorkspaceBytes() follows the other
/// buffers. The flag of accumulate is an input of the program. aux is dense and
/// has the type of C.
extern "C" void weft_cuda_gemm(WeftContext *context, const WeftCommand *command,
                               void *const *buffers);
/// Does the one-time work of a command before its first call: it chooses the
/// algorithm, also by the alignment of the buffers. Reports the errors of the
/// call: exit 4 if no algorithm fits the workspace.
extern "C" void weft_cuda_gemm_prepare(WeftContext *context,
                                       const WeftCommand *command,
                                       void *const *buffers);

#endif // WEFT_ABI_CUDAPRODUCTS_H
