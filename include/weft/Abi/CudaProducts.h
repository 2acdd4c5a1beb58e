//===- CudaProducts.h - Products that cuBLASLt computes ---------*- C++ -*-===//
//
// What compiler and routine have to say alike of a WeftGemmRecord that cuBLASLt
// computes in one call. Plain arithmetic: no header of CUDA, no device.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_CUDAPRODUCTS_H
#define WEFT_ABI_CUDAPRODUCTS_H

#include "weft/Abi/CpuProducts.h"

namespace weft {

/// Whether there is nothing to multiply: the result has no element, or is the
/// bias and the old content alone.
inline bool isEmptyProduct(const WeftGemmRecord &s) {
  return s.batch == 0 || s.m == 0 || s.n == 0 || s.k == 0;
}

/// Why cuBLASLt does not add up a factor over k beside the product, as an error
/// says it, or "".
///
/// Its bias gradients of a factor (BGRADA, BGRADB) are epilogues like others,
/// of which a call has one; they have the type of C. Whether it has them for
/// the other types of C, and for batches, is not written anywhere.
inline std::string findWrongSums(const WeftGemmRecord &s) {
  auto say = [](const char *rule, int64_t value) {
    return std::string("expects ") + rule + ", but got " +
           std::to_string(value);
  };
  if (!s.hasSumA && !s.hasSumB)
    return "";
  if (s.hasSumA && s.hasSumB)
    return "expects the sum of one factor, but got those of both";
  if (s.epilogue != WEFT_EPILOGUE_NONE)
    return say("the sum of a factor without an epilogue", s.epilogue);
  if (s.hasBias || s.hasColumnSum)
    return std::string("expects the sum of a factor alone, but got ") +
           (s.hasBias ? "a bias" : "a column sum");
  if (s.dtypeC != WEFT_F32)
    return say("the sum of a factor of the type of C, f32 (0)", s.dtypeC);
  if (s.batch != 1)
    return say("the sum of a factor of one matrix", s.batch);
  if (s.m < 1 || s.n < 1)
    return say("the sum of a factor beside a product with elements",
               std::min(s.m, s.n));
  return "";
}

/// Why cuBLASLt has no epilogue for what stands around the product, as an error
/// says it, or "".
///
/// Rows of C are columns to cuBLASLt, which is column-major: a bias over the
/// columns of C and sums of them lie along its rows, as it wants them.
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
    return say("a column sum beside gelu_grad (4) alone", s.epilogue);
  if (s.hasColumnSum && s.dtypeC != WEFT_F32)
    return say("a column sum of the type of C, f32 (0)", s.dtypeC);
  if (s.hasColumnSum && s.batch > 1)
    return say("a column sum of one matrix", s.batch);
  return wrongSums;
}

/// Whether one call of cuBLASLt does all that the record says beside the
/// product itself; aux has the type of C.
inline bool supportsEpilogue(const WeftGemmRecord &record) {
  return findWrongEpilogue(record).empty();
}

/// A rule that the record breaks, as an error says it, or "". Sizes may be 0.
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

/// What cuBLASLt may work in: from sm_90 on as much as NVIDIA advises. Commands
/// of a stream run one after the other, so that all its products share it.
inline int64_t cudaGemmWorkspaceBytes(const WeftGemmRecord &s, int64_t chip) {
  return chip >= 90 ? int64_t(32) << 20 : int64_t(8) << 20;
}

} // namespace weft

/// As weft_cpu_gemm (CpuRoutineAbi.h), with all buffers in the memory of the
/// device; sizes may be 0, and a workspace of cudaGemmWorkspaceBytes() stands
/// behind the other buffers. The flag of accumulate is an input of the program.
/// aux is dense and has the type of C.
extern "C" void weft_cuda_gemm(WeftContext *context, const WeftCommand *command,
                               void *const *buffers);
/// Does ahead of a call what only its first run has to do: the algorithm is
/// chosen, by the alignment of the buffers too. Reports what the call would:
/// exit 4 where no algorithm works in the workspace.
extern "C" void weft_cuda_gemm_prepare(WeftContext *context,
                                       const WeftCommand *command,
                                       void *const *buffers);

#endif // WEFT_ABI_CUDAPRODUCTS_H
