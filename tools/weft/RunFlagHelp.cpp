//===- RunFlagHelp.cpp - The flags of a run, as the compiler knows them ---===//

#include "RunFlagHelp.h"

#include "weft/Runtime/Run/RunFlags.h"
#include "weft/Weft/Optimizers.h"

using namespace weft;

std::vector<FlagSpec> weft::describedRunFlags() {
  static const std::string decay =
      "weight decay of every optimizer; default: " + spellDefaultDecays();
  std::vector<FlagSpec> specs = runFlagSpecs();
  for (FlagSpec &spec : specs)
    if (spec.name == llvm::StringRef("weight-decay"))
      spec.help = decay.c_str();
  return specs;
}
