//===- SafetensorsWriter.cpp - Streaming writer ---------------------------===//

#include "weft/Formats/JsonFields.h"
#include "weft/Formats/Safetensors.h"

#include <algorithm>
#include <set>

namespace weft {

static Error misuse(const std::string &path, const std::string &message) {
  return Error(ExitCode::Internal, message).at(path);
}

/// The JSON header, padded with spaces so that the data starts at a multiple
/// of 8 bytes.
static std::string headerText(const std::vector<TensorSpec> &specs,
                              const std::vector<int64_t> &sizes,
                              const StringMap &metadata) {
  std::string text = "{";
  auto comma = [&] {
    if (text.size() > 1)
      text += ',';
  };
  if (!metadata.empty())
    text += "\"__metadata__\":" + toJson(metadata).compact();
  int64_t begin = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    comma();
    Json entry = Json::object();
    entry.set("dtype", tensorTypeName(specs[i].type));
    entry.set("shape", Json::arrayOf(specs[i].shape));
    Json &offsets = entry.set("data_offsets", Json::array());
    offsets.push(begin);
    offsets.push(begin += sizes[i]);
    appendJsonString(text, specs[i].name);
    text += ":" + entry.compact();
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

namespace {
/// The header of a file and the sizes of its tensors.
struct FileHead {
  std::string text; // the length of the header and the header
  std::vector<int64_t> sizes;
  int64_t total = 0; // bytes of all tensors
};
} // namespace

static Expected<FileHead> headOf(const std::string &path,
                                 const std::vector<TensorSpec> &specs,
                                 const StringMap &metadata) {
  FileHead head;
  std::set<std::string> names = {"__metadata__"};
  for (const TensorSpec &spec : specs) {
    auto bytes = countBytes(spec.type, spec.shape);
    if (!bytes || __builtin_add_overflow(head.total, *bytes, &head.total))
      return misuse(path, "tensor " + inQuotes(spec.name) +
                              " has no size in bytes for shape " +
                              shapeText(spec.shape));
    if (!names.insert(spec.name).second)
      return misuse(path, "tensor name " + inQuotes(spec.name) +
                              " is taken: names must differ");
    head.sizes.push_back(*bytes);
  }
  const std::string header = headerText(specs, head.sizes, metadata);
  const uint64_t length = header.size();
  head.text.assign(reinterpret_cast<const char *>(&length), sizeof length);
  head.text += header;
  return head;
}

Expected<SafetensorsWriter>
SafetensorsWriter::create(const std::string &path,
                          std::vector<TensorSpec> specs,
                          const StringMap &metadata) {
  auto head = headOf(path, specs, metadata);
  if (!head)
    return head.takeError();
  SafetensorsWriter writer;
  writer.specs = std::move(specs);
  writer.sizes = std::move(head->sizes);
  writer.left = head->total;
  auto out = OutputFile::create(path);
  if (!out)
    return out.takeError();
  writer.out = std::move(*out);
  if (Status status = writer.put(head->text); !status)
    return status.takeError();
  return writer;
}

Status SafetensorsWriter::put(std::string_view bytes) {
  running.update(bytes.data(), static_cast<int64_t>(bytes.size()));
  return out.write(bytes);
}

Status SafetensorsWriter::write(const void *data, int64_t bytes) {
  if (bytes > left)
    return misuse(out.path(), "more tensor bytes than announced");
  left -= bytes;
  for (int64_t rest = bytes; rest > 0;) {
    int64_t part = std::min(rest, sizes[next] - done);
    rest -= part;
    done += part;
    if (done == sizes[next]) {
      ++next;
      done = 0;
    }
  }
  return put({static_cast<const char *>(data), static_cast<size_t>(bytes)});
}

Status SafetensorsWriter::writeTensor(const std::string &name, const void *data,
                                      int64_t bytes) {
  // Empty tensors have no bytes to wait for.
  while (next < specs.size() && sizes[next] == 0 && specs[next].name != name)
    ++next;
  if (next == specs.size() || done != 0 || specs[next].name != name)
    return misuse(out.path(), "tensor " + inQuotes(name) +
                                  " is not the next one announced");
  if (bytes != sizes[next])
    return misuse(out.path(), "tensor " + inQuotes(name) + " expects " +
                                  exactBytes(sizes[next]) + ", but got " +
                                  exactBytes(bytes));
  if (bytes == 0) {
    ++next;
    return Status::success();
  }
  return write(data, bytes);
}

Status SafetensorsWriter::finish(IfTaken ifTaken) {
  while (next < specs.size() && sizes[next] == 0)
    ++next;
  if (next != specs.size())
    return misuse(out.path(),
                  "tensor " + inQuotes(specs[next].name) + " is not complete");
  result = running.finish();
  return out.commit(ifTaken);
}

//===- Rows of several tensors --------------------------------------------===//

Expected<SafetensorsRowWriter>
SafetensorsRowWriter::create(const std::string &path,
                             std::vector<TensorSpec> specs,
                             const StringMap &metadata) {
  if (isWrittenInPlace(path))
    return storageError("expects a regular file for rows of tensors, but got a "
                        "device or a pipe")
        .at(path);
  auto head = headOf(path, specs, metadata);
  if (!head)
    return head.takeError();
  SafetensorsRowWriter writer;
  int64_t begin = static_cast<int64_t>(head->text.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    const int64_t rows = specs[i].shape.empty() ? 0 : specs[i].shape[0];
    if (rows < 1 || rows != specs[0].shape[0])
      return misuse(path, "tensor " + inQuotes(specs[i].name) +
                              " has no rows like the first tensor");
    writer.columns.push_back(
        {specs[i].name, begin, head->sizes[i] / rows, rows, 0});
    begin += head->sizes[i];
  }
  auto out = OutputFile::create(path);
  if (!out)
    return out.takeError();
  writer.out = std::move(*out);
  if (Status status =
          writer.out.writeAt(0, head->text.data(), int64_t(head->text.size()));
      !status)
    return status.takeError();
  return writer;
}

Status SafetensorsRowWriter::write(size_t index, int64_t rows,
                                   const void *data) {
  Column &column = columns[index];
  if (rows > column.rows - column.done)
    return misuse(out.path(), "tensor " + inQuotes(column.name) +
                                  " has more rows than announced");
  const int64_t offset = column.begin + column.done * column.rowBytes;
  column.done += rows;
  return out.writeAt(offset, data, rows * column.rowBytes);
}

Status SafetensorsRowWriter::finish() {
  for (const Column &column : columns)
    if (column.done != column.rows)
      return misuse(out.path(),
                    "tensor " + inQuotes(column.name) + " is not complete");
  return out.commit();
}

} // namespace weft
