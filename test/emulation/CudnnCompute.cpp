//===- CudnnCompute.cpp - Graphs of the emulated cuDNN --------------------===//
//
// Every tensor of a graph as f32 values in the order of its sizes, rounded to
// its type; every operation a loop. Sums that a graph has in memory are added
// up in an order that WEFT_EMULATION_SEED decides: real ones have none.
//
//===----------------------------------------------------------------------===//

#include "CudnnObjects.h"
#include "LibraryWork.h"
#include "Settings.h"

#include "weft/Base/Half.h"

#include <algorithm>
#include <cmath>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static int64_t countOf(const Sizes &s) { return s[0] * s[1] * s[2] * s[3]; }

/// The index of an element in a tensor of these sizes; a size of 1 stands for
/// all.
static int64_t at(const Sizes &s, int64_t b, int64_t h, int64_t i, int64_t j) {
  auto pick = [](int64_t size, int64_t index) { return size == 1 ? 0 : index; };
  return ((pick(s[0], b) * s[1] + pick(s[1], h)) * s[2] + pick(s[2], i)) *
             s[3] +
         pick(s[3], j);
}

template <typename Fn> static void forEach(const Sizes &s, Fn fn) {
  for (int64_t b = 0; b < s[0]; ++b)
    for (int64_t h = 0; h < s[1]; ++h)
      for (int64_t i = 0; i < s[2]; ++i)
        for (int64_t j = 0; j < s[3]; ++j)
          fn(b, h, i, j);
}

static Stored storedAs(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF       ? Stored::F16
         : type == CUDNN_DATA_BFLOAT16 ? Stored::Bf16
                                       : Stored::F32;
}

static float rounded(cudnnDataType_t type, float value) {
  if (type == CUDNN_DATA_HALF)
    return halfToFloat(floatToHalf(value));
  if (type == CUDNN_DATA_BFLOAT16)
    return bf16ToFloat(floatToBf16(value));
  return value;
}

static int64_t offset(const TensorView &t, int64_t b, int64_t h, int64_t i,
                      int64_t j) {
  return b * t.strides[0] + h * t.strides[1] + i * t.strides[2] +
         j * t.strides[3];
}

/// All elements of a tensor in memory, but not what lies between its rows.
static void useTensor(const TensorView &t, char *data, bool isWrite) {
  const int inner = t.strides[3] == 1 && t.sizes[3] > 1 ? 3 : 2;
  const int64_t bytes = bytesOf(storedAs(t.type));
  Sizes rows = t.sizes;
  rows[inner] = 1;
  const int64_t width = t.strides[inner] == 1 ? t.sizes[inner] : 1;
  forEach(rows, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    use(data + offset(t, b, h, i, j) * bytes, width * bytes, isWrite,
        "cudnnBackendExecute");
  });
}

static std::vector<float> loadTensor(const TensorView &t, char *data) {
  useTensor(t, data, /*isWrite=*/false);
  std::vector<float> values(countOf(t.sizes));
  forEach(t.sizes, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    values[at(t.sizes, b, h, i, j)] =
        loadElement(data, storedAs(t.type), offset(t, b, h, i, j));
  });
  return values;
}

