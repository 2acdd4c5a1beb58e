//===- GemmState.h - What products keep from call to call -------*- C++ -*-===//

#ifndef WEFT_KERNELS_CUDA_GEMMSTATE_H
#define WEFT_KERNELS_CUDA_GEMMSTATE_H

#include "GemmTuning.h"

#include "weft/Runtime/Execute/Context.h"

#include <optional>

namespace weft::cuda {

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

/// Measures the algorithms of all products and writes the fastest to a file.
Expected<int64_t> tuneProducts(WeftContext &context, const GemmState &state,
                               const std::string &path);

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_GEMMSTATE_H
