//===- Metadata.cpp - The description inside an executable ----------------===//

#include "weft/Runtime/Execute/Metadata.h"

#include "weft/Formats/JsonFields.h"
#include "weft/Formats/Launches.h"
#include "weft/Runtime/Execute/ScalerState.h"

#include <algorithm>
#include <limits>

using namespace weft;

bool Metadata::hasHyperParameter(const std::string &name) const {
  return std::find(hyperParameters.begin(), hyperParameters.end(), name) !=
         hyperParameters.end();
}

int64_t Metadata::ranks() const {
  int64_t ranks = 1;
  for (const MeshAxis &axis : mesh)
    ranks *= axis.ranks;
  return ranks;
}

static Status readString(const JsonCursor &root, const char *name,
                         std::string &out) {
  auto text = root.getString(name);
  if (!text)
    return text.takeError();
  out = *text;
  return Status::success();
}

/// An absent list is an empty one.
static Status readStrings(const JsonCursor &root, const char *name,
                          std::vector<std::string> &out) {
  return readElements(root, name, [&](const JsonCursor &element) -> Status {
    auto text = element.asString();
    if (!text)
      return text.takeError();
    out.push_back(*text);
    return Status::success();
  });
}

static Status readOptionalInt(const JsonCursor &root, const char *name,
                              int64_t &out) {
  auto value = root.find(name);
  if (!value)
    return Status::success();
  auto number = value->asInt(1);
  if (!number)
    return number.takeError();
  out = *number;
  return Status::success();
}

/// A number or a string becomes the text that the flag table parses.
static Expected<std::string> flagText(const JsonCursor &value) {
  if (value.value().isNumber() || value.value().isBool())
    return value.value().compact();
  return value.asString();
}

/// An object of flags, if it is there.
static Status readFlags(const JsonCursor &root, const char *name,
                        Settings &out) {
  auto read = [&](const std::string &flag, const JsonCursor &value) -> Status {
    auto text = flagText(value);
    if (!text)
      return text.takeError();
    out.push_back({flag, *text});
    return Status::success();
  };
  return readMembers(root, name, read);
}

static Status readDefaults(const JsonCursor &root, Metadata &out) {
  Settings defaults;
  if (Status s = readFlags(root, "defaults", defaults); !s)
    return s;
  out.defaults.insert(defaults.begin(), defaults.end());
  return readFlags(root, "options", out.options);
}

/// Programs of an older weft have one fingerprint, which covers all numbers.
static Status readIdentity(const JsonCursor &root, Metadata &out) {
  if (root.find("fingerprint_1"))
    if (Status s = readString(root, "fingerprint_1", out.fingerprint1); !s)
      return s;
  if (!root.find("adjustable"))
    return Status::success();
  return readFlags(root, "adjustable", out.adjustable.emplace());
}

static Status readDecays(const JsonCursor &root, Metadata &out) {
  auto read = [&](const std::string &group, const JsonCursor &value) -> Status {
    auto number = value.asDouble();
    if (!number)
      return number.takeError();
    out.decays[group] = *number;
    return Status::success();
  };
  return readMembers(root, "decays", read);
}

static Status readCounters(const JsonCursor &root, Metadata &out) {
  auto read = [&](const std::string &counter,
                  const JsonCursor &params) -> Status {
    auto size = params.arraySize();
    if (!size)
      return size.takeError();
    for (size_t i = 0; i < *size; ++i) {
      auto param = params.element(i).asString();
      if (!param)
        return param.takeError();
      if (!out.counters.insert({*param, counter}).second)
        return params.element(i).error("expects each parameter once, but got " +
                                       inQuotes(*param) + " again");
    }
    return Status::success();
  };
  return readMembers(root, "counters", read);
}

static Status readClip(const JsonCursor &root, Metadata &out) {
  auto clip = root.get("clip_norm");
  if (!clip)
    return clip.takeError();
  if (clip->value().isNull())
    return Status::success();
  auto text = flagText(*clip);
  if (!text)
    return text.takeError();
  out.canClip = true;
  out.clipNorm = *text;
  return Status::success();
}

static Status readMesh(const JsonCursor &root, Metadata &out) {
  return readElements(root, "mesh", [&](const JsonCursor &axis) -> Status {
    auto name = axis.getString("axis");
    if (!name)
      return name.takeError();
    auto ranks = axis.getInt("ranks", 1,
                             std::numeric_limits<int32_t>::max() / out.ranks());
    if (!ranks)
      return ranks.takeError();
    out.mesh.push_back({*name, *ranks});
    return Status::success();
  });
}

