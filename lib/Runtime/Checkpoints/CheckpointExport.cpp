//===- CheckpointExport.cpp - weft ckpt export ----------------------------===//

#include "weft/Base/Durable.h"
#include "weft/Base/Half.h"
#include "weft/Base/InputFile.h"
#include "weft/Base/OutputFile.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/Manifest.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Formats/WeightFiles.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

using namespace weft;

namespace {

/// A weight and the name it is exported under.
struct Weight {
  std::string name;
  const ManifestTensor *tensor;
};

} // namespace

/// The weights in the order of their exported names.
static std::vector<Weight> weightsOf(const Manifest &manifest,
                                     const Json &model) {
  std::vector<Weight> weights;
  const Json *sources = model.find("sources");
  for (const ManifestTensor &tensor : manifest.tensors) {
    if (tensor.kind != "param")
      continue;
    const Json *source = sources ? sources->find(tensor.name) : nullptr;
    weights.push_back(
        {source && source->isString() ? source->asString() : tensor.name,
         &tensor});
  }
  std::sort(weights.begin(), weights.end(),
            [](const Weight &a, const Weight &b) { return a.name < b.name; });
  return weights;
}

static Status writePiece(SafetensorsWriter &writer, const float *values,
                         int64_t count, TensorType type) {
  if (type == TensorType::F32)
    return writer.write(values, count * 4);
  std::vector<uint16_t> halves;
  halves.reserve(size_t(count));
  for (int64_t i = 0; i < count; ++i)
    halves.push_back(type == TensorType::F16 ? floatToHalf(values[i])
                                             : floatToBf16(values[i]));
  return writer.write(halves.data(), count * 2);
}

static Status writeWeight(SafetensorsWriter &writer, CheckpointReader &reader,
                          const Weight &weight, TensorType type) {
  constexpr int64_t most = int64_t(1) << 20;
  const int64_t elements = countElements(weight.tensor->shape).value_or(0);
  std::vector<float> values(size_t(std::min(most, elements)));
  int64_t lost = 0;
  for (int64_t at = 0; at < elements; at += most) {
    const int64_t part = std::min(most, elements - at);
    if (Status s = reader.readFloats(*weight.tensor, at, part, values.data());
        !s)
      return s;
    lost += countOverflows(values.data(), part, type);
    if (Status s = writePiece(writer, values.data(), part, type); !s)
      return s;
  }
  if (lost == 0)
    return Status::success();
  return overflowError(weight.name, type, lost, elements)
      .at(reader.path())
      .hint(type == TensorType::F16 ? "export with --dtype bf16 or f32"
                                    : "export with --dtype f32");
}

static Status writeWeights(CheckpointReader &reader, const Json &model,
                           const std::string &path, TensorType type,
                           IfTaken ifTaken) {
  std::vector<Weight> weights = weightsOf(reader.manifest(), model);
  std::vector<TensorSpec> specs;
  for (const Weight &weight : weights)
    specs.push_back({weight.name, type, weight.tensor->shape});
  // transformers refuses a file without this entry.
  auto writer = SafetensorsWriter::create(path, specs, {{"format", "pt"}});
  if (!writer)
    return writer.takeError();
  for (const Weight &weight : weights)
    if (Status s = writeWeight(*writer, reader, weight, type); !s)
      return s;
  return writer->finish(ifTaken);
}

namespace {
/// A file of an export, whole.
struct ExportedFile {
  std::string path, text;
};
} // namespace

/// Tokenizers have some ten megabytes.
static constexpr int64_t kMostBytes = int64_t(1) << 30;

/// The name of a file to copy; "" for what no compiler records, lest a made up
/// checkpoint choose files of its reader.
static std::string nameOf(const std::string &path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const std::vector<std::string> &names = companionNames();
  return std::find(names.begin(), names.end(), name) == names.end() ? "" : name;
}

/// The files that `model`, the text of a checkpoint, records beside the model's
/// configuration, for the folder `out`. One that is gone or was changed since
/// is left out with a warning.
static std::vector<ExportedFile> readCompanions(const Json &model,
                                                const std::string &out) {
  std::vector<ExportedFile> files;
  const Json *list = model.find("companions");
  if (!list || !list->isArray())
    return files;
  for (const Json &entry : list->asArray()) {
    const std::string path = textField(entry, "path"), name = nameOf(path);
    if (name.empty())
      continue;
    auto text = readFile(path, kMostBytes);
    if (!text)
      warn(text.error().where(), "the export has no " + name +
                                     "; copy it from the folder of the model");
    else if (digestBytes(*text).xxh3 != textField(entry, "xxh3"))
      warn(path + ": was changed since the program was compiled",
           "the export has no " + name + "; copy it if it is right");
    else
      files.push_back({out + "/" + name, std::move(*text)});
  }
  return files;
}

/// A usage error at the first file that is there already with other bytes.
static Status checkNew(const std::vector<ExportedFile> &files) {
  for (const ExportedFile &file : files) {
    struct stat info;
    if (::stat(file.path.c_str(), &info) != 0)
      continue;
    auto existing = readFile(file.path, kMostBytes);
    if (!existing)
      return existing.takeError().withCode(ExitCode::Storage);
    if (*existing != file.text)
      return usageError("expects a folder without another file of that name, "
                        "but there is one")
          .at(file.path)
          .hint("choose another folder, or --overwrite replaces it");
  }
  return Status::success();
}

/// All files but the weights.
static std::vector<ExportedFile> readFiles(const Json &model,
                                           const std::string &out) {
  std::vector<ExportedFile> files = readCompanions(model, out);
  const std::string config = textField(model, "config");
  if (!config.empty())
    files.push_back({out + "/config.json", config});
  return files;
}

static Status checkNoWeights(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0)
    return usageError("expects a folder without weights, but the file exists")
        .at(path)
        .hint("choose another folder, or --overwrite replaces it");
  if (errno != ENOENT)
    return systemError(ExitCode::Storage, "cannot read", errno).at(path);
  return Status::success();
}

/// Nothing is written before all files may be.
static Status checkTargets(const std::string &weights,
                           const std::vector<ExportedFile> &files,
                           bool overwrites) {
  std::vector<FileUse> outputs = {{"weft ckpt export", weights}};
  for (const ExportedFile &file : files)
    outputs.push_back({"weft ckpt export", file.path});
  if (Status s = checkOutputPaths(outputs, {}, manifestName); !s || overwrites)
    return s;
  if (Status s = checkNoWeights(weights); !s)
    return s;
  return checkNew(files);
}

Status weft::exportCheckpoint(const std::string &folder, const std::string &out,
                              TensorType type, bool overwrites) {
  auto step = holdStep(folder);
  if (!step)
    return step.takeError();
  auto reader = CheckpointReader::open(step->path);
  if (!reader)
    return reader.takeError();
  auto model = readModelFile(reader->manifest(), step->path);
  if (!model)
    return model.takeError();
  if (Status s = makeDirectories(out); !s)
    return s;
  const std::string path = out + "/model.safetensors";
  const std::vector<ExportedFile> files = readFiles(*model, out);
  if (Status s = checkTargets(path, files, overwrites); !s)
    return s;
  const IfTaken ifTaken = overwrites ? IfTaken::Replace : IfTaken::Fail;
  if (Status s = writeWeights(*reader, *model, path, type, ifTaken); !s)
    return s;
  for (const ExportedFile &file : files)
    if (Status s = writeFile(file.path, file.text); !s)
      return s;
  if (textField(*model, "config").empty())
    warn(out + ": has no config.json, since the model is an .mlir file; "
               "--init-from reads the weights");
  return Status::success();
}
