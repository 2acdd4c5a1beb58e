//===- GemmState.cpp - What products keep from call to call ---------------===//

#include "GemmState.h"

#include <algorithm>

using namespace weft;
using namespace weft::cuda;

GemmState &GemmState::of(WeftContext &context) {
  static const char key = 0;
  std::shared_ptr<void> &slot = context.state(&key);
  if (!slot)
    slot = std::make_shared<GemmState>();
  return *static_cast<GemmState *>(slot.get());
}

Status GemmState::open() {
  if (library)
    return Status::success();
  Expected<std::unique_ptr<BlasLt>> opened = BlasLt::open();
  if (!opened)
    return opened.takeError();
  library = std::move(*opened);
  return Status::success();
}

void GemmState::leaveTo(int64_t ctas, int64_t multiprocessors) {
  // On a part of a device it would slow products more than collectives.
  if (ctas > 0 && 2 * ctas <= multiprocessors)
    library->sharedProcessors = static_cast<int32_t>(multiprocessors - ctas);
}

Status GemmState::takeTuning(const std::string &path,
                             const GemmMachine &machine) {
  auto read = GemmTuning::read(path, machine);
  if (!read)
    return read.takeError();
  tuning = std::move(*read);
  return Status::success();
}

Expected<const GemmPlan *> GemmState::plan(const GemmProduct &product) {
  GemmKey key = keyOf(product.record, product.operands, product.workspaceBytes);
  auto found = plans.find(key);
  if (found != plans.end())
    return &found->second;
  const cublasLtMatmulAlgo_t *tuned = nullptr;
  if (tuning) {
    auto measured = tuning->find(key, product.record);
    if (!measured)
      return measured.takeError();
    tuned = *measured;
  }
  auto made = makePlan(*library, product.record, product.operands,
                       product.workspaceBytes, tuned);
  if (!made)
    return tuned && made.error().code() == ExitCode::Input
               ? tuning->place(made.takeError(), key)
               : made.takeError();
  planned.push_back(product);
  return &plans.emplace(key, std::move(*made)).first->second;
}
