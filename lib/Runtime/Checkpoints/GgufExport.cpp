//===- GgufExport.cpp - weft ckpt export --format gguf --------------------===//

#include "weft/Base/Durable.h"
#include "weft/Base/Flags.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/GgufVocabulary.h"
#include "weft/Formats/GgufWeights.h"
#include "weft/Formats/GgufWriter.h"
#include "weft/Formats/Manifest.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <sys/stat.h>

using namespace weft;

namespace {
/// A weight of the checkpoint and its tensor in the file.
struct Source {
  const ManifestTensor *tensor;
  GgufTensorSpec spec;
  GgufLayout layout;
  float offset; // added to each value
};

class GgufExport {
public:
  GgufExport(CheckpointReader &reader, GgmlType type)
      : reader(reader), type(type) {}

  /// Chooses the architecture, the metadata and the tensors.
  Status prepare(const Json &model);
  Status write(const std::string &path, IfTaken ifTaken);
  /// The GGUF file that the model came from, if it is unchanged.
  const std::optional<GgufFile> &origin() const { return from; }

private:
  Status readConfig(const Json &model);
  Status openOrigin(const Json &model);
  Status makeMetadata();
  Status copyMetadata();
  Status addSources();
  Status addTables();
  Status writeTensor(GgufWriter &writer, const Source &source);
  Status checkFit(const Source &source, int64_t lost) const;

  CheckpointReader &reader;
  const GgmlType type;
  const GgufFamily *family = nullptr;
  Json config;
  std::optional<GgufFile> from;
  GgufMetadata metadata;
  std::vector<Source> sources;
  /// Tensors that are configuration, in front of the weights.
  std::vector<std::pair<GgufTensorSpec, std::vector<float>>> tables;
};
} // namespace

Status GgufExport::readConfig(const Json &model) {
  const std::string text = textField(model, "config");
  if (text.empty())
    return inputError("expects a model of config.json or of a GGUF file, but "
                      "the checkpoint has no configuration")
        .at(reader.path())
        .hint("--format safetensors exports weights of any model");
  auto json = parseJson(text, reader.path());
  if (!json)
    return json.takeError();
  config = std::move(*json);
  family = familyOfModelType(textField(config, "model_type"));
  if (!family)
    return inputError("field 'model_type': expects a family with a GGUF "
                      "architecture, " +
                      ggufModelTypes() + ", but got " +
                      inQuotes(textField(config, "model_type")))
        .at(reader.path())
        .hint("--format safetensors exports any model");
  return Status::success();
}

/// A checkpoint of somebody else may name any file, but not its digest.
Status GgufExport::openOrigin(const Json &model) {
  const Json *list = model.find("companions");
  if (!list || !list->isArray())
    return Status::success();
  for (const Json &entry : list->asArray()) {
    const std::string path = textField(entry, "path");
    if (!endsWith(lowerCase(path), ".gguf"))
      continue;
    auto digest = digestFile(path);
    if (!digest) {
      warn(digest.error().where(), "the export has no tokenizer: put the file "
                                   "back and export again");
      continue;
    }
    if (digest->xxh3 != textField(entry, "xxh3")) {
      warn(path + ": was changed since the program was compiled",
           "the export has no tokenizer");
      continue;
    }
    auto file = GgufFile::open(path);
    if (!file)
      return file.takeError();
    from.emplace(std::move(*file));
  }
  return Status::success();
}

/// Values of the origin that describe its tensors, not the model.
static bool isOfTensors(const std::string &key) {
  return key == "general.file_type" || key == "general.alignment" ||
         key == "general.quantization_version" || key.rfind("split.", 0) == 0;
}

Status GgufExport::copyMetadata() {
  for (const GgufEntry &entry : from->entries())
    if (!isOfTensors(entry.key))
      if (Status s = metadata.copy(*from, entry); !s)
        return s;
  return Status::success();
}

Status GgufExport::makeMetadata() {
  if (from) {
    if (Status s = copyMetadata(); !s)
      return s;
  } else {
    auto made = ggufMetadata(*family, config);
    if (!made)
      return Error(made.takeError()).at(reader.path());
    metadata = std::move(*made);
    metadata.addText("tokenizer.ggml.model", "no_vocab");
  }
  metadata.addInteger("general.file_type", ggufFileType(type));
  if (rowOf(type).blockElements > 1)
    metadata.addInteger("general.quantization_version", 2);
  return Status::success();
}

Status GgufExport::addSources() {
  for (const ManifestTensor &tensor : reader.manifest().tensors) {
    if (tensor.kind != "param")
      continue;
    const std::optional<GgufName> name = toGgufName(*family, tensor.name);
    if (!name)
      return inputError("the architecture " +
                        std::string(family->architecture) +
                        " has no tensor for " + inQuotes(tensor.name))
          .at(reader.path());
    Source source = {&tensor,
                     {name->name, type, tensor.shape},
                     name->row->layout,
                     name->row->offset};
    if (tensor.shape.size() != 2 && source.layout == GgufLayout::Transposed)
      source.layout = GgufLayout::Same;
    if (source.layout == GgufLayout::Transposed)
      std::swap(source.spec.shape[0], source.spec.shape[1]);
    source.spec.type = writtenType(*name->row, source.spec.shape, type);
    sources.push_back(std::move(source));
  }
  return Status::success();
}

