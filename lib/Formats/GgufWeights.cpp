//===- GgufWeights.cpp - A GGUF file as weights of a model ----------------===//

#include "weft/Formats/GgufWeights.h"

#include <algorithm>
#include <cstring>

namespace weft {

//===----------------------------------------------------------------------===//
// Orders of elements
//===----------------------------------------------------------------------===//

/// Whole blocks of every type, so that a panel decodes no block twice.
static constexpr int64_t kPanelRows = kMostBlockElements;

bool ReorderedMatrix::fits(GgufLayout layout, int64_t heads, int64_t rows) {
  switch (layout) {
  case GgufLayout::Same:
  case GgufLayout::Transposed:
    return true;
  case GgufLayout::GroupedHeads:
    return heads >= 1 && heads <= rows / 3 && rows % (3 * heads) == 0;
  case GgufLayout::QueryHeads:
  case GgufLayout::KeyHeads:
    break;
  }
  return heads >= 1 && heads <= rows && rows % heads == 0 &&
         rows / heads % 2 == 0;
}

/// Row i of part j (query, key, value) of a head: of the head's rows in the
/// model, of the part's rows in GGUF.
int64_t ReorderedMatrix::groupedRow(int64_t row) const {
  const int64_t width = rows / (3 * heads), inside = row % width;
  const int64_t block = row / width; // of `width` rows
  const bool isModel = direction == Direction::FromGguf;
  const int64_t head = isModel ? block / 3 : block % heads;
  const int64_t part = isModel ? block % 3 : block / heads;
  const int64_t source = isModel ? part * heads + head : head * 3 + part;
  return source * width + inside;
}

/// Row 2 i + j of a head in GGUF is row i of half j.
int64_t ReorderedMatrix::sourceRow(int64_t row) const {
  if (layout == GgufLayout::GroupedHeads)
    return groupedRow(row);
  const int64_t width = rows / heads, half = width / 2;
  const int64_t base = row / width * width, inside = row % width;
  return base + (direction == Direction::FromGguf
                     ? inside % half * 2 + inside / half
                     : inside % 2 * half + inside / 2);
}

Status ReorderedMatrix::readRows(const ReadFloats &source, int64_t begin,
                                 int64_t count, float *out) {
  for (int64_t at = begin; at < begin + count;) {
    const int64_t column = at % columns;
    const int64_t part = std::min(columns - column, begin + count - at);
    if (Status status =
            source(sourceRow(at / columns) * columns + column, part, out);
        !status)
      return status;
    at += part;
    out += part;
  }
  return Status::success();
}

Status ReorderedMatrix::loadPanel(const ReadFloats &source, int64_t first) {
  if (first == panelBegin)
    return Status::success();
  panelBegin = -1;
  const int64_t count = std::min(kPanelRows, rows - first);
  panel.resize(static_cast<size_t>(count * columns));
  float column[kPanelRows];
  for (int64_t i = 0; i < columns; ++i) {
    if (Status status = source(i * rows + first, count, column); !status)
      return status;
    for (int64_t row = 0; row < count; ++row)
      panel[static_cast<size_t>(row * columns + i)] = column[row];
  }
  panelBegin = first;
  return Status::success();
}

Status ReorderedMatrix::readTransposed(const ReadFloats &source, int64_t begin,
                                       int64_t count, float *out) {
  for (int64_t at = begin; at < begin + count;) {
    const int64_t first = at / columns / kPanelRows * kPanelRows;
    if (Status status = loadPanel(source, first); !status)
      return status;
    const int64_t inside = at - first * columns;
    const int64_t part =
        std::min(int64_t(panel.size()) - inside, begin + count - at);
    std::copy_n(panel.data() + inside, part, out);
    at += part;
    out += part;
  }
  // The next tensor has a panel of its own.
  if (begin + count == rows * columns) {
    panel = std::vector<float>();
    panelBegin = -1;
  }
  return Status::success();
}

Status ReorderedMatrix::read(const ReadFloats &source, int64_t begin,
                             int64_t count, float *out) {
  return layout == GgufLayout::Transposed
             ? readTransposed(source, begin, count, out)
             : readRows(source, begin, count, out);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static bool isTable(const GgufFamily &family, const std::string &name) {
  return std::any_of(family.tables.begin(), family.tables.end(),
                     [&](const char *table) { return name == table; });
}

Status GgufWeights::addTensor(const GgufFamily &family, const Json &config,
                              const GgufTensor &tensor) {
  if (isTable(family, tensor.name))
    return Status::success();
  auto wrong = [&](const std::string &message) {
    return inputError("tensor " + inQuotes(tensor.name) + ": " + message)
        .at(path());
  };
  if (!tensor.type->decode)
    return wrong("expects type " + readableGgmlTypes() + ", but got " +
                 tensor.type->name);
  const std::optional<GgufName> known = toModelName(family, tensor.name);
  const GgufLayout layout = known ? known->row->layout : GgufLayout::Same;
  TensorInfo info;
  info.name = known ? known->name : tensor.name;
  info.shape = tensor.shape;
  info.begin = tensor.begin;
  if (__builtin_mul_overflow(tensor.elements(), 4, &info.end) ||
      __builtin_add_overflow(info.begin, info.end, &info.end))
    return wrong("expects a size as f32 of at most 63 bits");
  std::optional<ReorderedMatrix> matrix;
  const int64_t heads = ggufHeads(family, config, layout);
  if (layout == GgufLayout::Transposed) {
    if (info.shape.size() == 2) {
      std::swap(info.shape[0], info.shape[1]);
      matrix.emplace(layout, ReorderedMatrix::Direction::FromGguf, heads,
                     info.shape[0], info.shape[1]);
    }
  } else if (layout != GgufLayout::Same && !info.shape.empty()) {
    const int64_t rows = info.shape[0];
    if (!ReorderedMatrix::fits(layout, heads, rows))
      return wrong("expects rows of " + std::to_string(heads) +
                   (layout == GgufLayout::GroupedHeads
                        ? " query, key and value heads, but got "
                        : " heads of even width, but got ") +
                   std::to_string(rows) + " rows");
    matrix.emplace(layout, ReorderedMatrix::Direction::FromGguf, heads, rows,
                   tensor.elements() / rows);
  }
  infos.push_back(std::move(info));
  reordered.push_back(std::move(matrix));
  offsets.push_back(known ? known->row->offset : 0.0f);
  stored.push_back(&tensor);
  return Status::success();
}

Expected<std::unique_ptr<GgufWeights>>
GgufWeights::open(std::unique_ptr<ByteSource> source) {
  auto opened = GgufFile::open(std::move(source));
  if (!opened)
    return opened.takeError();
  std::unique_ptr<GgufWeights> weights(new GgufWeights(std::move(*opened)));
  auto family = familyOf(weights->gguf);
  if (!family)
    return family.takeError();
  auto config = ggufConfig(weights->gguf);
  if (!config)
    return config.takeError();
  std::vector<const GgufTensor *> order;
  for (const GgufTensor &tensor : weights->gguf.tensors())
    order.push_back(&tensor);
  std::sort(order.begin(), order.end(),
            [](const GgufTensor *a, const GgufTensor *b) {
              return a->begin < b->begin;
            });
  for (const GgufTensor *tensor : order)
    if (Status status = weights->addTensor(**family, *config, *tensor); !status)
      return status.takeError();
  return weights;
}

Status GgufWeights::readFloats(const TensorInfo &info, int64_t begin,
                               int64_t count, float *out) const {
  const auto index = static_cast<size_t>(&info - infos.data());
  const GgufTensor &tensor = *stored[index];
  std::optional<ReorderedMatrix> &matrix = reordered[index];
  if (!matrix || begin < 0 || count < 0 || begin > tensor.elements() - count) {
    Status status = gguf.readFloats(tensor, begin, count, out);
    if (status && offsets[index] != 0.0f)
      for (int64_t i = 0; i < count; ++i)
        out[i] -= offsets[index];
    return status; // names a wrong range
  }
  return matrix->read(
      [&](int64_t at, int64_t part, float *to) {
        return gguf.readFloats(tensor, at, part, to);
      },
      begin, count, out);
}

Status GgufWeights::read(const TensorInfo &info, int64_t begin, int64_t bytes,
                         void *out) const {
  auto *to = static_cast<char *>(out);
  if (begin % 4 == 0 && bytes % 4 == 0 &&
      reinterpret_cast<uintptr_t>(out) % alignof(float) == 0)
    return readFloats(info, begin / 4, bytes / 4, static_cast<float *>(out));
  for (int64_t done = 0; done < bytes;) {
    float value;
    const int64_t skipped = (begin + done) % 4;
    const int64_t part = std::min(4 - skipped, bytes - done);
    if (Status status = readFloats(info, (begin + done) / 4, 1, &value);
        !status)
      return status;
    std::memcpy(to + done, reinterpret_cast<char *>(&value) + skipped,
                static_cast<size_t>(part));
    done += part;
  }
  return Status::success();
}

} // namespace weft
