//===- ProductHarness.cpp - Products on the emulated device ---------------===//

#include "ProductHarness.h"

#include "weft/Runtime/Devices/Launch.h"

#include <dlfcn.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

void *weft::deviceStream(WeftContext &) { return nullptr; }

std::optional<float> weft::deviceFlag(WeftContext &, const void *address) {
  auto found = knownFlags().find(address);
  if (found == knownFlags().end())
    return std::nullopt;
  return found->second;
}

Status weft::copyToDevice(WeftContext &, void *to, const void *from,
                          int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return Status::success();
}

Expected<float> weft::timeOnDevice(WeftContext &,
                                   const std::function<void()> &work) {
  work();
  return 0.0f;
}

void weft::fillOnDevice(WeftContext &, const WeftCommand &, void *to,
                        unsigned char byte, int64_t bytes) {
  std::memset(to, byte, bytes);
}

int64_t weft::countLtObjects() {
  void *library = ::dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_NOLOAD);
  void *count =
      library ? ::dlsym(library, "weft_emulation_blaslt_objects") : nullptr;
  return count ? reinterpret_cast<int64_t (*)()>(count)() : 0;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

ProductInputs::ProductInputs(const Product &p) {
  auto draw = [&](int64_t count, unsigned seed, int64_t dtype) {
    return rounded(randomFloats(std::max<int64_t>(count, 0), seed), dtype);
  };
  a = draw(p.s.batch * p.sizeA(), p.seed, p.s.dtype);
  b = draw(p.s.batch * p.sizeB(), p.seed + 1, p.s.dtype);
  c = draw(p.s.batch * p.sizeC(), p.seed + 2, p.s.dtypeC);
  bias = draw(p.s.n, p.seed + 3, p.s.dtype);
  aux = draw(p.s.batch * p.s.m * p.s.n, p.seed + 4, p.s.dtypeC);
  if (p.allOfB) {
    a.assign(a.size(), 1.0f);
    b.assign(b.size(), *p.allOfB);
  }
  if (p.allOfAux)
    aux.assign(aux.size(), *p.allOfAux);
}

template <typename Body>
static void forEachResult(const Product &p, Body body) {
  for (int64_t i = 0; i < p.s.batch; ++i)
    for (int64_t r = 0; r < p.s.m; ++r)
      for (int64_t j = 0; j < p.s.n; ++j)
        body(i, r, j, i * p.sizeC() + r * p.s.ldc + j,
             (i * p.s.m + r) * p.s.n + j);
}

static double activate(double x, int64_t epilogue, double aux) {
  constexpr double root = 0.79788456080286541, cube = 0.044715;
  auto bend = [&](double y) {
    return std::tanh(root * (y + cube * y * y * y));
  };
  switch (epilogue) {
  case WEFT_EPILOGUE_RELU:
    return std::max(x, 0.0);
  case WEFT_EPILOGUE_GELU:
    return 0.5 * x * (1.0 + bend(x));
  case WEFT_EPILOGUE_GELU_GRAD: {
    double t = bend(aux);
    return x * (0.5 * (1.0 + t) + 0.5 * aux * (1.0 - t * t) * root *
                                      (1.0 + 3.0 * cube * aux * aux));
  }
  default:
    return x;
  }
}

/// The sums of both factors, of the first matrix, over K.
static void addFactors(const Product &p, const ProductInputs &x,
                       ProductOutputs &out) {
  const WeftGemmRecord &s = p.s;
  for (int64_t k = 0; k < s.k; ++k) {
    for (int64_t r = 0; r < s.m; ++r)
      out.sumA[r] += x.a[s.transA ? k * s.lda + r : r * s.lda + k];
    for (int64_t j = 0; j < s.n; ++j)
      out.sumB[j] += x.b[s.transB ? j * s.ldb + k : k * s.ldb + j];
  }
}

