//===- TokenData.cpp - Windows of a token file ----------------------------===//

#include "weft/Abi/Names.h"
#include "weft/Abi/Philox.h"
#include "weft/Base/CountText.h"
#include "weft/Base/Text.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/JsonLines.h"
#include "weft/Formats/TokenFile.h"
#include "weft/Runtime/Data/DataSource.h"

#include <cmath>
#include <cstring>
#include <mutex>

using namespace weft;

namespace {

/// A file that several sources and ranks read, one at a time.
struct SharedFile {
  explicit SharedFile(TokenFile file) : file(std::move(file)) {}

  TokenFile file;
  std::mutex reading;
};

/// Windows of the tokens [begin, end) of a file.
class TokenSource : public DataSource {
public:
  TokenSource(std::shared_ptr<SharedFile> shared, int64_t begin, int64_t end,
              int64_t seq)
      : shared(std::move(shared)), begin(begin), end(end), seq(seq) {}

  int64_t rows() const override { return numWindows(end - begin, seq); }

  const std::string &path() const override { return shared->file.path(); }

  std::string describe() const override {
    return "(" + shared->file.description() +
           "): " + countText(end - begin, "token") + ", " +
           countText(rows(), "row") + " of " + std::to_string(seq);
  }

  Expected<DataIdentity> identity() const override {
    std::lock_guard<std::mutex> lock(shared->reading);
    auto digest = shared->file.digest();
    if (!digest)
      return digest.takeError();
    return DataIdentity{shared->file.description(), shared->file.size(),
                        std::move(*digest)};
  }

  Status fill(const WeftPort &port, int64_t row, char *out) const override {
    int64_t shift = std::strcmp(port.name, names::kTargets) == 0 ? 1 : 0;
    std::lock_guard<std::mutex> lock(shared->reading);
    return shared->file.read(begin + row * seq + shift, seq,
                             reinterpret_cast<int32_t *>(out));
  }

  void willNeed(const std::vector<int64_t> &wanted) const override {
    ByteRanges ranges;
    for (int64_t row : wanted)
      ranges.push_back({begin + row * seq, begin + (row + 1) * seq + 1});
    std::lock_guard<std::mutex> lock(shared->reading);
    shared->file.willNeed(std::move(ranges));
  }

private:
  std::shared_ptr<SharedFile> shared;
  int64_t begin;
  int64_t end;
  int64_t seq;
};

} // namespace

/// The commands that make tokens of a text for a model with a tokenizer.
static std::string tokenizeHint(const std::string &path,
                                const Metadata &metadata) {
  const std::string tokenizer = tokenizerPath(metadata);
  const std::string output = path + ".bin";
  return "weft data prepare " + shellWord(path) + " -o " + shellWord(output) +
         " --tokenizer=" + (tokenizer.empty() ? "DIR" : shellWord(tokenizer)) +
         " makes tokens of it; --tokenizer=bytes reads bytes as tokens";
}

/// A model with a tokenizer does not mean bytes by its tokens.
static Status checkTokenizer(const TokenFile &file, const DataOptions &options,
                             const Metadata &metadata) {
  if (metadata.tokenizerFiles.empty() || options.byteTokenizer ||
      file.description() != "text")
    return Status::success();
  return inputError("expects tokens of the model's tokenizer (",
                    metadata.tokenizerFiles.front(), "), but got text")
      .at(file.path())
      .hint(tokenizeHint(file.path(), metadata));
}

static Expected<std::shared_ptr<SharedFile>>
openFile(const std::string &path, const DataOptions &options,
         const Metadata &metadata, DataSet &set) {
  auto source = InputFile::open(path);
  if (!source)
    return source.takeError();
  auto file = TokenFile::open(std::move(*source), options.format);
  if (!file) {
    const bool isLines = endsWith(path, ".jsonl") || endsWith(path, ".ndjson");
    const bool hasQuestions = file.error().hintText() == kQuestionsHint;
    if (isLines && !hasQuestions && !metadata.tokenizerFiles.empty() &&
        !options.byteTokenizer)
      return file.takeError().hint(tokenizeHint(path, metadata));
    return file.takeError();
  }
  if (Status s = checkTokenizer(*file, options, metadata); !s)
    return s.takeError();
  if (Status s = file->check(metadata.vocab); !s)
    return s.takeError();
  auto doubts = file->doubts(metadata.vocab);
  if (!doubts)
    return doubts.takeError();
  set.warnings.insert(set.warnings.end(), doubts->begin(), doubts->end());
  return std::make_shared<SharedFile>(std::move(*file));
}

