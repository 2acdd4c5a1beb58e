//===- TuningCache.cpp - Algorithms that earlier runs measured ------------===//
//
// The cache has a file of tuning for each product, device and version of the
// library. The first process that writes it decides: all others read it, so
// that a run and its continuation have the same algorithms.
//
//===----------------------------------------------------------------------===//

#include "GemmTuning.h"
#include "weft/Base/Durable.h"
#include "weft/Base/OutputFile.h"
#include "weft/Formats/Digest.h"

#include <unistd.h>

using namespace weft;
using namespace weft::cuda;

/// The file of a product: its name is a digest of all that an algorithm depends
/// on.
static std::string fileOf(const std::string &folder, const GemmMachine &machine,
                          const GemmKey &key) {
  const TunedProduct unmeasured = {key, {}, 0, 0, 1};
  return folder + "/" + digest128(tuningText(machine, {unmeasured})) + ".json";
}

/// The algorithm in the cache, which is measured if no process has done so.
static Expected<TunedProduct> findTuned(WeftContext &context,
                                        const GemmState &state,
                                        const GemmProduct &product,
                                        const std::string &folder) {
  const GemmKey key =
      keyOf(product.record, product.operands, product.workspaceBytes);
  const std::string path = fileOf(folder, state.machine, key);
  if (::access(path.c_str(), F_OK) != 0) {
    auto measured = tuneProduct(context, state, product);
    if (!measured)
      return measured.takeError();
    Status written = writeFile(path, tuningText(state.machine, {*measured}),
                               FileMode::Data, IfTaken::Fail);
    // Another process may have been faster.
    if (!written && ::access(path.c_str(), F_OK) != 0)
      return written.takeError();
  }
  auto tuning = GemmTuning::read(path, state.machine);
  if (!tuning)
    return tuning.takeError().hint("remove the file; it is measured again");
  auto algorithm = tuning->find(key, product.record);
  if (!algorithm)
    return algorithm.takeError();
  return TunedProduct{key, **algorithm, 0, 0, 1};
}

Expected<std::string> weft::cuda::findCached(WeftContext &context,
                                             const GemmState &state,
                                             const std::string &folder) {
  if (Status s = makeDirectories(folder); !s)
    return s.takeError();
  std::vector<TunedProduct> tuned;
  for (const GemmProduct &product : state.products()) {
    auto one = findTuned(context, state, product, folder);
    if (!one)
      return one.takeError();
    tuned.push_back(std::move(*one));
  }
  // Times are left out, so that the digest names algorithms alone.
  return tuningText(state.machine, tuned);
}
