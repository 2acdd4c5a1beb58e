//===- GemmTuning.h - Algorithms that were measured -------------*- C++ -*-===//
//
// A file of tuning names an algorithm for each product of one program, on one
// kind of device, with one version of cuBLASLt: for nothing else do the bytes
// of an algorithm mean anything.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_GEMMTUNING_H
#define WEFT_KERNELS_CUDA_GEMMTUNING_H

#include "CublasLtPlan.h"

#include "weft/Formats/Json.h"
#include "weft/Runtime/Execute/Context.h"

#include <map>
#include <optional>
#include <set>

namespace weft::cuda {

/// The machine and settings for which measured algorithms are valid. Without a
/// device, only the values from the program are known.
struct GemmMachine {
  std::string device;
  int64_t multiprocessors = 0;
  std::string library; // version of cuBLASLt
  bool tf32 = false;   // f32 factors may be rounded to TF32
};

/// The fastest algorithm of a product, and the medians of what was measured.
struct TunedProduct {
  GemmKey key;
  cublasLtMatmulAlgo_t algorithm;
  double microseconds, firstMicroseconds; // of the library's first one
  int64_t algorithms;                     // that were measured
};

/// The text of a file of tuning.
std::string tuningText(const GemmMachine &machine,
                       const std::vector<TunedProduct> &products);

class GemmTuning {
public:
  /// Exit 3, at its line, where the file is not one, or one of another device
  /// or version of the library.
  static Expected<GemmTuning> read(const std::string &path,
                                   const GemmMachine &machine);

  /// The same of a text; the path is for messages.
  static Expected<GemmTuning> parse(const std::string &text,
                                    const std::string &path,
                                    const GemmMachine &machine);

  /// Exit 3 where the file has none for it.
  Expected<const cublasLtMatmulAlgo_t *> find(const GemmKey &key,
                                              const WeftGemmRecord &record);
  /// The error of a product's algorithm, at its place in the file.
  Error place(Error error, const GemmKey &key) const;
  /// Exit 3 where the file has a product that was never asked for.
  Status checkAllFound() const;
  /// Products that it has.
  size_t size() const { return entries.size(); }
  /// Of the file's bytes.
  const std::string &digest() const { return contentDigest; }

private:
  Status add(const JsonCursor &product);
  Error describeMissing(const GemmKey &key, const WeftGemmRecord &record) const;

  struct Entry {
    cublasLtMatmulAlgo_t algorithm;
    int line;
  };
  std::string path, contentDigest;
  std::map<GemmKey, Entry> entries;
  std::set<GemmKey> found;
};

/// A product of a command, after mergeBatch().
struct GemmProduct {
  WeftGemmRecord record;
  GemmOperands operands;
  void *workspace;
  int64_t workspaceBytes;
  bool mayAdd; // to what C holds
};

/// State of products in a context. The library closes last.
class GemmState {
public:
  static GemmState &of(WeftContext &context);

  /// Opens the library, once.
  Status open();
  /// Where algorithms are taken from.
  Status takeTuning(const std::string &path, const GemmMachine &machine);

  /// Plans all products again with these algorithms.
  Status planAgain(Expected<GemmTuning> algorithms);

  /// The plan of a product, which is made once for all like it.
  Expected<const GemmPlan *> plan(const GemmProduct &product);

  const BlasLt &blasLt() const { return *library; }
  void allowTf32(bool allowed) { library->allowsTf32 = allowed; }
  /// Leaves multiprocessors to the CTAs of collectives, at most all but one.
  void leaveTo(int64_t ctas, int64_t multiprocessors);
  /// One of each kind, in the order in which they were planned.
  const std::vector<GemmProduct> &products() const { return planned; }

  GemmMachine machine;
  std::optional<GemmTuning> tuning;

private:
  std::unique_ptr<BlasLt> library;
  std::map<GemmKey, GemmPlan> plans;
  std::vector<GemmProduct> planned;
};

/// Measures the algorithms of a product.
Expected<TunedProduct> tuneProduct(WeftContext &context, const GemmState &state,
                                   const GemmProduct &product);

/// Measures the algorithms of all products and writes the fastest to a file.
Expected<int64_t> tuneProducts(WeftContext &context, const GemmState &state,
                               const std::string &path);

/// The algorithms of all products in a folder. Products that the folder lacks
/// are measured (weft::findCachedTuning).
Expected<std::string> findCached(WeftContext &context, const GemmState &state,
                                 const std::string &folder);

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_GEMMTUNING_H
