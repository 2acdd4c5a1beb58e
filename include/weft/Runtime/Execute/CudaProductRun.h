//===- CudaProductRun.h - Products when a run starts ------------*- C++ -*-===//
//
// What the device tells the products of a program, and what they tell of
// themselves. The functions are those of kernels/cuda: weak where they are
// called, since a program without products does not link them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_CUDAPRODUCTRUN_H
#define WEFT_RUNTIME_EXECUTE_CUDAPRODUCTRUN_H

#include "weft/Base/Error.h"
#include "weft/Runtime/Execute/Context.h"

#include <string>
#include <vector>

namespace weft {

struct LibraryName;

struct CudaProductRun {
  std::string device; // "NVIDIA H200"
  int64_t multiprocessors = 0;
  int64_t collectiveCtas = 0; // 0: products have all multiprocessors
  bool tf32 = false;          // f32 factors may be rounded to TF32
  std::string tuning;         // a file with algorithms, or ""
};

/// What the bits of products depend on beside the device.
struct CudaProductFacts {
  std::string library; // version of cuBLASLt: "13.1.0"
  std::string tuning;  // digest of the file, or ""
};

/// What products and attention of cuDNN open, to be asked for together.
std::vector<LibraryName> cudaProductLibraries();
std::vector<LibraryName> cudnnLibraries();

/// Before the first product: opens the library, and reads the file of tuning.
Expected<CudaProductFacts> openCudaProducts(WeftContext &context,
                                            const CudaProductRun &run);
/// What a file of tuning says of itself, where no device is opened: exit 3
/// where it is none, or one for other products.
Status checkCudaTuning(const CudaProductRun &run);
/// When all products are planned: exit 3 where the file of tuning has some of
/// another program.
Status checkCudaProducts(WeftContext &context);
/// Measures the algorithms of every product that was planned, with random
/// numbers in its factors, and writes the fastest ones to the file `path`. What
/// the arena held is lost. The number of products.
Expected<int64_t> tuneCudaProducts(WeftContext &context,
                                   const std::string &path);

/// Version of the cuDNN that computes attention, "9.19.0"; "" where none does.
std::string cudnnVersion(WeftContext &context);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_CUDAPRODUCTRUN_H