/// A source over [begin, end) that fills at least `rows` rows.
static Expected<std::unique_ptr<DataSource>>
makeSource(std::shared_ptr<SharedFile> shared, int64_t begin, int64_t end,
           const Metadata &metadata, int64_t rows, const char *what) {
  int64_t need = rows * metadata.seq + 1;
  if (end - begin < need)
    return inputError("expects at least one ", rows == 1 ? "row" : "batch",
                      " of ", what, ", ", rows, " x ", metadata.seq,
                      " + 1 = ", need, " tokens, but got ", end - begin)
        .at(shared->file.path())
        .hint("use more text, or compile with a smaller --batch or --seq");
  std::unique_ptr<DataSource> source = std::make_unique<TokenSource>(
      std::move(shared), begin, end, metadata.seq);
  return source;
}

static Status openValidation(const DataOptions &options,
                             const Metadata &metadata, DataSet &set) {
  if (options.valData.empty())
    return Status::success();
  auto file = openFile(options.valData, options, metadata, set);
  if (!file)
    return file.takeError();
  int64_t size = (*file)->file.size();
  return assign(makeSource(*file, 0, size, metadata, metadata.leastEvalRows(),
                           "validation data"),
                set.val);
}

/// Bytes are 256 tokens: of a larger vocabulary the rest is never seen.
static void warnOfBytes(const TokenFile &file, const DataOptions &options,
                        const Metadata &metadata, DataSet &set) {
  if (file.description() != "text" || options.byteTokenizer ||
      metadata.vocab < 4 * 256)
    return;
  set.warnings.push_back(
      file.path() + ": bytes are read as tokens, so at most 256 of the " +
      std::to_string(metadata.vocab) +
      " tokens of the model are used; tokenize the text into a .bin file, or "
      "say --tokenizer=bytes if bytes are meant");
}

/// --data, with the tail of it when that is the validation data.
static Status openTraining(const DataOptions &options, const Metadata &metadata,
                           DataSet &set) {
  auto file = openFile(options.data, options, metadata, set);
  if (!file)
    return file.takeError();
  warnOfBytes((*file)->file, options, metadata, set);
  int64_t size = (*file)->file.size();
  int64_t tail = int64_t(std::floor(double(size) * options.valFraction));
  auto train = makeSource(*file, 0, size - tail, metadata,
                          options.leastRows(metadata), options.rowsName());
  if (!train)
    return train.takeError();
  set.train = std::move(*train);
  if (options.valFraction == 0)
    return Status::success();
  return assign(makeSource(*file, size - tail, size, metadata,
                           metadata.leastEvalRows(),
                           "validation data (the tail of the file)"),
                set.val);
}

Expected<DataSet> weft::openTokenData(const DataOptions &options,
                                      const Metadata &metadata) {
  DataSet set;
  if (options.readsTraining)
    if (Status s = openTraining(options, metadata, set); !s)
      return s.takeError();
  if (Status s = openValidation(options, metadata, set); !s)
    return s.takeError();
  return set;
}

//===- Rows of the data ---------------------------------------------------===//

/// The Philox stream of shuffling: the hash of its name.
static uint64_t shuffleStream() { return philoxNameHash("weft.shuffle", 12); }

Permutation::Permutation(uint64_t size, uint64_t seed, uint64_t epoch)
    : size(size), seed(seed), epoch(epoch), halfBits(1) {
  while (halfBits < 32 && (uint64_t(1) << (2 * halfBits)) < size)
    ++halfBits;
}

uint64_t Permutation::encrypt(uint64_t value) const {
  const PhiloxKey key = philoxKey(seed, shuffleStream());
  const uint64_t mask = (uint64_t(1) << halfBits) - 1;
  uint64_t left = value >> halfBits, right = value & mask;
  for (uint32_t round = 0; round < 8; ++round) {
    PhiloxBlock block = philoxRounds(key, uint32_t(right), round,
                                     uint32_t(epoch), uint32_t(epoch >> 32));
    uint64_t mixed = left ^ (block.lane[0] & mask);
    left = right;
    right = mixed;
  }
  return (left << halfBits) | right;
}

uint64_t Permutation::operator()(uint64_t index) const {
  // The domain has fewer than 4 * size values (16 for size < 4), so the cycle
  // comes back below size after few steps.
  uint64_t value = encrypt(index);
  while (value >= size)
    value = encrypt(value);
  return value;
}

int64_t SampleOrder::dataRow(int64_t row) const {
  int64_t epoch = row / rows, index = row % rows;
  if (!shuffle)
    return index;
  return int64_t(
      Permutation(uint64_t(rows), seed, uint64_t(epoch))(uint64_t(index)));
}
