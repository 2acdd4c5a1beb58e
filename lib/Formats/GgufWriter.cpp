//===- GgufWriter.cpp - Writer of GGUF files ------------------------------===//

#include "weft/Formats/GgufWriter.h"

#include "GgufFamilyRows.h"
#include "GgufRope.h"
#include "weft/Base/Text.h"

#include <cstring>
#include <set>

namespace weft {

static constexpr int64_t kAlignment = 32;

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

template <typename T> static void append(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

static void appendText(std::string &out, std::string_view text) {
  append<uint64_t>(out, text.size());
  out += text;
}

void GgufMetadata::addKey(std::string_view key, GgufValueType type) {
  appendText(text, key);
  append(text, static_cast<uint32_t>(type));
  ++values;
}

void GgufMetadata::addInteger(std::string_view key, uint32_t value) {
  addKey(key, GgufValueType::U32);
  append(text, value);
}

void GgufMetadata::addNumber(std::string_view key, float value) {
  addKey(key, GgufValueType::F32);
  append(text, value);
}

void GgufMetadata::addFlag(std::string_view key, bool value) {
  addKey(key, GgufValueType::Bool);
  append<uint8_t>(text, value);
}

void GgufMetadata::addText(std::string_view key, std::string_view value) {
  addKey(key, GgufValueType::String);
  appendText(text, value);
}

Status GgufMetadata::copy(const GgufFile &file, const GgufEntry &entry) {
  auto raw = file.rawValue(entry);
  if (!raw)
    return raw.takeError();
  addKey(entry.key, entry.type);
  text += *raw;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

static Error wrongField(const char *field, const char *rule,
                        const Json &value) {
  return inputError(std::string("field '") + field + "': expects " + rule +
                    ", but got " + printable(value.compact(), 80));
}

static Status addIntegerKey(const std::string &key, const char *field,
                            const Json &value, GgufMetadata &out) {
  if (!value.isInt() || value.asInt() < 0 ||
      value.asInt() > int64_t(UINT32_MAX))
    return wrongField(field, "an integer of 32 bits", value);
  out.addInteger(key, static_cast<uint32_t>(value.asInt()));
  return Status::success();
}

/// Adds the key of a row if the configuration has its field.
static Status addKey(const GgufFamily &family, const GgufKeyRow &row,
                     const Json &config, GgufMetadata &out) {
  const Json *value = config.find(row.field);
  if (row.use == GgufKeyUse::Zero || !value)
    return Status::success();
  const std::string key = std::string(family.architecture) + "." + row.key;
  if (value->isNull() && row.use == GgufKeyUse::Window)
    out.addInteger(key, 0);
  if (value->isNull())
    return Status::success();
  switch (row.use) {
  case GgufKeyUse::Number:
  case GgufKeyUse::RequiredNumber:
    if (!value->isNumber())
      return wrongField(row.field, "a number", *value);
    out.addNumber(key, static_cast<float>(value->asDouble()));
    return Status::success();
  case GgufKeyUse::Flag:
    if (!value->isBool())
      return wrongField(row.field, "true or false", *value);
    out.addFlag(key, value->asBool());
    return Status::success();
  case GgufKeyUse::RotaryWidth:
    return addIntegerKey(key, row.field, Json(rotaryWidth(family, config)),
                         out);
  default:
    return addIntegerKey(key, row.field, *value, out);
  }
}

static bool isMissing(const Json &config, const char *field) {
  const Json *value = config.find(field);
  return !value || value->isNull();
}

/// Fields of keys that config.json need not have.
static void addDefaults(const GgufFamily &family, Json &config) {
  for (const GgufDefault &entry : family.defaults)
    if (entry.nullIsNone ? !config.find(entry.field)
                         : isMissing(config, entry.field))
      config.set(entry.field, entry.value);
  const int64_t heads = integerField(config, family.queryHeads);
  // A null means the number of heads in every family.
  if (isMissing(config, family.keyHeads))
    config.set(family.keyHeads,
               config.find(family.keyHeads) || family.missingKeyHeads == 0
                   ? heads
                   : family.missingKeyHeads);
  if (family.theta && isMissing(config, "head_dim"))
    config.set("head_dim", family.missingHeadWidth != 0
                               ? family.missingHeadWidth
                               : headWidthOf(config));
}

static Status checkFixedFields(const GgufFamily &family, const Json &config) {
  for (const GgufFixedField &fixed : family.fixed) {
    const Json *given = config.find(fixed.field);
    const Json value = given ? *given : Json();
    bool isAccepted = false;
    for (const Json &accepted : fixed.accepted)
      isAccepted |= value == accepted;
    if (!isAccepted)
      return unwritableField(fixed.field, fixed.accepted[1].compact(), value);
  }
  return Status::success();
}

Expected<GgufMetadata> ggufMetadata(const GgufFamily &family, Json config) {
  flattenRope(family, config);
  addDefaults(family, config);
  if (Status status = checkFixedFields(family, config); !status)
    return status.takeError();
  if (family.prepareKeys)
    if (Status status = family.prepareKeys(config); !status)
      return status.takeError();
  GgufMetadata out;
  out.addText("general.architecture", family.architecture);
  for (const GgufKeyRow &row : family.keys)
    if (Status status = addKey(family, row, config, out); !status)
      return status.takeError();
  if (Status status = addRopeKeys(family, config, out); !status)
    return status.takeError();
  return out;
}

Expected<std::vector<float>> ggufTable(const GgufFamily &family, Json config,
                                       std::string_view name) {
  flattenRope(family, config);
  addDefaults(family, config);
  return ropeTable(family, config, name);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

GgmlType writtenType(const GgufTensorRow &row,
                     const std::vector<int64_t> &shape, GgmlType type) {
  if (row.keepsF32 || shape.size() < 2)
    return GgmlType::F32;
  return shape.back() % rowOf(type).blockElements == 0 ? type : GgmlType::F16;
}

uint32_t ggufFileType(GgmlType type) {
  // LLAMA_FTYPE of llama.cpp.
  return type == GgmlType::F16    ? 1
         : type == GgmlType::Q8_0 ? 7
         : type == GgmlType::BF16 ? 32
                                  : 0;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static Error misuse(const std::string &path, const std::string &message) {
  return Error(ExitCode::Internal, message).at(path);
}

static int64_t alignedUp(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

static int64_t elementsOf(const GgufTensorSpec &spec) {
  int64_t count = 1;
  for (int64_t size : spec.shape)
    count *= size;
  return count;
}

static int64_t bytesOf(const GgufTensorSpec &spec) {
  const GgmlTypeRow &type = rowOf(spec.type);
  return elementsOf(spec) / type.blockElements * type.blockBytes;
}

static std::string headerText(const GgufMetadata &metadata,
                              const std::vector<GgufTensorSpec> &specs) {
  std::string header = "GGUF";
  append<uint32_t>(header, 3);
  append<uint64_t>(header, specs.size());
  append<uint64_t>(header, metadata.count());
  header += metadata.bytes();
  int64_t offset = 0;
  for (const GgufTensorSpec &spec : specs) {
    appendText(header, spec.name);
    append<uint32_t>(header, static_cast<uint32_t>(spec.shape.size()));
    for (size_t i = spec.shape.size(); i-- > 0;)
      append<uint64_t>(header, static_cast<uint64_t>(spec.shape[i]));
    append<uint32_t>(header, static_cast<uint32_t>(spec.type));
    append<uint64_t>(header, static_cast<uint64_t>(offset));
    offset = alignedUp(offset + bytesOf(spec));
  }
  return header;
}

Expected<GgufWriter> GgufWriter::create(const std::string &path,
                                        const GgufMetadata &metadata,
                                        std::vector<GgufTensorSpec> specs) {
  std::set<std::string> names;
  for (const GgufTensorSpec &spec : specs) {
    const int64_t row = spec.shape.empty() ? 1 : spec.shape.back();
    if (elementsOf(spec) < 1 || row % rowOf(spec.type).blockElements != 0)
      return misuse(path, "tensor " + inQuotes(spec.name) + " of type " +
                              rowOf(spec.type).name +
                              " has no whole blocks or no elements");
    if (!names.insert(spec.name).second)
      return misuse(path, "tensor name " + inQuotes(spec.name) +
                              " is taken: names must differ");
  }
  GgufWriter writer;
  writer.specs = std::move(specs);
  auto out = OutputFile::create(path);
  if (!out)
    return out.takeError();
  writer.out = std::move(*out);
  const std::string header = headerText(metadata, writer.specs);
  if (Status status = writer.out.write(header); !status)
    return status.takeError();
  writer.length = static_cast<int64_t>(header.size());
  if (Status status = writer.pad(); !status)
    return status.takeError();
  return writer;
}

Status GgufWriter::pad() {
  static constexpr char zeros[kAlignment] = {};
  const int64_t missing = alignedUp(length) - length;
  length += missing;
  return out.write(zeros, missing);
}

Expected<int64_t> GgufWriter::write(const float *values, int64_t count) {
  if (next == specs.size() || count > elementsOf(specs[next]) - done)
    return misuse(out.path(), "more tensor elements than announced");
  const GgmlTypeRow &type = rowOf(specs[next].type);
  if (count % type.blockElements != 0)
    return misuse(out.path(), "a part of a block");
  std::vector<uint8_t> bytes(
      static_cast<size_t>(count / type.blockElements * type.blockBytes));
  const int64_t wrong =
      encodeGgml(specs[next].type, values, count, bytes.data());
  if (Status status =
          out.write(bytes.data(), static_cast<int64_t>(bytes.size()));
      !status)
    return status.takeError();
  length += static_cast<int64_t>(bytes.size());
  done += count;
  if (done < elementsOf(specs[next]))
    return wrong;
  ++next;
  done = 0;
  if (Status status = pad(); !status)
    return status.takeError();
  return wrong;
}

Status GgufWriter::finish(IfTaken ifTaken) {
  if (next != specs.size())
    return misuse(out.path(),
                  "tensor " + inQuotes(specs[next].name) + " is not complete");
  return out.commit(ifTaken);
}

} // namespace weft