Status GgufExport::addTables() {
  for (const char *name : family->tables) {
    const GgufTensor *table = from ? from->find(name) : nullptr;
    std::vector<float> values;
    if (table) {
      values.resize(size_t(table->elements()));
      if (Status s =
              from->readFloats(*table, 0, table->elements(), values.data());
          !s)
        return s;
    } else if (!from) {
      auto factors = ggufTable(*family, config, name);
      if (!factors)
        return Error(factors.takeError()).at(reader.path());
      values = std::move(*factors);
    }
    if (!values.empty()) {
      GgufTensorSpec spec = {name, GgmlType::F32, {int64_t(values.size())}};
      tables.emplace_back(std::move(spec), std::move(values));
    }
  }
  return Status::success();
}

Status GgufExport::prepare(const Json &model) {
  if (Status s = readConfig(model); !s)
    return s;
  if (Status s = openOrigin(model); !s)
    return s;
  if (Status s = makeMetadata(); !s)
    return s;
  if (Status s = addSources(); !s)
    return s;
  return addTables();
}

Status GgufExport::checkFit(const Source &source, int64_t lost) const {
  if (lost == 0)
    return Status::success();
  return inputError(
             "expects weights that " +
             std::string(rowOf(source.spec.type).name) + " can hold, but " +
             std::to_string(lost) +
             (source.spec.type == GgmlType::Q8_0 ? " blocks" : " elements") +
             " of " + inQuotes(source.tensor->name) + " are too large")
      .at(reader.path())
      .hint("export with --dtype f32");
}

Status GgufExport::writeTensor(GgufWriter &writer, const Source &source) {
  constexpr int64_t most = int64_t(1) << 18; // whole blocks
  const std::vector<int64_t> &shape = source.spec.shape;
  const int64_t elements = countElements(shape).value_or(0);
  const int64_t rows = shape.empty() ? 1 : shape[0];
  const int64_t heads = ggufHeads(*family, config, source.layout);
  if (!ReorderedMatrix::fits(source.layout, heads, rows))
    return inputError("tensor " + inQuotes(source.tensor->name) +
                      ": expects rows of " + std::to_string(heads) +
                      " heads, but got " + std::to_string(rows) + " rows")
        .at(reader.path());
  ReorderedMatrix matrix(source.layout, ReorderedMatrix::Direction::ToGguf,
                         heads, rows, elements / std::max<int64_t>(rows, 1));
  const auto read = [&](int64_t begin, int64_t count, float *out) {
    return reader.readFloats(*source.tensor, begin, count, out);
  };
  std::vector<float> values(size_t(std::min(most, elements)));
  int64_t lost = 0;
  for (int64_t at = 0; at < elements; at += most) {
    const int64_t part = std::min(most, elements - at);
    if (Status s = source.layout == GgufLayout::Same
                       ? read(at, part, values.data())
                       : matrix.read(read, at, part, values.data());
        !s)
      return s;
    if (source.offset != 0.0f)
      for (int64_t i = 0; i < part; ++i)
        values[size_t(i)] += source.offset;
    if (source.spec.type == GgmlType::F16 || source.spec.type == GgmlType::BF16)
      lost +=
          countOverflows(values.data(), part,
                         source.spec.type == GgmlType::F16 ? TensorType::F16
                                                           : TensorType::BF16);
    auto wrong = writer.write(values.data(), part);
    if (!wrong)
      return wrong.takeError();
    lost += *wrong;
  }
  return checkFit(source, lost);
}

Status GgufExport::write(const std::string &path, IfTaken ifTaken) {
  std::vector<GgufTensorSpec> specs;
  for (const auto &[spec, values] : tables)
    specs.push_back(spec);
  for (const Source &source : sources)
    specs.push_back(source.spec);
  auto writer = GgufWriter::create(path, metadata, std::move(specs));
  if (!writer)
    return writer.takeError();
  for (const auto &[spec, values] : tables)
    if (auto wrong = writer->write(values.data(), int64_t(values.size()));
        !wrong)
      return wrong.takeError();
  for (const Source &source : sources)
    if (Status s = writeTensor(*writer, source); !s)
      return s;
  return writer->finish(ifTaken);
}

static Status checkTarget(const std::string &out,
                          const std::optional<GgufFile> &origin,
                          bool overwrites) {
  std::vector<FileUse> inputs;
  if (origin)
    inputs.push_back({"the model", origin->path()});
  if (Status s =
          checkOutputPaths({{"weft ckpt export", out}}, inputs, manifestName);
      !s)
    return s;
  struct stat info;
  if (overwrites || ::stat(out.c_str(), &info) != 0)
    return Status::success();
  return usageError("expects a file that is not there yet, but there is one")
      .at(out)
      .hint("choose another file, or --overwrite replaces it");
}

Status weft::exportGguf(const std::string &folder, const std::string &out,
                        GgmlType type, bool overwrites) {
  if (!endsWith(out, ".gguf"))
    return usageError("--format gguf expects OUT to be a file that ends in "
                      ".gguf, but got " +
                      inQuotes(out));
  auto step = holdStep(folder);
  if (!step)
    return step.takeError();
  auto reader = CheckpointReader::open(step->path);
  if (!reader)
    return reader.takeError();
  auto model = readModelFile(reader->manifest(), step->path);
  if (!model)
    return model.takeError();
  GgufExport work(*reader, type);
  if (Status s = work.prepare(*model); !s)
    return s;
  if (Status s = checkTarget(out, work.origin(), overwrites); !s)
    return s;
  if (Status s = makeDirectories(parentOf(out)); !s)
    return s;
  if (Status s = work.write(out, overwrites ? IfTaken::Replace : IfTaken::Fail);
      !s)
    return s;
  if (!work.origin() || !work.origin()->findEntry(kGgufTokens))
    warn("the file has no tokenizer",
         "a model that is compiled from a GGUF file keeps its tokenizer");
  return Status::success();
}
