//===- InitialWeights.cpp - Where the first weights come from -------------===//

#include "weft/Runtime/Checkpoints/InitialWeights.h"

#include "weft/Runtime/Checkpoints/BlockShares.h"

#include "weft/Formats/Half.h"
#include "weft/Formats/Names.h"
#include "weft/Formats/Text.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Devices/ArenaBytes.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
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

/// Where the recorded weights begin, and all of them are there; empty without
/// any.
static Expected<std::string> findRecorded(const Metadata &metadata,
                                          const std::string &executablePath) {
  std::string first;
  for (const InitialFile &file : metadata.initialWeights) {
    std::string path = locateWeights(file.path, executablePath);
    if (!fileExists(path))
      return inputError("cannot find the weights that the program was compiled "
                        "with, " +
                        inQuotes(file.path))
          .hint((file.path[0] == '/'
                     ? ""
                     : "looked in the program's folder and in the current "
                       "one; ") +
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
                    "expects digest " +
                    file.digest + ", but got " + digest)
      .at(path)
      .hint(kOtherWeights);
}

/// What is wrong with recorded weights that do not fit: most likely they are
/// not those that were recorded.
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

/// Tensors of a file that are no weights: attention masks, rotary tables, and
/// the copy of a tied output projection.
static bool isRedundant(const std::string &name, const Metadata &metadata) {
  for (const std::string &suffix : metadata.ignoredWeights)
    if (endsWith(name, suffix))
      return true;
  if (metadata.family == "gpt2")
    return endsWith(name, ".attn.bias") ||
           endsWith(name, ".attn.masked_bias") || name == "lm_head.weight";
  if (metadata.family == "llama")
    return endsWith(name, ".rotary_emb.inv_freq") || name == "lm_head.weight";
  return false;
}

/// Spellings under which a weight may stand in a file, best first.
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

Status InitialWeights::matchOne(NamedTensor tensor) {
  const SafetensorsModel::Entry *entry = nullptr;
  for (const std::string &name : spellings(tensor))
    if ((entry = model->find(name)))
      break;
  if (!entry)
    return inputError("expects a tensor " + inQuotes(spellings(tensor)[0]) +
                      ", but the file has none")
        .at(model->path());
  const TensorInfo &info = *entry->info;
  if (!isFloat(info.type))
    return inputError("tensor " + inQuotes(info.name) +
                      " expects type F32, F16, BF16 or F64, but got " +
                      tensorTypeName(info.type))
        .at(entry->file->path());
  if (info.shape != tensor.shape)
    return inputError("tensor " + inQuotes(info.name) + " expects shape " +
                      shapeText(tensor.shape) + ", but got " +
                      shapeText(info.shape))
        .at(entry->file->path());
  pairs.push_back({std::move(tensor), *entry});
  return Status::success();
}

Status InitialWeights::match(const WeftExecutable &executable,
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
      return inputError("the model has no parameter for tensor " +
                        inQuotes(name))
          .at(entry.file->path());
  return Status::success();
}

Expected<InitialWeights>
InitialWeights::open(const std::string &initFrom, bool trains,
                     const Metadata &metadata, const WeftExecutable &executable,
                     const std::string &executablePath) {
  InitialWeights weights;
  weights.trains = trains;
  std::string path = initFrom == "none" ? "" : initFrom;
  if (initFrom.empty()) {
    auto recorded = findRecorded(metadata, executablePath);
    if (!recorded)
      return recorded.takeError();
    path = *recorded;
    weights.recorded = metadata.initialWeights;
  }
  if (path.empty()) {
    if (findProgram(executable, names::kInit))
      return weights;
    return inputError("the program cannot draw initial weights")
        .hint("give them with --init-from FILE");
  }
  auto model = SafetensorsModel::open(path);
  Status status = model ? Status::success() : model.takeError();
  if (status) {
    weights.model.emplace(std::move(*model));
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

/// Elements as f32, through which all go; counts those that are finite in f64
/// alone.
static Status readWide(const SafetensorsModel::Entry &entry, int64_t begin,
                       int64_t count, float *values, int64_t &lost) {
  if (entry.info->type != TensorType::F64)
    return entry.file->readFloats(*entry.info, begin, count, values);
  std::vector<double> wide(static_cast<size_t>(count));
  if (Status s =
          entry.file->read(*entry.info, begin * 8, count * 8, wide.data());
      !s)
    return s;
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(wide[i]);
    lost += std::isfinite(wide[i]) && !std::isfinite(values[i]);
  }
  return Status::success();
}

static void store(float value, int32_t dtype, char *out) {
  if (dtype == WEFT_F32) {
    std::memcpy(out, &value, 4);
  } else if (dtype == WEFT_F64) {
    double wide = value;
    std::memcpy(out, &wide, 8);
  } else {
    uint16_t bits = dtype == WEFT_F16 ? floatToHalf(value) : floatToBf16(value);
    std::memcpy(out, &bits, 2);
  }
}

/// The values that a rank holds of a weight stay finite in a narrower type.
static Status checkFinite(const SafetensorsModel::Entry &entry, TensorType type,
                          const HeldRange &held, int64_t lost,
                          int64_t overflows) {
  const std::string &name = entry.info->name;
  const std::string &path = entry.file->path();
  if (lost > 0)
    return overflowError(name, TensorType::F32, lost, held.elements()).at(path);
  if (overflows > 0)
    return overflowError(name, type, overflows, held.elements())
        .at(path)
        .hint("--master-weights=on keeps the weights in f32");
  return Status::success();
}

/// Bytes [at, at + bytes) of a weight, which nobody keeps.
static Status readThrough(const SafetensorsModel::Entry &entry, int64_t at,
                          int64_t bytes) {
  constexpr int64_t most = int64_t(1) << 20;
  std::vector<char> piece(size_t(std::min(most, bytes)));
  for (int64_t done = 0; done < bytes; done += most)
    if (Status s = entry.file->read(*entry.info, at + done,
                                    std::min(most, bytes - done), piece.data());
        !s)
      return s;
  return Status::success();
}

/// Stores `values`, which lie in the arena from `offset` on.
static Status storeValues(const WeftContext &context, int32_t dtype,
                          const float *values, int64_t offset, int64_t count) {
  const int64_t width = dtypeBytes(dtype);
  return writeArena(context, offset, count * width,
                    [&](char *out, int64_t begin, int64_t bytes) {
                      const float *next = values + begin / width;
                      for (int64_t done = 0; done < bytes; done += width)
                        store(*next++, dtype, out + done);
                      return Status::success();
                    });
}

/// Reads into the arena what the rank holds of a weight of the same type.
static Status readSame(const WeftContext *context, const NamedTensor &tensor,
                       const HeldRange &held,
                       const SafetensorsModel::Entry &entry) {
  const int64_t width = dtypeBytes(tensor.dtype());
  const int64_t begin = held.begin * width, all = held.elements() * width;
  if (!context)
    return readThrough(entry, begin, all);
  return writeArena(
      *context, held.offset, all, [&](char *out, int64_t at, int64_t bytes) {
        return entry.file->read(*entry.info, begin + at, bytes, out);
      });
}

/// Reads what a rank holds of a weight and stores it, converting where the
/// types differ; without context it is only checked.
static Status readWeight(int64_t rank, const WeftContext *context,
                         const NamedTensor &tensor,
                         const SafetensorsModel::Entry &entry) {
  const TensorType type = tensorTypeOf(tensor.dtype());
  const HeldRange held = heldBy(tensor, rank);
  if (entry.info->type == type)
    return readSame(context, tensor, held, entry);
  constexpr int64_t most = int64_t(1) << 16;
  std::vector<float> values(size_t(std::min(most, held.elements())));
  int64_t lost = 0, overflows = 0;
  for (int64_t at = 0; at < held.elements(); at += most) {
    const int64_t part = std::min(most, held.elements() - at);
    if (Status s = readWide(entry, held.begin + at, part, values.data(), lost);
        !s)
      return s;
    overflows += countOverflows(values.data(), part, type);
    if (!context)
      continue;
    const int64_t offset = held.offset + at * dtypeBytes(tensor.dtype());
    if (Status s =
            storeValues(*context, tensor.dtype(), values.data(), offset, part);
        !s)
      return s;
  }
  return checkFinite(entry, type, held, lost, overflows);
}

Status InitialWeights::readAll(int64_t rank, const WeftContext *context) {
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

void InitialWeights::readRangesAlone() {
  if (model)
    model->readRangesAlone();
}

Expected<std::string> InitialWeights::shareDigests(int64_t part,
                                                   int64_t parts) {
  std::vector<BlockDigests> files;
  for (size_t i = 0; i < recorded.size(); ++i) {
    auto blocks = model->blockDigests(i, part, parts);
    if (!blocks)
      return blocks.takeError();
    files.push_back(std::move(*blocks));
  }
  if (model)
    model->dropBuffer();
  return shareText(files);
}

Status
InitialWeights::compareDigests(const std::vector<std::string> &shares) const {
  std::vector<BlockDigests> files = joinShares(shares);
  files.resize(recorded.size());
  for (size_t i = 0; i < recorded.size(); ++i)
    if (Status s = compareDigest(recorded[i], model->paths()[i],
                                 digestOfBlocks(files[i]));
        !s)
      return s;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status InitialWeights::verify(int64_t rank) { return readAll(rank, nullptr); }

/// `init` sets more than the weights, which a file may give: all that training
/// reads before it writes it. Sampling with a file's weights reads nothing
/// else.
Status InitialWeights::load(WeftContext &context, int64_t seed) {
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

std::string InitialWeights::describe(int64_t seed) const {
  return model ? "weights of " + model->path()
               : "random weights, seed " + std::to_string(seed);
}