ProductOutputs weft::referenceOf(const Product &p) {
  const WeftGemmRecord &s = p.s;
  ProductInputs x(p);
  ProductOutputs out = {Doubles(x.c.begin(), x.c.end()),
                        Doubles(x.aux.begin(), x.aux.end()), Doubles(s.n, 0.0),
                        Doubles(s.m, 0.0), Doubles(s.n, 0.0)};
  addFactors(p, x, out);
  forEachResult(p, [&](int64_t i, int64_t r, int64_t j, int64_t at,
                       int64_t place) {
    const float *a = x.a.data() + i * s.batchStrideA;
    const float *b = x.b.data() + i * s.batchStrideB;
    double sum = s.hasBias ? x.bias[j] : 0.0;
    for (int64_t k = 0; k < s.k; ++k)
      sum +=
          static_cast<double>(s.transA ? a[k * s.lda + r] : a[r * s.lda + k]) *
          (s.transB ? b[j * s.ldb + k] : b[k * s.ldb + j]);
    if (p.addsToOld())
      sum += out.c[at];
    if (s.epilogue == WEFT_EPILOGUE_GELU && s.hasAux)
      out.aux[place] = sum;
    out.c[at] = activate(sum, s.epilogue, x.aux[place]);
    out.columnSum[j] += out.c[at];
  });
  return out;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static Doubles widen(const Floats &values) {
  return Doubles(values.begin(), values.end());
}

ProductOutputs weft::runProduct(WeftContext &context, const Product &p,
                                bool prepares) {
  const WeftGemmRecord &s = p.s;
  ProductInputs x(p);
  const bool writesAux = s.epilogue == WEFT_EPILOGUE_GELU;
  if (!p.addsToOld()) // must not be read
    forEachResult(p, [&](int64_t, int64_t, int64_t, int64_t at, int64_t) {
      x.c[at] = NAN;
    });
  if (writesAux)
    x.aux.assign(x.aux.size(), NAN);
  DeviceBuffer a(x.a, s.dtype, p.shift), b(x.b, s.dtype, p.shift);
  DeviceBuffer c(x.c, s.dtypeC, p.shift), bias(x.bias, s.dtype, p.shift);
  DeviceBuffer aux(x.aux, s.dtypeC, 0);
  DeviceBuffer columnSum(Floats(s.n, NAN), WEFT_F32, 0);
  DeviceBuffer sumA(Floats(s.m, NAN), WEFT_F32, p.shift);
  DeviceBuffer sumB(Floats(s.n, NAN), WEFT_F32, p.shift);
  const float flag = p.flag;
  std::vector<const void *> buffers = {a.data(), b.data(), c.data()};
  if (s.hasBias)
    buffers.push_back(bias.data());
  if (s.hasAux)
    buffers.push_back(aux.data());
  if (s.hasColumnSum)
    buffers.push_back(columnSum.data());
  if (s.hasSumA)
    buffers.push_back(sumA.data());
  if (s.hasSumB)
    buffers.push_back(sumB.data());
  if (s.accumulate == WEFT_ADD_IF_FLAG)
    buffers.push_back(&flag);
  knownFlags() = {{&flag, flag}};
  const int64_t bytes = std::max<int64_t>(p.workspaceBytes, 0);
  GuardedWorkspace workspace(bytes);
  if (prepares)
    callIn(workspace, bytes, context, weft_cuda_gemm_prepare, buffers, s,
           WEFT_GEMM);
  callIn(workspace, bytes, context, weft_cuda_gemm, buffers, s, WEFT_GEMM);
  knownFlags().clear();
  return {widen(c.values()), widen(aux.values()), widen(columnSum.values()),
          widen(sumA.values()), widen(sumB.values())};
}

static void expectNear(const Doubles &got, const Doubles &want, double bound,
                       const char *what) {
  EXPECT_LT(largestError(got, want), bound) << what;
}

void weft::checkProduct(WeftContext &context, const Product &p) {
  SCOPED_TRACE(describe(p));
  ProductOutputs got = runProduct(context, p), want = referenceOf(p);
  ASSERT_FALSE(context.failed()) << context.message();
  const double rounding = roundingError(p.s.dtypeC);
  const double bound = 2e-6 * std::sqrt(p.s.k + 1.0) + rounding;
  expectNear(got.c, want.c, bound, "C");
  if (p.s.hasAux)
    expectNear(got.aux, want.aux, bound, "aux");
  if (p.s.hasColumnSum)
    expectNear(got.columnSum, want.columnSum, bound * p.s.m, "column sum");
  if (p.s.hasSumA)
    expectNear(got.sumA, want.sumA, bound, "sum of A");
  if (p.s.hasSumB)
    expectNear(got.sumB, want.sumB, bound, "sum of B");
}

std::string weft::describe(const Product &p) {
  std::string text;
  Ints fields(sizeof p.s / 8);
  std::memcpy(fields.data(), &p.s, sizeof p.s);
  for (int64_t value : fields)
    text += std::to_string(value) + " ";
  return text + "flag " + std::to_string(p.flag) + " shift " +
         std::to_string(p.shift) + " seed " + std::to_string(p.seed);
}
