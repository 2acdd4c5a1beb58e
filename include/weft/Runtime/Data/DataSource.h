//===- DataSource.h - Rows of training data ---------------------*- C++ -*-===//
//
// A source has rows and copies any of them into an input buffer of a program:
// windows of a token file for language models, rows of named tensors for all
// others. Every source is checked completely before it is returned. Bytes that
// are read again later are checked again, since a file may change meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_DATASOURCE_H
#define WEFT_RUNTIME_DATA_DATASOURCE_H

#include "weft/Abi/Executable.h"
#include "weft/Base/Error.h"
#include "weft/Formats/TokenFile.h"
#include "weft/Runtime/Execute/Metadata.h"

#include <memory>
#include <string>
#include <vector>

namespace weft {

struct DataOptions {
  std::string data, valData;
  double valFraction = 0.0;
  TokenFormat format = TokenFormat::Auto;
  bool byteTokenizer = false;
  /// Whether the run needs the rows of `data`, not only of `valData`.
  bool readsTraining = false;
};

/// Thread-safe for the ranks of a process.
class DataSource {
public:
  virtual ~DataSource() = default;

  virtual int64_t rows() const = 0;
  /// "text, 5242 tokens, 40 rows of 128".
  virtual std::string describe() const = 0;
  /// Kind, length and digest of the whole file; reads all of it.
  virtual Expected<DataIdentity> identity() const = 0;
  /// Copies row `row` to `out`, which has the bytes of one row of `port`.
  virtual Status fill(const WeftPort &port, int64_t row, char *out) const = 0;
  /// Asks the system to prefetch rows that fill() reads soon; returns at once.
  virtual void willNeed(const std::vector<int64_t> &rows) const = 0;
};

/// Training rows, unless only --val-data is evaluated, and validation rows,
/// when asked for.
struct DataSet {
  std::unique_ptr<DataSource> train;
  std::unique_ptr<DataSource> val;
  std::vector<std::string> warnings;
};

/// Opens and checks the data of a run for the model inputs `ports`: the inputs
/// of the micro program that the runtime does not fill itself.
Expected<DataSet> openData(const DataOptions &options, const Metadata &metadata,
                           const std::vector<WeftPort> &ports);

/// The two kinds of source; `openData` chooses.
Expected<DataSet> openTokenData(const DataOptions &options,
                                const Metadata &metadata);
Expected<DataSet> openTensorData(const DataOptions &options,
                                 const Metadata &metadata,
                                 const std::vector<WeftPort> &ports);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_DATASOURCE_H
