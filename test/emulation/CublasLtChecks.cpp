//===- CublasLtChecks.cpp - Checks of the emulated cuBLASLt ---------------===//

#include "CublasLtObjects.h"
#include "Settings.h"

#include <algorithm>
#include <cstdlib>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Rules for products
//===----------------------------------------------------------------------===//

static uint32_t typeBytes(uint32_t type) { return type == CUDA_R_32F ? 4 : 2; }

static bool isRightComputeType(const Product &p) {
  return p.operation.computeType == CUBLAS_COMPUTE_32F ||
         (p.isTf32() && p.a.type == CUDA_R_32F);
}

int32_t allProcessors() { return processorSetting(); }

static cublasStatus_t checkProcessors(const Product &p) {
  return p.operation.processors >= 0 &&
                 p.operation.processors <= allProcessors()
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_INVALID_VALUE;
}

static cublasStatus_t checkTypes(const Product &p) {
  const uint32_t type = p.a.type, result = p.d.type;
  const bool isKnown =
      type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
  if (!isRightComputeType(p) || p.operation.scaleType != CUDA_R_32F ||
      !isKnown || p.b.type != type || p.c.type != result ||
      (result != type && result != CUDA_R_32F) ||
      p.operation.pointerMode != CUBLASLT_POINTER_MODE_HOST ||
      p.operation.transC != CUBLAS_OP_N)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

/// Whether the matrices of a layout are ones, and lie apart where they are
/// written.
static bool isRightLayout(const Layout &layout, bool isWritten) {
  const bool byColumns = layout.order == CUBLASLT_ORDER_COL;
  const auto width =
      static_cast<int64_t>(byColumns ? layout.rows : layout.columns);
  const auto lines =
      static_cast<int64_t>(byColumns ? layout.columns : layout.rows);
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW)
    return false;
  if (width < 1 || lines < 1 || layout.ld < width || layout.batch < 1)
    return false;
  return !isWritten || layout.batch == 1 ||
         layout.stride >= (lines - 1) * layout.ld + width;
}

static cublasStatus_t checkShapes(const Product &p) {
  const bool swapA = p.operation.transA != CUBLAS_OP_N;
  const bool swapB = p.operation.transB != CUBLAS_OP_N;
  const uint64_t m = swapA ? p.a.columns : p.a.rows;
  const uint64_t k = swapA ? p.a.rows : p.a.columns;
  const uint64_t depth = swapB ? p.b.columns : p.b.rows;
  const uint64_t n = swapB ? p.b.rows : p.b.columns;
  const bool fits = k == depth && p.d.rows == m && p.d.columns == n &&
                    p.c.rows == m && p.c.columns == n &&
                    p.a.batch == p.d.batch && p.b.batch == p.d.batch &&
                    p.c.batch == p.d.batch;
  return fits && isRightLayout(p.a, false) && isRightLayout(p.b, false) &&
                 isRightLayout(p.c, true) && isRightLayout(p.d, true)
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_INVALID_VALUE;
}

static bool isKnownEpilogue(uint32_t epilogue) {
  switch (epilogue) {
  case CUBLASLT_EPILOGUE_DEFAULT:
  case CUBLASLT_EPILOGUE_BIAS:
  case CUBLASLT_EPILOGUE_RELU:
  case CUBLASLT_EPILOGUE_RELU_BIAS:
  case CUBLASLT_EPILOGUE_GELU:
  case CUBLASLT_EPILOGUE_GELU_BIAS:
  case CUBLASLT_EPILOGUE_GELU_AUX:
  case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
  case CUBLASLT_EPILOGUE_DGELU:
  case CUBLASLT_EPILOGUE_DGELU_BGRAD:
  case CUBLASLT_EPILOGUE_BGRADA:
  case CUBLASLT_EPILOGUE_BGRADB:
    return true;
  default:
    return false;
  }
}

