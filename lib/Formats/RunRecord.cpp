//===- RunRecord.cpp - The part of a manifest that describes a run --------===//

#include "weft/Formats/RunRecord.h"

namespace weft {

const std::string *findSetting(const Settings &settings,
                               std::string_view name) {
  for (const auto &[key, value] : settings)
    if (key == name)
      return &value;
  return nullptr;
}

std::optional<int64_t> countOf(const Settings &settings,
                               std::string_view name) {
  const std::string *text = findSetting(settings, name);
  auto count = parseJson(text ? *text : "", std::string(name));
  return count && count->isInt() ? std::optional(count->asInt()) : std::nullopt;
}

static Json settingsJson(const Settings &settings) {
  Json object = Json::object();
  for (const auto &[name, value] : settings)
    object.set(name, value);
  return object;
}

static Json identityJson(const DataIdentity &identity) {
  Json object = Json::object();
  object.set("kind", identity.kind);
  object.set("length", identity.length);
  object.set("xxh3", identity.xxh3);
  return object;
}

Json RunRecord::json() const {
  Json object = Json::object();
  object.set("flags", settingsJson(flags));
  object.set("files", settingsJson(files));
  object.set("program", settingsJson(program));
  if (model)
    object.set("model", settingsJson(*model));
  if (!device.empty())
    object.set("device", settingsJson(device));
  if (decaySteps > 0)
    object.set("decay_steps", decaySteps);
  if (data)
    object.set("data", identityJson(*data));
  if (valData)
    object.set("val_data", identityJson(*valData));
  return object;
}

static Status readSettings(const JsonCursor &record, const char *name,
                           Settings &out) {
  auto field = record.get(name);
  if (!field)
    return field.takeError();
  auto size = field->objectSize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i) {
    auto text = field->member(i).asString();
    if (!text)
      return text.takeError();
    out.push_back({field->value().asObject()[i].name, std::move(*text)});
  }
  return Status::success();
}

static Status readIdentity(const JsonCursor &record, const char *name,
                           std::optional<DataIdentity> &out) {
  auto field = record.find(name);
  if (!field)
    return Status::success();
  auto kind = field->getString("kind");
  if (!kind)
    return kind.takeError();
  auto length = field->getInt("length", 0);
  if (!length)
    return length.takeError();
  auto xxh3 = field->getString("xxh3");
  if (!xxh3)
    return xxh3.takeError();
  out = DataIdentity{std::move(*kind), *length, std::move(*xxh3)};
  return Status::success();
}

Expected<RunRecord> RunRecord::read(const JsonCursor &at) {
  RunRecord record;
  for (auto [name, settings] :
       {std::pair("flags", &record.flags), std::pair("files", &record.files),
        std::pair("program", &record.program)})
    if (Status s = readSettings(at, name, *settings); !s)
      return s.takeError();
  if (at.find("model"))
    if (Status s = readSettings(at, "model", record.model.emplace()); !s)
      return s.takeError();
  if (at.find("device"))
    if (Status s = readSettings(at, "device", record.device); !s)
      return s.takeError();
  if (at.find("decay_steps")) {
    auto steps = at.getInt("decay_steps", 1);
    if (!steps)
      return steps.takeError();
    record.decaySteps = *steps;
  }
  if (Status s = readIdentity(at, "data", record.data); !s)
    return s.takeError();
  if (Status s = readIdentity(at, "val_data", record.valData); !s)
    return s.takeError();
  return record;
}

} // namespace weft