static Status readInputs(const JsonCursor &root, Metadata &out) {
  return readElements(root, "inputs", [&](const JsonCursor &input) -> Status {
    auto name = input.getString("name");
    if (!name)
      return name.takeError();
    auto limit = input.getInt("limit", 1);
    if (!limit)
      return limit.takeError();
    out.inputLimits[*name].limit = *limit;
    if (!input.find("ignore"))
      return Status::success();
    auto ignore = input.getInt("ignore");
    if (!ignore)
      return ignore.takeError();
    out.inputLimits[*name].ignore = *ignore;
    return Status::success();
  });
}

static Status readFiles(const JsonCursor &files,
                        std::vector<InitialFile> &out) {
  auto size = files.arraySize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i) {
    InitialFile file;
    if (Status s = readString(files.element(i), "path", file.path); !s)
      return s;
    if (Status s = readString(files.element(i), "digest", file.digest); !s)
      return s;
    if (file.digest.compare(0, 5, "xxh3:") == 0)
      file.digest.erase(0, 5);
    out.push_back(file);
  }
  return Status::success();
}

static Status readModelFiles(const JsonCursor &root, Metadata &out) {
  if (auto files = root.find("companion_files"))
    if (Status s = readFiles(*files, out.companionFiles); !s)
      return s;
  auto weights = root.find("initial_weights");
  if (!weights || weights->value().isNull())
    return Status::success();
  auto files = weights->get("files");
  if (!files)
    return files.takeError();
  return readFiles(*files, out.initialWeights);
}

static Status readScalars(const JsonCursor &root, Metadata &out) {
  for (auto field :
       {std::pair<const char *, std::string *>{"weft", &out.version},
        {"name", &out.name},
        {"family", &out.family},
        {"fingerprint", &out.fingerprint},
        {"target", &out.target}})
    if (Status s = readString(root, field.first, *field.second); !s)
      return s;
  if (Status s = readOptionalInt(root, "vocab", out.vocab); !s)
    return s;
  if (Status s = readOptionalInt(root, "collective_ctas", out.collectiveCtas);
      !s)
    return s;
  if (Status s = readOptionalInt(root, "seq", out.seq); !s)
    return s;
  auto batch = root.getInt("batch", 1);
  if (!batch)
    return batch.takeError();
  out.batch = *batch;
  if (auto rule = root.find("scaler"))
    if (auto scaler = parseScaler(*rule); !scaler)
      return scaler.takeError();
  if (root.find("row_mean")) {
    auto rowMean = root.getBool("row_mean");
    if (!rowMean)
      return rowMean.takeError();
    out.rowMean = *rowMean;
  }
  auto accumulation = root.getBool("accumulation");
  if (!accumulation)
    return accumulation.takeError();
  out.accumulation = *accumulation;
  return Status::success();
}

static Status readFields(const JsonCursor &root, Metadata &out) {
  auto format = root.getInt("format", 1, 1);
  if (!format)
    return format.takeError();
  if (Status s = readScalars(root, out); !s)
    return s;
  if (Status s = readStrings(root, "cpu_features", out.cpuFeatures); !s)
    return s;
  if (Status s = readStrings(root, "optimizers", out.optimizers); !s)
    return s;
  if (Status s = readStrings(root, "hyper_parameters", out.hyperParameters); !s)
    return s;
  if (Status s = readStrings(root, "ignored_weights", out.ignoredWeights); !s)
    return s;
  if (Status s = readStrings(root, "unread_weights", out.unreadWeights); !s)
    return s;
  if (Status s = readStrings(root, "tokenizer_files", out.tokenizerFiles); !s)
    return s;
  if (Status s = readClip(root, out); !s)
    return s;
  if (Status s = readIdentity(root, out); !s)
    return s;
  if (Status s = readDefaults(root, out); !s)
    return s;
  if (Status s = readDecays(root, out); !s)
    return s;
  if (Status s = readCounters(root, out); !s)
    return s;
  if (Status s = readInputs(root, out); !s)
    return s;
  if (Status s = readMesh(root, out); !s)
    return s;
  // Of no use here: the tables say the same.
  if (auto launches = readLaunches(root); !launches)
    return launches.takeError();
  if (auto table = root.find("debug_nan"))
    out.debugNan = table->value();
  for (auto field :
       {std::pair<const char *, std::string *>{"config", &out.config},
        {"precision", &out.precision},
        {"recipe", &out.recipe}})
    if (root.find(field.first))
      if (Status s = readString(root, field.first, *field.second); !s)
        return s;
  return readModelFiles(root, out);
}

Expected<Metadata> weft::parseMetadata(std::string_view text) {
  auto document = parseJson(text, "<metadata>");
  if (!document)
    return document.takeError().withCode(ExitCode::Internal);
  Metadata metadata;
  JsonCursor root(*document, "<metadata>", ExitCode::Internal);
  if (Status s = readFields(root, metadata); !s)
    return s.takeError();
  return metadata;
}
