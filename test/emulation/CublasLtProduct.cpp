//===- CublasLtProduct.cpp - Products of the emulated cuBLASLt ------------===//

#include "CublasLtObjects.h"
#include "LibraryWork.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Stored storedAs(uint32_t type) {
  return type == CUDA_R_16F    ? Stored::F16
         : type == CUDA_R_16BF ? Stored::Bf16
                               : Stored::F32;
}

static int64_t bytesOf(uint32_t type) { return bytesOf(storedAs(type)); }

static void use(const void *data, int64_t bytes, bool isWrite) {
  use(data, bytes, isWrite, "cublasLtMatmul");
}

/// All elements of a matrix, but not what lies between its lines.
static void use(const void *data, const Layout &layout, int64_t matrix,
                bool isWrite) {
  const bool byColumns = layout.order == CUBLASLT_ORDER_COL;
  const auto width =
      static_cast<int64_t>(byColumns ? layout.rows : layout.columns);
  const auto lines =
      static_cast<int64_t>(byColumns ? layout.columns : layout.rows);
  const int64_t bytes = bytesOf(layout.type);
  for (int64_t line = 0; line < lines; ++line)
    use(static_cast<const char *>(data) +
            (matrix * layout.stride + line * layout.ld) * bytes,
        width * bytes, isWrite);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static float load(const void *data, uint32_t type, int64_t at) {
  return loadElement(data, storedAs(type), at);
}

static void store(void *data, uint32_t type, int64_t at, float value) {
  storeElement(data, storedAs(type), at, value);
}

static float roundTo(uint32_t type, float value) {
  store(&value, type, 0, value);
  return load(&value, type, 0);
}

/// To 10 bits of the mantissa, ties to even.
static float roundToTf32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7f800000) != 0x7f800000)
    bits = (bits + 0xfff + (bits >> 13 & 1)) & ~uint32_t(0x1fff);
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

