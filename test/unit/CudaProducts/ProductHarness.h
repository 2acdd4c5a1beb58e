//===- ProductHarness.h - Products on the emulated device -------*- C++ -*-===//
//
// The emulated device shares the memory of the process, so that a command runs
// without a driver: this test implements the functions of Launch.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_CUDAPRODUCTS_PRODUCTHARNESS_H
#define WEFT_TEST_UNIT_CUDAPRODUCTS_PRODUCTHARNESS_H

#include "../Routines/Harness.h"

#include "weft/Abi/CudaProducts.h"

#include <cstdlib>
#include <map>
#include <optional>

namespace weft {

/// The answers of deviceFlag().
inline std::map<const void *, float> &knownFlags() {
  static std::map<const void *, float> flags;
  return flags;
}
/// Handles and descriptors of the emulated cuBLASLt that are not destroyed.
int64_t countLtObjects();

/// An environment variable for the length of a test.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name); }

private:
  const char *name;
};

/// A product, its numbers, and the command that computes it.
struct Product {
  WeftGemmRecord s = {};
  float flag = 0.0f;
  int64_t shift = 0;             // elements off alignment
  int64_t workspaceBytes = 4096; // -1: no such buffer
  unsigned seed = 1;
  /// One value for all of B and of aux in place of random numbers; A is then
  /// all ones.
  std::optional<float> allOfB, allOfAux;

  int64_t sizeA() const { return (s.transA ? s.k : s.m) * s.lda; }
  int64_t sizeB() const { return (s.transB ? s.n : s.k) * s.ldb; }
  int64_t sizeC() const { return s.m * s.ldc; }
  bool addsToOld() const {
    return s.accumulate == WEFT_ADD ||
           (s.accumulate == WEFT_ADD_IF_FLAG && flag != 0.0f);
  }
};

/// Dense operands of those sizes.
inline Product productOf(int64_t m, int64_t n, int64_t k, int64_t transA = 0,
                         int64_t transB = 0, int64_t dtype = WEFT_F32) {
  Product p;
  p.s.batch = 1;
  p.s.m = m, p.s.n = n, p.s.k = k;
  p.s.transA = transA, p.s.transB = transB;
  p.s.lda = transA ? m : k;
  p.s.ldb = transB ? k : n;
  p.s.ldc = n;
  p.s.dtype = p.s.dtypeC = dtype;
  return p;
}

/// Elements between others that must stay as they are.
class DeviceBuffer {
public:
  DeviceBuffer(Floats values, int64_t dtype, int64_t shift)
      : front(kGuard + shift), size(values.size()),
        elements(guarded(values, front), dtype) {}
  void *data() { return elements.at(front); }
  /// The numbers between the guards, which are intact.
  Floats values() const {
    Floats all = elements.values();
    for (size_t i = 0; i < all.size(); ++i)
      if (static_cast<int64_t>(i) < front ||
          i >= static_cast<size_t>(front) + size)
        EXPECT_EQ(all[i], kMark) << i;
    return Floats(all.begin() + front, all.begin() + front + size);
  }

private:
  static constexpr int64_t kGuard = 64;
  static constexpr float kMark = 1.5f;
  static Floats guarded(Floats values, int64_t front) {
    values.insert(values.begin(), front, kMark);
    values.insert(values.end(), kGuard, kMark);
    return values;
  }
  int64_t front;
  size_t size;
  Elements elements;
};

/// The operands of a product.
struct ProductInputs {
  Floats a, b, c, bias, aux;
  explicit ProductInputs(const Product &p);
};

struct ProductOutputs {
  Doubles c, aux, columnSum, sumA, sumB;
};

/// Runs the command in `context`, which keeps an error.
ProductOutputs runProduct(WeftContext &context, const Product &p,
                          bool prepares = false);
/// The same in f64, by the definition.
ProductOutputs referenceOf(const Product &p);
/// Runs and compares.
void checkProduct(WeftContext &context, const Product &p);
std::string describe(const Product &p);

/// So many products, one behind the other.
inline void setBatch(Product &p, int64_t batch) {
  p.s.batch = batch;
  p.s.batchStrideA = p.sizeA();
  p.s.batchStrideB = p.sizeB();
  p.s.batchStrideC = p.sizeC();
}

} // namespace weft

#endif // WEFT_TEST_UNIT_CUDAPRODUCTS_PRODUCTHARNESS_H
