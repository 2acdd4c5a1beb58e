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
#include "weft/Base/Results.h"
#include "weft/Formats/TokenFile.h"
#include "weft/Runtime/Execute/Metadata.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft {

struct DataOptions {
  std::string data, valData;
  /// Their names in messages, or "".
  std::string dataName, valDataName;
  double valFraction = 0.0;
  TokenFormat format = TokenFormat::Auto;
  bool byteTokenizer = false;
  /// Whether the run needs the rows of `data`, not only of `valData`.
  bool readsTraining = false;
  /// Whether each row of `data` gets a prediction: any number of rows will do,
  /// and a language model may read rows of named tensors.
  bool predicts = false;

  /// The fewest rows of `data`, and their name in messages.
  int64_t leastRows(const Metadata &metadata) const {
    return predicts ? 1 : metadata.batch;
  }
  const char *rowsName() const { return predicts ? "data" : "training data"; }
  /// The name in messages of the file at `path`.
  const std::string &nameOf(const std::string &path) const {
    return path == data && !dataName.empty()         ? dataName
           : path == valData && !valDataName.empty() ? valDataName
                                                     : path;
  }
};

/// Thread-safe for the ranks of a process.
class DataSource {
public:
  virtual ~DataSource() = default;

  virtual int64_t rows() const = 0;
  virtual const std::string &path() const = 0;
  /// "(text): 5242 tokens, 40 rows of 128".
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

//===- Rows of the data ---------------------------------------------------===//

// Rows are numbered from the start of training: row g reads data row g mod N
// in order, or the (g mod N)-th entry of a permutation of epoch g / N that is
// a function of the seed alone. Nothing is stored, so a resumed run needs only
// the number of rows that were read.

/// A permutation of 0 .. size-1 that is keyed by (seed, epoch): a balanced
/// Feistel network of eight Philox4x32-10 rounds over the smallest 2^(2h) >=
/// size, walked along its cycle until the value is below size.
class Permutation {
public:
  Permutation(uint64_t size, uint64_t seed, uint64_t epoch);

  uint64_t operator()(uint64_t index) const;

private:
  uint64_t encrypt(uint64_t value) const;

  uint64_t size;
  uint64_t seed;
  uint64_t epoch;
  unsigned halfBits;
};

/// Maps training rows to data rows.
class SampleOrder {
public:
  SampleOrder() = default;
  SampleOrder(int64_t rows, bool shuffle, uint64_t seed)
      : rows(rows), shuffle(shuffle), seed(seed) {}

  /// The data row that training row `row` reads.
  int64_t dataRow(int64_t row) const;

private:
  int64_t rows = 1;
  bool shuffle = false;
  uint64_t seed = 0;
};

/// Windows of a token file: window n is tokens n*T .. n*T+T.
inline int64_t numWindows(int64_t numTokens, int64_t seq) {
  return numTokens < 1 ? 0 : (numTokens - 1) / seq;
}

} // namespace weft

#endif // WEFT_RUNTIME_DATA_DATASOURCE_H