/// A factor as it stands in the product, row-major.
static std::vector<float> read(const void *data, const Layout &layout,
                               int32_t transpose, int64_t matrix, bool isTf32) {
  const bool swapped = transpose != CUBLAS_OP_N;
  const auto rows =
      static_cast<int64_t>(swapped ? layout.columns : layout.rows);
  const auto columns =
      static_cast<int64_t>(swapped ? layout.rows : layout.columns);
  use(data, layout, matrix, /*isWrite=*/false);
  std::vector<float> values(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      values[i * columns + j] =
          load(data, layout.type,
               swapped ? layout.at(matrix, j, i) : layout.at(matrix, i, j));
  if (isTf32)
    std::transform(values.begin(), values.end(), values.begin(), roundToTf32);
  return values;
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

constexpr float kRoot = 0.7978845608f, kCube = 0.044715f; // sqrt(2 / pi)

static float gelu(float x) {
  return 0.5f * x * (1.0f + std::tanh(kRoot * (x + kCube * x * x * x)));
}

static float geluGrad(float x) {
  const float t = std::tanh(kRoot * (x + kCube * x * x * x));
  return 0.5f * (1.0f + t) +
         0.5f * x * (1.0f - t * t) * kRoot * (1.0f + 3.0f * kCube * x * x);
}

/// The element of D at a place whose sum, with the old content, is `x`.
static float finish(const Product &p, float x, int64_t matrix, int64_t i,
                    int64_t j) {
  const Operation &o = p.operation;
  const uint32_t auxType =
      o.auxType < 0 ? p.d.type : static_cast<uint32_t>(o.auxType);
  const int64_t place = matrix * o.auxStride + i + j * o.auxLd;
  if (o.epilogue == CUBLASLT_EPILOGUE_DGELU ||
      o.epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD)
    return x * geluGrad(load(o.aux, auxType, place));
  if (o.epilogue & CUBLASLT_EPILOGUE_BIAS)
    x += load(o.bias, p.d.type, matrix * o.biasStride + i);
  if (o.epilogue & 128)
    store(o.aux, auxType, place, x);
  if (o.epilogue & CUBLASLT_EPILOGUE_RELU)
    return x > 0.0f ? x : x * 0.0f; // NaN stays
  return o.epilogue & CUBLASLT_EPILOGUE_GELU ? gelu(x) : x;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Where a part of K begins. It depends on the multiprocessors that run it:
/// only K in one part has the same bits on all numbers of them.
static int64_t beginOf(const Product &p, int32_t part) {
  const int64_t parts = p.algorithm.parts;
  if (part == 0 || part == parts)
    return p.depth() * part / parts;
  return p.depth() * part * p.processors() / (parts * allProcessors());
}

/// Sums over one part of K, as rows of the product.
static std::vector<float> sumPart(const Product &p, const std::vector<float> &a,
                                  const std::vector<float> &b, int32_t part) {
  const auto rows = static_cast<int64_t>(p.d.rows);
  const auto columns = static_cast<int64_t>(p.d.columns);
  const int64_t depth = p.depth();
  const int64_t begin = beginOf(p, part), end = beginOf(p, part + 1);
  std::vector<float> sums(rows * columns, 0.0f);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = begin; k < end; ++k)
      for (int64_t j = 0; j < columns; ++j)
        sums[i * columns + j] += a[i * depth + k] * b[k * columns + j];
  return sums;
}

/// A factor over K, into the bias.
static void sumFactor(const Product &p, const std::vector<float> &a,
                      const std::vector<float> &b) {
  const int64_t depth = p.depth();
  const auto size = static_cast<int64_t>(p.sumsA() ? p.d.rows : p.d.columns);
  use(p.operation.bias, size * bytesOf(p.d.type), /*isWrite=*/true);
  for (int64_t i = 0; i < size; ++i) {
    float sum = 0.0f;
    for (int64_t k = 0; k < depth; ++k)
      sum += p.sumsA() ? a[i * depth + k] : b[k * size + i];
    store(p.operation.bias, p.d.type, i, sum);
  }
}

/// Sums of all parts; where there are some they meet in the workspace, as f32
/// or, each of them rounded, in the type of D.
static std::vector<float> sumAll(const Product &p, int64_t matrix) {
  const std::vector<float> a =
      read(p.dataA, p.a, p.operation.transA, matrix, p.isTf32());
  const std::vector<float> b =
      read(p.dataB, p.b, p.operation.transB, matrix, p.isTf32());
  if (p.sumsA() || p.sumsB())
    sumFactor(p, a, b);
  const bool roundsParts =
      p.algorithm.scheme == CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  auto sum = [&](int32_t part) {
    std::vector<float> sums = sumPart(p, a, b, part);
    for (float &x : sums)
      x = roundsParts ? roundTo(p.d.type, x) : x;
    return sums;
  };
  std::vector<float> sums = sum(0);
  for (int32_t part = 1; part < p.algorithm.parts; ++part) {
    auto *room = static_cast<float *>(p.workspace);
    std::copy(sums.begin(), sums.end(), room);
    sums = sum(part);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += room[i];
  }
  return sums;
}

/// Marks the operands and results other than the two factors as used.
static void useRest(const Product &p, int64_t matrix) {
  const Operation &o = p.operation;
  const bool isGradient =
      (o.epilogue & CUBLASLT_EPILOGUE_DGELU) == CUBLASLT_EPILOGUE_DGELU;
  const bool hasSums = o.epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD;
  const int64_t bytes = bytesOf(p.d.type);
  if (p.beta != 0.0f)
    use(p.dataC, p.c, matrix, /*isWrite=*/false);
  use(p.dataD, p.d, matrix, /*isWrite=*/true);
  if ((o.epilogue & CUBLASLT_EPILOGUE_BIAS) || hasSums)
    use(static_cast<char *>(o.bias) + matrix * o.biasStride * bytes,
        static_cast<int64_t>(p.d.rows) * bytes, hasSums);
  Layout aux = p.d;
  aux.ld = o.auxLd, aux.stride = o.auxStride;
  if (o.epilogue & 128)
    use(o.aux, aux, matrix, !isGradient);
}

void multiply(const Product &p) {
  const auto rows = static_cast<int64_t>(p.d.rows);
  const auto columns = static_cast<int64_t>(p.d.columns);
  // Whoever keeps something in the workspace loses it.
  if (p.algorithm.workspaceBytes) {
    use(p.workspace, static_cast<int64_t>(p.algorithm.workspaceBytes), true);
    std::memset(p.workspace, 0xFF, p.algorithm.workspaceBytes);
  }
  spend(millisecondsOf(p.algorithm));
  for (int64_t matrix = 0; matrix < p.d.batch; ++matrix) {
    const std::vector<float> sums = sumAll(p, matrix);
    useRest(p, matrix);
    for (int64_t i = 0; i < rows; ++i) {
      float rowSum = 0.0f;
      for (int64_t j = 0; j < columns; ++j) {
        float x = p.alpha * sums[i * columns + j];
        if (p.beta != 0.0f)
          x += p.beta * load(p.dataC, p.c.type, p.c.at(matrix, i, j));
        x = finish(p, x, matrix, i, j);
        store(p.dataD, p.d.type, p.d.at(matrix, i, j), x);
        rowSum += x;
      }
      if (p.operation.epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD)
        store(p.operation.bias, p.d.type, matrix * p.operation.biasStride + i,
              rowSum);
    }
  }
}

} // namespace weft::emulation
