//===- CastRegions.cpp - Settings of autocast regions ---------------------===//

#include "CastRegions.h"

using namespace mlir;
using namespace weft;

/// The settings inside of a region: its dtype is that around it unless it says
/// so, even where the region around it is disabled, as in PyTorch.
static CastSettings enter(AutocastOp region, CastSettings outside) {
  CastSettings inside = outside;
  // Without a low type the whole program is f32.
  if (outside.dtype && region.getDtype())
    inside.dtype = *region.getDtype();
  inside.enabled = region.getEnabled();
  return inside;
}

CastSettingsMap weft::inlineAutocastRegions(ProgramOp program,
                                            CastSettings outside) {
  CastSettingsMap settings;
  Block &block = program.getBody().front();
  auto op = block.begin();
  while (op != block.end()) {
    auto region = dyn_cast<AutocastOp>(*op);
    if (!region) {
      ++op;
      continue;
    }
    auto known = settings.find(region);
    CastSettings inside =
        enter(region, known == settings.end() ? outside : known->second);
    settings.erase(region);
    Block &body = region.getBody().front();
    for (Operation &inner : body.without_terminator())
      settings[&inner] = inside;
    auto yield = cast<YieldOp>(body.getTerminator());
    region.replaceAllUsesWith(yield.getValues());
    yield.erase();
    // Continue with the moved ops, which may include nested regions.
    auto first = body.empty() ? std::next(op) : body.begin();
    block.getOperations().splice(op, body.getOperations());
    region.erase();
    op = first;
  }
  return settings;
}
