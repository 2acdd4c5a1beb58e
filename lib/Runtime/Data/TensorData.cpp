//===- TensorData.cpp - Rows of named tensors -----------------------------===//

#include "weft/Base/CountText.h"
#include "weft/Base/ReadProgress.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/Safetensors.h"
#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>

using namespace weft;

namespace {

/// A tensor of the file, for one input.
struct Column {
  const TensorInfo *info;
  int32_t dtype;
  int64_t rowBytes;
  std::optional<InputLimit> limit;
};

/// A file whose tensors have one row per example. Several sources and ranks
/// read it, one at a time.
class RowFile {
public:
  static Expected<std::shared_ptr<RowFile>>
  open(const std::string &path, const Metadata &metadata,
       const std::vector<WeftPort> &ports);

  int64_t rows() const { return columns.front().info->shape[0]; }
  const std::string &path() const { return file.path(); }
  Status read(const char *port, int64_t row, char *out);
  void willNeed(const std::vector<int64_t> &rows);
  /// Of the whole file, which is the open one whatever its path leads to now.
  Expected<FileDigest> digest();

private:
  explicit RowFile(SafetensorsFile file) : file(std::move(file)) {}
  Status add(const WeftPort &port, const Metadata &metadata);
  Status checkRow(const Column &column, int64_t row, const char *values) const;
  Status checkAll(const Column &column);

  SafetensorsFile file;
  std::vector<Column> columns;
  std::vector<ByteWindow> windows; // of the columns
  std::mutex reading;
};

/// Rows [begin, end) of such a file.
class TensorSource : public DataSource {
public:
  TensorSource(std::shared_ptr<RowFile> file, int64_t begin, int64_t end)
      : file(std::move(file)), begin(begin), end(end) {}

  int64_t rows() const override { return end - begin; }

  const std::string &path() const override { return file->path(); }

  std::string describe() const override {
    return "(safetensors): " + countText(rows(), "row");
  }

  Expected<DataIdentity> identity() const override {
    auto digest = file->digest();
    if (!digest)
      return digest.takeError();
    return DataIdentity{"safetensors", file->rows(), std::move(digest->xxh3)};
  }

  Status fill(const WeftPort &port, int64_t row, char *out) const override {
    return file->read(port.name, begin + row, out);
  }

  void willNeed(const std::vector<int64_t> &wanted) const override {
    std::vector<int64_t> rows;
    for (int64_t row : wanted)
      rows.push_back(begin + row);
    file->willNeed(rows);
  }

private:
  std::shared_ptr<RowFile> file;
  int64_t begin;
  int64_t end;
};

} // namespace

