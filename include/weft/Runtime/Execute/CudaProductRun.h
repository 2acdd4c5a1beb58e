//===- CudaProductRun.h - Products when a run starts ------------*- C++ -*-===//
//
// The interface between the device and the library products of a program.
// kernels/cuda defines the functions. Their callers declare them weak, since a
// program without products does not link them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_CUDAPRODUCTRUN_H
#define WEFT_RUNTIME_EXECUTE_CUDAPRODUCTRUN_H

#include "weft/Base/Results.h"
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

/// Facts besides the device that determine the bits of products.
struct CudaProductFacts {
  std::string library; // version of cuBLASLt: "13.1.0"
  std::string tuning;  // digest of the file, or ""
};

/// Libraries of products.
std::vector<LibraryName> cudaProductLibraries();

/// Before the first product: opens the library and reads the tuning file.
Expected<CudaProductFacts> openCudaProducts(WeftContext &context,
                                            const CudaProductRun &run);
/// Checks a tuning file without a device: exit 3 if it is not a tuning file, or
/// is for other products.
Status checkCudaTuning(const CudaProductRun &run);
/// After all products are planned: exit 3 if the tuning file has products of
/// another program.
Status checkCudaProducts(WeftContext &context);
/// Measures the algorithms of every planned product, with random numbers in its
/// factors, and writes the fastest ones to the file `path`. Overwrites the
/// arena. Returns the number of products.
Expected<int64_t> tuneCudaProducts(WeftContext &context,
                                   const std::string &path);

/// The kind of device and the library for which measured algorithms are valid,
/// for comparison and for people.
std::string describeTuning(WeftContext &context);
/// The text of a tuning file with the algorithm that the folder `cache` has for
/// every planned product. Measures products without one; that overwrites the
/// arena.
Expected<std::string> findCachedTuning(WeftContext &context,
                                       const std::string &cache);
/// Plans every product again with the algorithms of such a text, from this rank
/// or another one of the same kind. Returns the digest of the algorithms.
Expected<std::string> takeFoundTuning(WeftContext &context,
                                      const std::string &text);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_CUDAPRODUCTRUN_H
