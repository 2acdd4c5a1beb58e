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

Expected<SafetensorsWriter>
SafetensorsWriter::create(const std::string &path,
                          std::vector<TensorSpec> specs,
                          const StringMap &metadata) {
  SafetensorsWriter writer;
  std::set<std::string> names = {"__metadata__"};
  int64_t total = 0;
  for (const TensorSpec &spec : specs) {
    auto bytes = countBytes(spec.type, spec.shape);
    if (!bytes || __builtin_add_overflow(total, *bytes, &total))
      return misuse(path, "tensor " + inQuotes(spec.name) +
                              " has no size in bytes for shape " +
                              shapeText(spec.shape));
    if (!names.insert(spec.name).second)
      return misuse(path, "tensor name " + inQuotes(spec.name) +
                              " is taken: names must differ");
    writer.sizes.push_back(*bytes);
  }
  std::string header = headerText(specs, writer.sizes, metadata);
  writer.specs = std::move(specs);
  writer.left = total;
  auto out = OutputFile::create(path);
  if (!out)
    return out.takeError();
  writer.out = std::move(*out);
  uint64_t length = header.size();
  std::string prefix(reinterpret_cast<const char *>(&length), sizeof length);
  if (Status status = writer.put(prefix + header); !status)
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

} // namespace weft