/// The tensor of `port` has its type and, after the rows, its shape.
static Status checkTensor(const SafetensorsFile &file, const WeftPort &port) {
  const TensorInfo *info = file.find(port.name);
  if (!info)
    return inputError("expects a tensor ", inQuotes(port.name),
                      " for the input of that name, but the file has none")
        .at(file.path());
  if (info->type != tensorTypeOf(port.dtype))
    return inputError("tensor ", inQuotes(port.name), " expects type ",
                      dtypeName(port.dtype), ", but got ",
                      tensorTypeName(info->type))
        .at(file.path());
  std::vector<int64_t> want = shapeOf(port), got = info->shape;
  bool same = got.size() == want.size() &&
              std::equal(want.begin() + 1, want.end(), got.begin() + 1);
  if (same)
    return Status::success();
  std::string rule = "[rows";
  for (size_t i = 1; i < want.size(); ++i)
    rule += ", " + std::to_string(want[i]);
  return inputError("tensor ", inQuotes(port.name), " expects shape ", rule,
                    "], but got ", shapeText(got))
      .at(file.path());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool isAllowed(int64_t value, const InputLimit &allowed) {
  return (value >= 0 && value < allowed.limit) ||
         (allowed.ignore && value == *allowed.ignore);
}

template <typename T>
static std::optional<int64_t> findWrong(const char *values, int64_t bytes,
                                        const InputLimit &allowed) {
  for (int64_t at = 0; at < bytes; at += int64_t(sizeof(T))) {
    T value;
    std::memcpy(&value, values + at, sizeof value);
    if (!isAllowed(int64_t(value), allowed))
      return int64_t(value);
  }
  return std::nullopt;
}

Status RowFile::checkRow(const Column &column, int64_t row,
                         const char *values) const {
  if (!column.limit)
    return Status::success();
  const InputLimit &allowed = *column.limit;
  auto wrong = column.dtype == WEFT_I32
                   ? findWrong<int32_t>(values, column.rowBytes, allowed)
                   : findWrong<int64_t>(values, column.rowBytes, allowed);
  if (!wrong)
    return Status::success();
  std::string rule = "values from 0 to " + std::to_string(allowed.limit - 1);
  if (allowed.ignore)
    rule += ", or " + std::to_string(*allowed.ignore);
  return inputError("tensor ", inQuotes(column.info->name), " expects ", rule,
                    ", but got ", *wrong, " in row ", row)
      .at(path());
}

Status RowFile::checkAll(const Column &column) {
  if (!column.limit || column.rowBytes == 0)
    return Status::success();
  ByteWindow window;
  for (int64_t row = 0; row < column.info->shape[0]; ++row) {
    auto values = window.view(file.bytes(),
                              file.offset(*column.info) + row * column.rowBytes,
                              column.rowBytes);
    if (!values)
      return values.takeError();
    if (Status s =
            checkRow(column, row, reinterpret_cast<const char *>(*values));
        !s)
      return s;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Files and rows
//===----------------------------------------------------------------------===//

Status RowFile::add(const WeftPort &port, const Metadata &metadata) {
  if (port.rank == 0)
    return internalError("input ", inQuotes(port.name),
                         " has no dimension of rows");
  if (Status s = checkTensor(file, port); !s)
    return s;
  Column column = {file.find(port.name), port.dtype, port.bytes / port.dims[0],
                   std::nullopt};
  auto limit = metadata.inputLimits.find(port.name);
  if (limit != metadata.inputLimits.end() &&
      (port.dtype == WEFT_I32 || port.dtype == WEFT_I64))
    column.limit = limit->second;
  if (Status s = checkAll(column); !s)
    return s;
  columns.push_back(std::move(column));
  windows.emplace_back();
  const int64_t got = columns.back().info->shape[0];
  if (got == rows())
    return Status::success();
  return inputError("expects as many rows in ", inQuotes(port.name), " as in ",
                    inQuotes(columns.front().info->name), ", ", rows(),
                    ", but got ", got)
      .at(path());
}

Expected<std::shared_ptr<RowFile>>
RowFile::open(const std::string &path, const Metadata &metadata,
              const std::vector<WeftPort> &ports) {
  auto opened = SafetensorsFile::open(path);
  if (!opened)
    return opened.takeError();
  std::shared_ptr<RowFile> file(new RowFile(std::move(*opened)));
  for (const WeftPort &port : ports)
    if (Status s = file->add(port, metadata); !s)
      return s.takeError();
  return file;
}

Status RowFile::read(const char *port, int64_t row, char *out) {
  size_t i = 0;
  while (columns[i].info->name != port)
    ++i;
  const Column &column = columns[i];
  {
    std::lock_guard<std::mutex> lock(reading);
    auto values = windows[i].view(
        file.bytes(), file.offset(*column.info) + row * column.rowBytes,
        column.rowBytes);
    if (!values)
      return values.takeError();
    if (column.rowBytes)
      std::memcpy(out, *values, size_t(column.rowBytes));
  }
  return checkRow(column, row, out);
}

Expected<FileDigest> RowFile::digest() {
  std::lock_guard<std::mutex> lock(reading);
  ByteSource &source = file.bytes();
  constexpr int64_t part = int64_t(1) << 20;
  std::vector<char> piece(size_t(std::min(part, source.size())));
  BlockDigest digest;
  ReadProgress progress(path(), source.size());
  for (int64_t at = 0; at < source.size(); at += part) {
    const int64_t bytes = std::min(part, source.size() - at);
    if (Status s = source.read(at, bytes, piece.data()); !s)
      return s.takeError();
    digest.update(piece.data(), bytes);
    progress.advance(bytes);
  }
  return digest.finish();
}

void RowFile::willNeed(const std::vector<int64_t> &wanted) {
  std::lock_guard<std::mutex> lock(reading);
  for (const Column &column : columns) {
    ByteRanges ranges;
    const int64_t begin = file.offset(*column.info);
    for (int64_t row : wanted)
      ranges.push_back(
          {begin + row * column.rowBytes, begin + (row + 1) * column.rowBytes});
    askFor(file.bytes(), std::move(ranges));
  }
}

/// Fewer rows than a batch are a batch of one.
static std::string spellLeastRows(int64_t rows, const std::string &what) {
  return rows == 1
             ? "one row of " + what
             : "one batch of " + what + ", " + std::to_string(rows) + " rows";
}

static Expected<std::unique_ptr<DataSource>>
makeSource(std::shared_ptr<RowFile> file, int64_t begin, int64_t end,
           int64_t leastRows, const char *what) {
  if (end - begin < leastRows)
    return inputError("expects at least ", spellLeastRows(leastRows, what),
                      ", but got ", end - begin)
        .at(file->path());
  std::unique_ptr<DataSource> source =
      std::make_unique<TensorSource>(std::move(file), begin, end);
  return source;
}

/// --data, with the tail of it when that is the validation data.
static Status openTraining(const DataOptions &options, const Metadata &metadata,
                           const std::vector<WeftPort> &ports, DataSet &set) {
  auto file = RowFile::open(options.data, metadata, ports);
  if (!file)
    return file.takeError();
  int64_t rows = (*file)->rows();
  int64_t tail = int64_t(std::floor(double(rows) * options.valFraction));
  auto train = makeSource(*file, 0, rows - tail, options.leastRows(metadata),
                          options.rowsName());
  if (!train)
    return train.takeError();
  set.train = std::move(*train);
  if (options.valFraction == 0)
    return Status::success();
  return assign(makeSource(*file, rows - tail, rows, metadata.leastEvalRows(),
                           "validation data"),
                set.val);
}

Expected<DataSet> weft::openTensorData(const DataOptions &options,
                                       const Metadata &metadata,
                                       const std::vector<WeftPort> &ports) {
  DataSet set;
  if (options.readsTraining)
    if (Status s = openTraining(options, metadata, ports, set); !s)
      return s.takeError();
  if (options.valData.empty())
    return set;
  auto file = RowFile::open(options.valData, metadata, ports);
  if (!file)
    return file.takeError();
  auto val = makeSource(*file, 0, (*file)->rows(), metadata.leastEvalRows(),
                        "validation data");
  if (!val)
    return val.takeError();
  set.val = std::move(*val);
  return set;
}

static Expected<DataSet> openAnyData(const DataOptions &options,
                                     const Metadata &metadata,
                                     const std::vector<WeftPort> &ports) {
  const bool readsTensors =
      options.predicts && guessFileKind(options.data).isSafetensors;
  if (metadata.isLanguageModel() && !readsTensors)
    return openTokenData(options, metadata);
  if (ports.empty())
    return internalError("the program has no data inputs");
  return openTensorData(options, metadata, ports);
}

static bool isThere(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// The files of a list such as `a.txt,b.jsonl:0.5`; none unless all exist.
static std::vector<std::string> filesInList(const std::string &list) {
  std::vector<std::string> files;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    std::string file = list.substr(begin, end - begin);
    if (!isThere(file))
      file.resize(std::min(file.rfind(':'), file.size())); // its weight
    if (file.empty() || !isThere(file))
      return {};
    files.push_back(std::move(file));
    begin = end + 1;
  }
  return files;
}

/// Only weft, with a tokenizer, reads lists.
static std::string listHint(const std::string &list, const DataOptions &options,
                            const Metadata &metadata) {
  const std::vector<std::string> files = filesInList(list);
  if (files.size() < 2 || isThere(list))
    return "";
  if (!metadata.isLanguageModel())
    return "a run reads one file of tensors";
  if (!metadata.tokenizerFiles.empty() && !options.byteTokenizer)
    return "a program reads one file: weft data prepare " + shellWord(list) +
           " -o FILE --tokenizer=DIR joins several";
  std::string command = "cat";
  for (const std::string &file : files)
    command += " " + shellWord(file);
  return "a model without a tokenizer reads one file: " + command +
         " > FILE joins plain texts, and JSON lines are an error";
}

Expected<DataSet> weft::openData(const DataOptions &options,
                                 const Metadata &metadata,
                                 const std::vector<WeftPort> &ports) {
  Expected<DataSet> set = openAnyData(options, metadata, ports);
  if (set)
    return set;
  Error error = set.takeError();
  if (std::string hint = listHint(error.file(), options, metadata);
      !hint.empty() && error.hintText().empty())
    error.hint(hint);
  return error.at(options.nameOf(error.file()), error.line());
}