static void storeTensor(const TensorView &t, char *data,
                        const std::vector<float> &values) {
  useTensor(t, data, /*isWrite=*/true);
  forEach(t.sizes, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    storeElement(data, storedAs(t.type), offset(t, b, h, i, j),
                 values[at(t.sizes, b, h, i, j)]);
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

using Values = std::vector<float>;

/// The term of a row that a product adds first.
static int64_t findFirst(const OperationView &o) {
  const TensorView &y = o.to[0];
  if (y.isVirtual || y.type != CUDNN_DATA_FLOAT)
    return 0;
  return static_cast<int64_t>(numberSetting("WEFT_EMULATION_SEED", 0) %
                              static_cast<uint64_t>(o.from[0].sizes[3]));
}

/// The heads of the second factor may serve several of the first.
static void multiply(const OperationView &o, const Values &a, const Values &b,
                     Values &y) {
  const Sizes &sa = o.from[0].sizes, &sb = o.from[1].sizes, &s = o.to[0].sizes;
  const int64_t group = s[1] / sb[1], first = findFirst(o);
  for (int64_t n = 0; n < s[0]; ++n)
    for (int64_t h = 0; h < s[1]; ++h)
      for (int64_t i = 0; i < s[2]; ++i)
        for (int64_t term = 0; term < sa[3]; ++term)
          for (int64_t j = 0, k = (first + term) % sa[3]; j < s[3]; ++j)
            y[at(s, n, h, i, j)] +=
                a[((n * sa[1] + h) * sa[2] + i) * sa[3] + k] *
                b[((n * sb[1] + h / group) * sb[2] + k) * sb[3] + j];
}

static float applyMode(int mode, float x, float b, float t) {
  switch (mode) {
  case CUDNN_POINTWISE_ADD:
    return x + b;
  case CUDNN_POINTWISE_MUL:
    return x * b;
  case CUDNN_POINTWISE_SUB:
    return x - b;
  case CUDNN_POINTWISE_DIV:
    return x / b;
  case CUDNN_POINTWISE_EXP:
    return std::exp(x);
  case CUDNN_POINTWISE_LOG:
    return std::log(x);
  case CUDNN_POINTWISE_CMP_GE:
    return x >= b ? 1.0f : 0.0f;
  case CUDNN_POINTWISE_IDENTITY:
    return x;
  default: // a selection, which is all that forms of attention have beside
    return t != 0.0f ? x : b;
  }
}

static void apply(const OperationView &o, const std::vector<const Values *> &x,
                  Values &y) {
  const Sizes &s = o.to[0].sizes;
  forEach(s, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    float &to = y[at(s, b, h, i, j)];
    if (o.mode == CUDNN_POINTWISE_GEN_INDEX) {
      to = static_cast<float>(o.axis == 2 ? i : j);
      return;
    }
    float operands[3] = {};
    for (size_t k = 0; k < x.size(); ++k)
      operands[k] = (*x[k])[at(o.from[k].sizes, b, h, i, j)];
    to = applyMode(o.mode, operands[0], operands[1], operands[2]);
  });
}

/// Over rows, or over the heads that share one of the result.
static void reduce(const OperationView &o, const Values &x, Values &y) {
  const Sizes &sx = o.from[0].sizes, &s = o.to[0].sizes;
  const bool isMax = o.mode == CUDNN_REDUCE_TENSOR_MAX;
  const int64_t group = sx[1] / s[1];
  if (isMax)
    std::fill(y.begin(), y.end(), -INFINITY);
  forEach(sx, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    float &to =
        y[((b * s[1] + h / group) * s[2] + i) * s[3] + (s[3] == 1 ? 0 : j)];
    const float value = x[at(sx, b, h, i, j)];
    // A maximum propagates NaN.
    to = !isMax ? to + value : value > to || value != value ? value : to;
  });
}

static void turn(const OperationView &o, const Values &x, Values &y) {
  const Sizes &s = o.to[0].sizes;
  forEach(s, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    y[at(s, b, h, i, j)] = x[at(o.from[0].sizes, b, h, j, i)];
  });
}

static Values run(const OperationView &o,
                  const std::vector<const Values *> &x) {
  Values y(countOf(o.to[0].sizes), 0.0f);
  switch (o.kind) {
  case OperationView::Matmul:
    multiply(o, *x[0], *x[1], y);
    break;
  case OperationView::Pointwise:
    apply(o, x, y);
    break;
  case OperationView::Reduction:
    reduce(o, *x[0], y);
    break;
  case OperationView::Reshape:
    turn(o, *x[0], y);
    break;
  }
  for (float &value : y)
    value = rounded(o.to[0].type, value);
  return y;
}

void compute(const Descriptor &graph, const Bindings &bindings) {
  // Whoever keeps something in the workspace loses it.
  if (bindings.workspaceBytes) {
    use(bindings.workspace, bindings.workspaceBytes, /*isWrite=*/true,
        "cudnnBackendExecute");
    std::memset(bindings.workspace, 0xFF, bindings.workspaceBytes);
  }
  std::map<int64_t, Values> known;
  auto read = [&](const TensorView &t) -> const Values * {
    if (auto found = known.find(t.id); found != known.end())
      return &found->second;
    Values values =
        t.isNumber
            ? Values{bindings.numbers.at(t.id)}
            : loadTensor(t, static_cast<char *>(bindings.addresses.at(t.id)));
    return &(known[t.id] = std::move(values));
  };
  for (int64_t i = 0; i < graph.countOf(CUDNN_ATTR_OPERATIONGRAPH_OPS); ++i) {
    const OperationView o(*graph.part(CUDNN_ATTR_OPERATIONGRAPH_OPS, i));
    std::vector<const Values *> operands;
    for (const TensorView &x : o.from)
      operands.push_back(read(x));
    Values values = run(o, operands);
    if (!o.to[0].isVirtual)
      storeTensor(o.to[0],
                  static_cast<char *>(bindings.addresses.at(o.to[0].id)),
                  values);
    known[o.to[0].id] = std::move(values);
  }
}

} // namespace weft::emulation
