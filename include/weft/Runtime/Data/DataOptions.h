//===- DataOptions.h - Data flags of a run ----------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DATA_DATAOPTIONS_H
#define WEFT_RUNTIME_DATA_DATAOPTIONS_H

#include "weft/Formats/TokenFile.h"

#include <string>

namespace weft {

struct DataOptions {
  std::string data, valData;
  double valFraction = 0.0;
  TokenFormat format = TokenFormat::Auto;
  bool byteTokenizer = false;
  /// Whether the run needs the rows of `data`, not only of `valData`.
  bool readsTraining = false;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_DATAOPTIONS_H
