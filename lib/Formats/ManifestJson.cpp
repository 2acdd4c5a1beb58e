//===- ManifestJson.cpp - MANIFEST.json text ------------------------------===//

#include "weft/Base/InputFile.h"
#include "weft/Formats/JsonFields.h"
#include "weft/Formats/Manifest.h"
#include "weft/Formats/StepDirectories.h"

#include <filesystem>

namespace weft {

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

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

template <typename Io> static void listFields(Io &io, DataIdentity &identity) {
  io.field("kind", identity.kind);
  io.field("length", identity.length, 0);
  io.field("xxh3", identity.xxh3);
}

template <typename Io> static void listFields(Io &io, RunRecord &record) {
  io.field("flags", record.flags);
  io.field("files", record.files);
  io.field("program", record.program);
  io.optional("model", record.model);
  io.optional("device", record.device);
  io.optional("decay_steps", record.decaySteps, 1);
  io.optional("data", record.data);
  io.optional("val_data", record.valData);
}

Json RunRecord::json() const { return toJson(*this); }

Expected<RunRecord> RunRecord::read(const JsonCursor &at) {
  RunRecord record;
  if (Status s = JsonReader::read(at, record); !s)
    return s.takeError();
  return record;
}

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

template <typename Io> static void listFields(Io &io, DataCursor &cursor) {
  io.field("rows", cursor.rows, 0, mostRows);
  io.field("shuffle", cursor.shuffle);
  io.field("shuffle_seed", cursor.shuffleSeed);
}

template <typename Io> static void listFields(Io &io, ManifestFile &file) {
  io.field("name", file.name);
  io.field("bytes", file.digest.bytes, 0);
  io.field("xxh3", file.digest.xxh3);
  io.field("blocks", file.digest.blocks);
}

template <typename Io> static void listFields(Io &io, ManifestPiece &piece) {
  io.field("file", piece.file);
  io.field("key", piece.key);
  io.field("begin", piece.begin, 0);
  io.field("end", piece.end, 0);
}

template <typename Io> static void listFields(Io &io, ManifestTensor &tensor) {
  std::string dtype = tensorTypeName(tensor.type);
  io.field("name", tensor.name);
  io.field("kind", tensor.kind);
  io.field("dtype", dtype);
  io.field("shape", tensor.shape, 0);
  io.field("pieces", tensor.pieces);
  io.convert(parseTensorType(dtype), tensor.type,
             "unknown dtype " + inQuotes(dtype));
}

template <typename Io> static void listFields(Io &io, Manifest &manifest) {
  io.field("step", manifest.step, 0, mostSteps);
  io.field("world_size", manifest.worldSize, 1, mostRanks);
  io.field("fingerprint", manifest.fingerprint);
  io.optional("fingerprint_1", manifest.fingerprint1);
  io.field("seed", manifest.seed);
  io.field("cursor", manifest.cursor);
  io.optional("val_loss", manifest.valLoss);
  io.optional("only_best", manifest.onlyBest);
  io.optional("run", manifest.run);
  io.field("files", manifest.files);
  io.field("tensors", manifest.tensors);
}

// The text starts with its own digest, taken with zeros in its place, so that a
// flipped bit in a number does not go unnoticed.
static const std::string digestPrefix = "{\n  \"xxh3\": \"";
static const std::string noDigest(32, '0');

std::string Manifest::str() const {
  Json root = Json::object();
  root.set("xxh3", noDigest);
  root.set("weft_checkpoint", manifestVersion);
  addFields(root, *this);
  std::string text = root.pretty();
  return text.replace(digestPrefix.size(), 32, digest128(text));
}

Status Manifest::write(const std::string &stepDirectory) const {
  std::string path = stepDirectory + "/" + manifestName;
  if (Status status = validate(path); !status)
    return status.takeError().withCode(ExitCode::Internal);
  return writeFile(path, str());
}

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

static Status checkOwnDigest(std::string_view text, const std::string &file) {
  size_t at = digestPrefix.size();
  if (text.size() < at + 32 || text.compare(0, at, digestPrefix) != 0)
    return checkpointError("expects a manifest that starts with its digest")
        .at(file)
        .hint("the file is damaged or no manifest of weft");
  std::string zeroed(text);
  std::string stated = zeroed.substr(at, 32);
  std::string actual = digest128(zeroed.replace(at, 32, noDigest));
  if (stated != actual)
    return checkpointError("expects digest " + printable(stated, 32) +
                           " of the manifest, but got " + actual)
        .at(file)
        .hint("the manifest is damaged: resume from an older step");
  return Status::success();
}

/// The layout of the text is the one that is written now.
static Status checkVersion(const JsonCursor &root) {
  auto version = root.get("weft_checkpoint");
  if (!version)
    return version.takeError();
  auto number = version->asInt();
  if (!number)
    return number.takeError();
  if (*number == manifestVersion)
    return Status::success();
  const char *hint =
      *number < manifestVersion
          ? "an older weft wrote it: continue with that one, or take the "
            "weights with its `weft ckpt export` and give them with --init-from"
          : "a newer weft wrote it: continue with that one";
  return version
      ->error("expects checkpoint format " + std::to_string(manifestVersion) +
              ", but got " + std::to_string(*number))
      .hint(hint)
      .ofWholeFile();
}

Expected<Manifest> Manifest::parse(std::string_view text,
                                   const std::string &file) {
  if (Status status = checkOwnDigest(text, file); !status)
    return status.takeError();
  auto json = parseJson(text, file);
  if (!json)
    return json.takeError().ofCheckpoint();
  JsonCursor cursor(*json, file, ExitCode::Checkpoint);
  if (Status status = checkVersion(cursor); !status)
    return status.takeError();
  Manifest result;
  if (Status status = JsonReader::read(cursor, result); !status)
    return status.takeError();
  if (Status status = result.validate(file); !status)
    return status.takeError();
  return result;
}

/// A directory with the name of a step must hold this step, however the path
/// is written.
static Status checkName(const std::string &stepDirectory,
                        const Manifest &manifest) {
  std::error_code error;
  auto real = std::filesystem::canonical(stepDirectory, error);
  if (error)
    return systemError(ExitCode::Checkpoint, "cannot find", error.value())
        .at(stepDirectory)
        .ofCheckpoint();
  auto step = parseStepDirectoryName(real.filename().string());
  if (step && *step != manifest.step)
    return checkpointError("expects step " + std::to_string(*step) +
                           ", but got " + std::to_string(manifest.step))
        .at(stepDirectory + "/" + manifestName)
        .hint("the directory was renamed: its name belongs to another step");
  return Status::success();
}

Expected<Manifest> Manifest::read(const std::string &stepDirectory) {
  std::string path = stepDirectory + "/" + manifestName;
  auto text = readFile(path);
  if (!text)
    return text.takeError().ofCheckpoint();
  auto manifest = parse(*text, path);
  if (!manifest)
    return manifest;
  if (Status status = checkName(stepDirectory, *manifest); !status)
    return status.takeError();
  return manifest;
}

} // namespace weft
