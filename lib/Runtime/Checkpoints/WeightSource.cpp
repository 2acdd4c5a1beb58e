//===- WeightSource.cpp - The source of the first weights -----------------===//

#include "weft/Runtime/Checkpoints/WeightSource.h"

#include "weft/Abi/Names.h"
#include "weft/Base/Text.h"
#include "weft/Formats/WeightFiles.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Checkpoints/CheckpointShares.h"
#include "weft/Runtime/Devices/Ports.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <sys/stat.h>
#include <tuple>

using namespace weft;

static bool fileExists(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

std::string weft::locateWeights(const std::string &path,
                                const std::string &executablePath) {
  if (!path.empty() && path[0] == '/')
    return path;
  size_t slash = executablePath.rfind('/');
  if (slash != std::string::npos) {
    std::string beside = executablePath.substr(0, slash + 1) + path;
    if (fileExists(beside))
      return beside;
  }
  return path;
}

static const char *const kOtherWeights =
    "give the weights with --init-from FILE, draw new ones with --init-from "
    "none, or compile again";

/// The path of the first recorded weight file, after all are found; "" if none
/// is recorded.
static Expected<std::string> findRecorded(const Metadata &metadata,
                                          const std::string &executablePath) {
  std::string first;
  for (const InitialFile &file : metadata.initialWeights) {
    std::string path = locateWeights(file.path, executablePath);
    if (!fileExists(path))
      return inputError(
                 "cannot find the weights that the program was compiled with, ",
                 inQuotes(file.path))
          .hint((file.path[0] == '/' ? ""
                                     : "looked in the program's folder and in "
                                       "the current one; ") +
                std::string(kOtherWeights));
    if (first.empty())
      first = path;
  }
  return first;
}

static Status compareDigest(const InitialFile &file, const std::string &path,
                            const std::string &digest) {
  if (digest == file.digest)
    return Status::success();
  return inputError("the weights changed since the program was compiled: "
                    "expects digest ",
                    file.digest, ", but got ", digest)
      .at(path)
      .hint(kOtherWeights);
}

/// The reason why recorded weights do not fit. Most likely the files have
/// changed since, so digests are compared first.
static Error explain(Error error, const Metadata &metadata,
                     const std::string &executablePath) {
  for (const InitialFile &file : metadata.initialWeights) {
    std::string path = locateWeights(file.path, executablePath);
    auto digest = digestFile(path);
    if (!digest)
      return digest.takeError();
    if (Status s = compareDigest(file, path, digest->xxh3); !s)
      return s.takeError();
  }
  return error;
}

/// Whether a tensor of a file is no weight: attention masks, rotary tables, and
/// the copy of a tied output projection.
static bool isRedundant(const std::string &name, const Metadata &metadata) {
  for (const std::string &suffix : metadata.ignoredWeights)
    if (endsWith(name, suffix))
      return true;
  if (metadata.family.empty() || metadata.family == "mlir")
    return false;
  return isModelBuffer(name) || name == "lm_head.weight" ||
         name == "embed_out.weight";
}

/// Names that a weight may have in a file, best first.
static std::vector<std::string> spellings(const NamedTensor &tensor) {
  const std::string prefix = "transformer.";
  std::vector<std::string> names;
  if (!tensor.source.empty())
    names.push_back(tensor.source);
  names.push_back(tensor.name);
  for (size_t i = 0, n = names.size(); i < n; ++i)
    names.push_back(names[i].compare(0, prefix.size(), prefix) == 0
                        ? names[i].substr(prefix.size())
                        : prefix + names[i]);
  return names;
}

static bool isFloat(TensorType type) {
  return type == TensorType::F32 || type == TensorType::F16 ||
         type == TensorType::BF16 || type == TensorType::F64;
}

Status WeightSource::matchOne(NamedTensor tensor) {
  const ModelWeights::Entry *entry = nullptr;
  for (const std::string &name : spellings(tensor))
    if ((entry = model->find(name)))
      break;
  if (!entry)
    return inputError("expects a tensor ", inQuotes(spellings(tensor)[0]),
                      ", but the file has none")
        .at(model->path());
  const TensorInfo &info = *entry->info;
  if (!isFloat(info.type))
    return inputError("tensor ", inQuotes(info.name),
                      " expects type F32, F16, BF16 or F64, but got ",
                      tensorTypeName(info.type))
        .at(entry->file->path());
  if (info.shape != tensor.shape)
    return inputError("tensor ", inQuotes(info.name), " expects shape ",
                      shapeText(tensor.shape), ", but got ",
                      shapeText(info.shape))
        .at(entry->file->path());
  pairs.push_back({std::move(tensor), *entry});
  return Status::success();
}

Status WeightSource::match(const WeftExecutable &executable,
                           const Metadata &metadata) {
  for (NamedTensor &weight : namedTensors(executable, WEFT_PARAM))
    if (Status s = matchOne(std::move(weight)); !s)
      return s;
  std::sort(pairs.begin(), pairs.end(), [](const auto &a, const auto &b) {
    return std::tie(a.second.file->path(), a.second.info->begin) <
           std::tie(b.second.file->path(), b.second.info->begin);
  });
  std::set<const TensorInfo *> used;
  for (const auto &pair : pairs)
    used.insert(pair.second.info);
  for (const auto &[name, entry] : model->tensors())
    if (!used.count(entry.info) && !isRedundant(name, metadata))
      return inputError("the model has no parameter for tensor ",
                        inQuotes(name))
          .at(entry.file->path());
  return Status::success();
}

/// An error if the model's folder had weights only in a format that weft cannot
/// read.
static Status checkUnread(const Metadata &metadata) {
  if (metadata.unreadWeights.empty())
    return Status::success();
  return inputError("expects model.safetensors in the model's folder, but when "
                    "the program was compiled it had ",
                    unreadWeightsText(metadata.unreadWeights), " instead")
      .hint(unreadWeightsHint(metadata.unreadWeights.front()));
}

Expected<WeightSource> WeightSource::open(const std::string &initFrom,
                                          bool trains, const Metadata &metadata,
                                          const WeftExecutable &executable,
                                          const std::string &executablePath) {
  WeightSource weights;
  weights.trains = trains;
  std::string path = initFrom == "none" ? "" : initFrom;
  if (initFrom.empty()) {
    if (Status s = checkUnread(metadata); !s)
      return s.takeError();
    if (Status s = assign(findRecorded(metadata, executablePath), path); !s)
      return s.takeError();
    weights.recorded = metadata.initialWeights;
  }
  if (path.empty()) {
    if (findProgram(executable, names::kInit))
      return weights;
    return inputError("the program cannot draw initial weights")
        .hint("give them with --init-from FILE");
  }
  auto model = ModelWeights::open(path);
  Status status = model ? Status::success() : model.takeError();
  if (status) {
    weights.model.emplace(std::move(*model));
    weights.model->dropWrappers();
    status = weights.match(executable, metadata);
  }
  if (status)
    return weights;
  if (weights.recorded.empty())
    return status.takeError();
  return explain(status.takeError(), metadata, executablePath);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Status WeightSource::readAll(int64_t rank, const WeftContext *context) {
  if (!model)
    return Status::success();
  for (const auto &[tensor, entry] : pairs)
    if (Status s = readWeight(rank, context, tensor, entry); !s)
      return s;
  model->dropBuffer();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Digests
//===----------------------------------------------------------------------===//

Expected<std::string> WeightSource::identity() const {
  std::string text;
  if (!model)
    return text;
  for (const std::string &path : model->paths()) {
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0)
      return systemError(ExitCode::Input, "cannot read", errno).at(path);
    text += concat(info.st_ino, " ", info.st_size, " ", info.st_mtim.tv_sec,
                   ".", info.st_mtim.tv_nsec, "\n");
  }
  return text;
}

void WeightSource::readRangesAlone() {
  if (model)
    model->readRangesAlone();
}

/// Checks the number of files: a rewritten index may list more or fewer.
Status WeightSource::checkCount() const {
  const size_t count = model->paths().size();
  if (recorded.empty() || recorded.size() == count)
    return Status::success();
  return inputError(
             "the weights changed since the program was compiled: expects ",
             recorded.size(), " files, but got ", count)
      .at(model->path())
      .hint(kOtherWeights);
}

Expected<std::string> WeightSource::shareDigests(int64_t part, int64_t parts) {
  if (!model)
    return std::string();
  if (Status s = checkCount(); !s)
    return s.takeError();
  std::vector<BlockDigests> files;
  for (size_t i = 0; i < model->paths().size(); ++i) {
    auto blocks = model->blockDigests(i, part, parts);
    if (!blocks)
      return blocks.takeError();
    files.push_back(std::move(*blocks));
  }
  model->dropBuffer();
  return shareText(files);
}

Status
WeightSource::compareDigests(const std::vector<std::string> &shares) const {
  const JoinedShares joined = joinShares(shares);
  if (joined.different)
    return inputError("expects the same weights for all ranks, but they have "
                      "read different ones")
        .at(model->paths()[std::min(*joined.different,
                                    model->paths().size() - 1)]);
  for (size_t i = 0; i < recorded.size(); ++i)
    if (Status s = compareDigest(recorded[i], model->paths()[i],
                                 digestOfBlocks(joined.files[i]));
        !s)
      return s;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status WeightSource::verify(int64_t rank) { return readAll(rank, nullptr); }

/// The `init` program sets the weights, which a file may replace, and all other
/// state that training reads before it writes it. Sampling with weights of a
/// file reads no other state and skips `init`.
Status WeightSource::load(WeftContext &context, int64_t seed) {
  const WeftProgram *program = context.findProgram(names::kInit);
  if (program && (trains || !model)) {
    if (const WeftPort *port = WeftContext::findInput(*program, names::kSeed))
      writeInteger(context, *port, seed);
    if (Status s = runChecked(context, *program); !s)
      return s;
  }
  if (model)
    if (Status s = clearGaps(context); !s)
      return s;
  return readAll(context.rank(), &context);
}

std::string WeightSource::describe(int64_t seed) const {
  if (!model)
    return "random weights, seed " + std::to_string(seed);
  const std::string &prefix = model->wrappers();
  return "weights of " + model->path() +
         (prefix.empty() ? "" : ", names without '" + prefix + "'");
}
