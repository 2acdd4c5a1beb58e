//===- DataOptions.h - What a run is told about its data --------*- C++ -*-===//

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
  /// Whether the rows of `data` are needed, not those of `valData` alone.
  bool readsTraining = false;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_DATAOPTIONS_H
