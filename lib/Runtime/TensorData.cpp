//===- TensorData.cpp - Rows of named tensors -----------------------------===//

#include "weft/Formats/Digest.h"
#include "weft/Formats/Safetensors.h"
#include "weft/Formats/Text.h"
#include "weft/Runtime/DTypes.h"
#include "weft/Runtime/DataSource.h"

#include <cmath>
#include <cstring>

using namespace weft;

namespace {

/// Rows [begin, end) of a file whose tensors have one row per example.
class TensorSource : public DataSource {
public:
  TensorSource(std::shared_ptr<SafetensorsFile> file, int64_t begin,
               int64_t end, int64_t fileRows)
      : file(std::move(file)), begin(begin), end(end), fileRows(fileRows) {}

  int64_t rows() const override { return end - begin; }

  std::string describe() const override {
    return file->path() + " (safetensors): " + std::to_string(rows()) + " rows";
  }

  Expected<DataIdentity> identity() const override {
    auto digest = digestFile(file->path());
    if (!digest)
      return digest.takeError();
    return DataIdentity{"safetensors", fileRows, std::move(digest->xxh3)};
  }

  Status fill(const WeftPort &port, int64_t row, char *out) const override {
    const TensorInfo *info = file->find(port.name);
    int64_t bytes = port.bytes / port.dims[0];
    std::memcpy(out, file->data(*info) + (begin + row) * bytes, size_t(bytes));
    return Status::success();
  }

private:
  std::shared_ptr<SafetensorsFile> file;
  int64_t begin;
  int64_t end;
  int64_t fileRows;
};

} // namespace

/// The tensor of `port` has its type and, after the rows, its shape.
static Status checkTensor(const SafetensorsFile &file, const WeftPort &port) {
  const TensorInfo *info = file.find(port.name);
  if (!info)
    return inputError("expects a tensor " + inQuotes(port.name) +
                      " for the input of that name, but the file has none")
        .at(file.path());
  if (info->type != tensorTypeOf(port.dtype))
    return inputError("tensor " + inQuotes(port.name) + " expects type " +
                      dtypeName(port.dtype) + ", but got " +
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
  return inputError("tensor " + inQuotes(port.name) + " expects shape " + rule +
                    "], but got " + shapeText(got))
      .at(file.path());
}

template <typename T>
static Status checkLimit(const SafetensorsFile &file, const TensorInfo &info,
                         const InputLimit &allowed) {
  for (int64_t i = 0, n = info.elements(); i < n; ++i) {
    T value;
    std::memcpy(&value, file.data(info) + i * int64_t(sizeof value),
                sizeof value);
    if ((value >= 0 && int64_t(value) < allowed.limit) ||
        (allowed.ignore && int64_t(value) == *allowed.ignore))
      continue;
    std::string rule = "values from 0 to " + std::to_string(allowed.limit - 1);
    if (allowed.ignore)
      rule += ", or " + std::to_string(*allowed.ignore);
    return inputError("tensor " + inQuotes(info.name) + " expects " + rule +
                      ", but got " + std::to_string(value) + " in row " +
                      std::to_string(i / (n / info.shape[0])))
        .at(file.path());
  }
  return Status::success();
}

static Status checkValues(const SafetensorsFile &file, const WeftPort &port,
                          const Metadata &metadata) {
  auto limit = metadata.inputLimits.find(port.name);
  if (limit == metadata.inputLimits.end())
    return Status::success();
  const TensorInfo &info = *file.find(port.name);
  if (port.dtype == WEFT_I32)
    return checkLimit<int32_t>(file, info, limit->second);
  if (port.dtype == WEFT_I64)
    return checkLimit<int64_t>(file, info, limit->second);
  return Status::success();
}

static Expected<std::shared_ptr<SafetensorsFile>>
openFile(const std::string &path, const Metadata &metadata,
         const std::vector<WeftPort> &ports) {
  auto file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  for (const WeftPort &port : ports) {
    if (port.rank == 0)
      return Error(ExitCode::Internal, "input " + inQuotes(port.name) +
                                           " has no dimension of rows");
    if (Status s = checkTensor(*file, port); !s)
      return s.takeError();
    if (Status s = checkValues(*file, port, metadata); !s)
      return s.takeError();
    int64_t rows = file->find(port.name)->shape[0];
    int64_t first = file->find(ports[0].name)->shape[0];
    if (rows != first)
      return inputError("expects as many rows in " + inQuotes(port.name) +
                        " as in " + inQuotes(ports[0].name) + ", " +
                        std::to_string(first) + ", but got " +
                        std::to_string(rows))
          .at(path);
  }
  return std::make_shared<SafetensorsFile>(std::move(*file));
}

static Expected<std::unique_ptr<DataSource>>
makeSource(std::shared_ptr<SafetensorsFile> file, int64_t begin, int64_t end,
           int64_t fileRows, const Metadata &metadata, const char *what) {
  if (end - begin < metadata.batch)
    return inputError(std::string("expects at least one batch of ") + what +
                      ", " + std::to_string(metadata.batch) +
                      " rows, but got " + std::to_string(end - begin))
        .at(file->path());
  std::unique_ptr<DataSource> source =
      std::make_unique<TensorSource>(std::move(file), begin, end, fileRows);
  return source;
}

static int64_t rowsOf(const SafetensorsFile &file,
                      const std::vector<WeftPort> &ports) {
  return file.find(ports[0].name)->shape[0];
}

/// --data, with the tail of it when that is the validation data.
static Status openTraining(const RunOptions &options, const Metadata &metadata,
                           const std::vector<WeftPort> &ports, DataSet &set) {
  auto file = openFile(options.data, metadata, ports);
  if (!file)
    return file.takeError();
  int64_t rows = rowsOf(**file, ports);
  int64_t tail = int64_t(std::floor(double(rows) * options.valFraction));
  auto train =
      makeSource(*file, 0, rows - tail, rows, metadata, "training data");
  if (!train)
    return train.takeError();
  set.train = std::move(*train);
  if (options.valFraction == 0)
    return Status::success();
  auto val =
      makeSource(*file, rows - tail, rows, rows, metadata, "validation data");
  if (!val)
    return val.takeError();
  set.val = std::move(*val);
  return Status::success();
}

Expected<DataSet> weft::openTensorData(const RunOptions &options,
                                       const Metadata &metadata,
                                       const std::vector<WeftPort> &ports) {
  DataSet set;
  if (options.readsTraining())
    if (Status s = openTraining(options, metadata, ports, set); !s)
      return s.takeError();
  if (options.valData.empty())
    return set;
  auto file = openFile(options.valData, metadata, ports);
  if (!file)
    return file.takeError();
  int64_t rows = rowsOf(**file, ports);
  auto val = makeSource(*file, 0, rows, rows, metadata, "validation data");
  if (!val)
    return val.takeError();
  set.val = std::move(*val);
  return set;
}

Expected<DataSet> weft::openData(const RunOptions &options,
                                 const Metadata &metadata,
                                 const std::vector<WeftPort> &ports) {
  if (metadata.isLanguageModel())
    return openTokenData(options, metadata);
  if (ports.empty())
    return Error(ExitCode::Internal, "the program has no data inputs");
  return openTensorData(options, metadata, ports);
}
