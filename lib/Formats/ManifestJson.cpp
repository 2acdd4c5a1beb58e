//===- ManifestJson.cpp - MANIFEST.json text ------------------------------===//

#include "weft/Base/InputFile.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/Manifest.h"
#include "weft/Formats/StepDirectories.h"

#include <filesystem>

namespace weft {

//===----------------------------------------------------------------------===//
// Writer
//===----------------------------------------------------------------------===//

static Json cursorJson(const DataCursor &cursor) {
  Json result = Json::object();
  result.set("rows", cursor.rows);
  result.set("shuffle", cursor.shuffle);
  result.set("shuffle_seed", cursor.shuffleSeed);
  return result;
}

static Json tensorJson(const ManifestTensor &tensor) {
  Json result = Json::object();
  result.set("name", tensor.name);
  result.set("kind", tensor.kind);
  result.set("dtype", tensorTypeName(tensor.type));
  result.set("shape", Json::arrayOf(tensor.shape));
  Json &pieces = result.set("pieces", Json::array());
  for (const ManifestPiece &piece : tensor.pieces) {
    Json &entry = pieces.push(Json::object());
    entry.set("file", piece.file);
    entry.set("key", piece.key);
    entry.set("begin", piece.begin);
    entry.set("end", piece.end);
  }
  return result;
}

// The text starts with its own digest, taken with zeros in its place, so that a
// flipped bit in a number does not go unnoticed.
static const std::string digestPrefix = "{\n  \"xxh3\": \"";
static const std::string noDigest(32, '0');

std::string Manifest::str() const {
  Json root = Json::object();
  root.set("xxh3", noDigest);
  root.set("weft_checkpoint", manifestVersion);
  root.set("step", step);
  root.set("world_size", worldSize);
  root.set("fingerprint", fingerprint);
  if (!fingerprint1.empty())
    root.set("fingerprint_1", fingerprint1);
  root.set("seed", seed);
  root.set("cursor", cursorJson(cursor));
  if (valLoss)
    root.set("val_loss", *valLoss);
  if (onlyBest)
    root.set("only_best", true);
  if (run)
    root.set("run", run->json());
  Json &fileList = root.set("files", Json::array());
  for (const ManifestFile &file : files) {
    Json &entry = fileList.push(Json::object());
    entry.set("name", file.name);
    entry.set("bytes", file.digest.bytes);
    entry.set("xxh3", file.digest.xxh3);
    entry.set("blocks", Json::arrayOf(file.digest.blocks));
  }
  Json &tensorList = root.set("tensors", Json::array());
  for (const ManifestTensor &tensor : tensors)
    tensorList.push(tensorJson(tensor));
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

namespace {

/// Reads fields one after the other and keeps the first error.
class Fields {
public:
  explicit Fields(JsonCursor at) : at(std::move(at)) {}

  void integer(const char *name, int64_t &out, int64_t least,
               int64_t most = INT64_MAX) {
    store(failure ? std::nullopt : std::optional(at.getInt(name, least, most)),
          out);
  }
  void boolean(const char *name, bool &out) {
    store(failure ? std::nullopt : std::optional(at.getBool(name)), out);
  }
  void string(const char *name, std::string &out) {
    store(failure ? std::nullopt : std::optional(at.getString(name)), out);
  }
  void strings(const char *name, std::vector<std::string> &out) {
    elements(name, [&](JsonCursor element) {
      store(std::optional(element.asString()), out.emplace_back());
    });
  }
  void shape(const char *name, std::vector<int64_t> &out) {
    store(failure ? std::nullopt : std::optional(at.getIntArray(name, 0)), out);
  }
  /// Calls `each` for every element of an array, until one fails.
  template <typename Function>
  void array(const char *name, const Function &each) {
    elements(name, [&](JsonCursor at) {
      Fields element(std::move(at));
      each(element);
      check(element);
    });
  }
  std::optional<JsonCursor> open(const char *name) {
    if (failure)
      return std::nullopt;
    auto field = at.get(name);
    if (field)
      return *field;
    fail(field.takeError());
    return std::nullopt;
  }
  void fail(Error error) { failure = std::move(error); }
  /// Takes over the error of fields inside.
  void check(Fields &inner) {
    if (inner.failure)
      fail(std::move(*inner.failure));
  }
  const JsonCursor &place() const { return at; }
  std::optional<Error> failure;

private:
  /// As array(), with the place of the element.
  template <typename Function>
  void elements(const char *name, const Function &each) {
    auto field = open(name);
    if (!field)
      return;
    auto size = field->arraySize();
    if (!size)
      return fail(size.takeError());
    for (size_t i = 0; i < *size && !failure; ++i)
      each(field->element(i));
  }
  template <typename T> void store(std::optional<Expected<T>> value, T &out) {
    if (!value)
      return;
    if (*value)
      out = std::move(**value);
    else
      fail(value->takeError());
  }

  JsonCursor at;
};

} // namespace

static void readCursor(Fields &root, DataCursor &cursor) {
  auto field = root.open("cursor");
  if (!field)
    return;
  Fields fields(*field);
  fields.integer("rows", cursor.rows, 0, mostRows);
  fields.boolean("shuffle", cursor.shuffle);
  fields.integer("shuffle_seed", cursor.shuffleSeed, INT64_MIN);
  root.check(fields);
}

static void readRun(const JsonCursor &root, Fields &fields,
                    std::optional<RunRecord> &out) {
  auto field = root.find("run");
  if (!field || fields.failure)
    return;
  auto record = RunRecord::read(*field);
  if (!record)
    return fields.fail(record.takeError());
  out = std::move(*record);
}

static void readFile(Fields &fields, std::vector<ManifestFile> &files) {
  ManifestFile file;
  fields.string("name", file.name);
  fields.integer("bytes", file.digest.bytes, 0);
  fields.string("xxh3", file.digest.xxh3);
  fields.strings("blocks", file.digest.blocks);
  files.push_back(std::move(file));
}

static void readTensor(Fields &fields, std::vector<ManifestTensor> &tensors) {
  ManifestTensor tensor;
  std::string dtype;
  fields.string("name", tensor.name);
  fields.string("kind", tensor.kind);
  fields.string("dtype", dtype);
  fields.shape("shape", tensor.shape);
  fields.array("pieces", [&](Fields &at) {
    ManifestPiece piece;
    at.string("file", piece.file);
    at.string("key", piece.key);
    at.integer("begin", piece.begin, 0);
    at.integer("end", piece.end, 0);
    tensor.pieces.push_back(std::move(piece));
  });
  if (fields.failure)
    return;
  auto type = parseTensorType(dtype);
  if (!type)
    return fields.fail(
        fields.place().error("unknown dtype " + inQuotes(dtype)));
  tensor.type = *type;
  tensors.push_back(std::move(tensor));
}

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
  Fields root(cursor);
  root.integer("step", result.step, 0, mostSteps);
  root.integer("world_size", result.worldSize, 1, mostRanks);
  root.string("fingerprint", result.fingerprint);
  if (cursor.find("fingerprint_1"))
    root.string("fingerprint_1", result.fingerprint1);
  root.integer("seed", result.seed, INT64_MIN);
  readCursor(root, result.cursor);
  if (auto loss = cursor.find("val_loss")) {
    auto number = loss->asDouble();
    if (!number)
      return number.takeError();
    result.valLoss = *number;
  }
  if (cursor.find("only_best"))
    root.boolean("only_best", result.onlyBest);
  readRun(cursor, root, result.run);
  root.array("files", [&](Fields &at) { readFile(at, result.files); });
  root.array("tensors", [&](Fields &at) { readTensor(at, result.tensors); });
  if (root.failure)
    return std::move(*root.failure);
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
        .hint("the directory was renamed: its name is that of another step");
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