static cublasStatus_t checkEpilogue(const Product &p) {
  const Operation &o = p.operation;
  const auto type = static_cast<int32_t>(p.d.type);
  const bool sumsFactor = p.sumsA() || p.sumsB();
  const bool hasBias =
      (o.epilogue & (CUBLASLT_EPILOGUE_BIAS | 16)) || sumsFactor;
  const bool hasAux = o.epilogue & 128;
  if (!isKnownEpilogue(o.epilogue) ||
      (o.epilogue != CUBLASLT_EPILOGUE_DEFAULT &&
       p.d.order != CUBLASLT_ORDER_COL) ||
      (hasBias && o.biasType >= 0 && o.biasType != type) ||
      (sumsFactor && (type != CUDA_R_32F || p.d.batch != 1)) ||
      (hasAux && o.auxType >= 0 && o.auxType != type))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto rows = static_cast<int64_t>(p.d.rows);
  const auto columns = static_cast<int64_t>(p.d.columns);
  const bool auxFits =
      o.aux && o.auxLd % 8 == 0 && o.auxLd >= rows && o.auxStride % 8 == 0 &&
      (p.d.batch == 1 || o.auxStride >= (columns - 1) * o.auxLd + rows);
  if ((hasBias && !o.bias) || (hasAux && !auxFits))
    return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t checkProduct(const Product &p) {
  for (auto check : {checkProcessors, checkTypes, checkShapes, checkEpilogue})
    if (cublasStatus_t status = check(p))
      return status;
  return CUBLAS_STATUS_SUCCESS;
}

/// Of what an algorithm is chosen by: not of addresses and factors.
static uint64_t digestOf(const Product &p) {
  uint64_t digest = 14695981039346656037u;
  auto add = [&](int64_t value) {
    digest = (digest ^ static_cast<uint64_t>(value)) * 1099511628211u;
  };
  for (const Layout *layout : {&p.a, &p.b, &p.c, &p.d})
    for (int64_t value : {int64_t(layout->type), int64_t(layout->order),
                          int64_t(layout->rows), int64_t(layout->columns),
                          layout->ld, int64_t(layout->batch), layout->stride})
      add(value);
  for (int64_t value :
       {int64_t(p.operation.transA), int64_t(p.operation.transB),
        int64_t(p.operation.computeType), int64_t(p.operation.epilogue),
        int64_t(p.operation.biasType), p.operation.auxLd,
        p.operation.auxStride})
    add(value);
  return digest;
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

static uint64_t neededWorkspace() {
  return numberSetting("WEFT_EMULATION_WORKSPACE", 0);
}

/// As many as the real library has of each way to cut K. It has one for each
/// size of tiles, so a short list may contain only one way.
constexpr int kPerScheme = 16;

/// K in two parts, where it is long: parts that are rounded to the type of D
/// before they meet, parts that meet in C, parts that meet as f32 in the
/// workspace. Then one part. In this order, as the real library puts first what
/// is fast. With fewer multiprocessors one part is faster up to a longer K: the
/// algorithm depends on them, as it may in the real library.
std::vector<Algorithm> algorithmsFor(const Product &p, const Preference &wish) {
  Algorithm plain = {};
  plain.product = digestOf(p);
  plain.parts = 1;
  plain.workspaceBytes = neededWorkspace();
  const uint32_t alignments[] = {wish.alignmentA, wish.alignmentB,
                                 wish.alignmentC, wish.alignmentD};
  for (int i = 0; i < 4; ++i)
    plain.alignments[i] =
        static_cast<uint8_t>(std::min<uint32_t>(alignments[i], 16));
  Algorithm inPlace = plain, second = plain, third = plain;
  inPlace.parts = 2;
  second.number = 1, third.number = 2, inPlace.number = 3;
  inPlace.scheme = CUBLASLT_REDUCTION_SCHEME_INPLACE;
  Algorithm rounded = inPlace, split = inPlace;
  rounded.scheme = CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  split.scheme = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  rounded.workspaceBytes = split.workspaceBytes =
      std::max<uint64_t>(plain.workspaceBytes, 4 * p.d.rows * p.d.columns);
  std::vector<Algorithm> all;
  const bool isLimited = p.processors() < allProcessors();
  if (p.depth() >= (isLimited ? 128 : 64)) {
    all.assign(kPerScheme, rounded);
    all.insert(all.end(), kPerScheme, inPlace);
    all.push_back(split);
  }
  all.insert(all.end(), {plain, second, third});
  std::vector<Algorithm> allowed;
  for (const Algorithm &one : all)
    if (one.workspaceBytes <= wish.workspaceBytes &&
        (one.scheme == 0 || (one.scheme & wish.schemes)))
      allowed.push_back(one);
  return allowed;
}

cublasStatus_t checkAlgorithm(const Product &p) {
  const bool isKnown = p.algorithm.product == digestOf(p) &&
                       p.algorithm.parts >= 1 && p.algorithm.parts <= 2 &&
                       p.algorithm.number >= 0 && p.algorithm.number <= 3;
  return isKnown ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

double millisecondsOf(const Algorithm &algorithm) {
  const auto turn = static_cast<uint64_t>(algorithm.number) + algorithm.product;
  return 1000.0 + 1000.0 * static_cast<double>(turn % 4);
}

static bool isAligned(const void *address, uint64_t alignment) {
  return reinterpret_cast<uintptr_t>(address) % alignment == 0;
}

/// Whether a call may use its algorithm and addresses.
cublasStatus_t checkCall(const Product &p, size_t workspaceBytes) {
  const void *data[] = {p.dataA, p.dataB, p.dataC, p.dataD};
  const uint32_t types[] = {p.a.type, p.b.type, p.c.type, p.d.type};
  for (int i = 0; i < 4; ++i)
    if (!data[i] || !isAligned(data[i], typeBytes(types[i])) ||
        !isAligned(data[i], std::max<int>(p.algorithm.alignments[i], 1)))
      return CUBLAS_STATUS_INVALID_VALUE;
  if (checkAlgorithm(p) ||
      p.algorithm.scheme == CUBLASLT_REDUCTION_SCHEME_INPLACE)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool fits = p.algorithm.workspaceBytes <= workspaceBytes &&
                    (workspaceBytes == 0 || p.workspace) &&
                    isAligned(p.workspace, 16);
  return fits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

} // namespace weft::emulation
