//===- InitialWeights.cpp - Where the first weights come from -------------===//

#include "weft/Runtime/InitialWeights.h"

#include "weft/Formats/Half.h"
#include "weft/Formats/Text.h"
#include "weft/Runtime/DTypes.h"
#include "weft/Runtime/Ports.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <sys/stat.h>

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

/// The recorded file is there and has the recorded bytes.
static Status checkRecorded(const InitialFile &file, const std::string &path) {
  const std::string help =
      "give the weights with --init-from FILE, draw new ones with --init-from "
      "none, or compile again";
  if (!fileExists(path))
    return inputError("cannot find the weights that the program was compiled "
                      "with, " +
                      inQuotes(file.path))
        .hint(file.path[0] == '/'
                  ? help
                  : "looked in the program's folder and in the current one; " +
                        help);
  auto digest = digestFile(path);
  if (!digest)
    return digest.takeError();
  if (digest->xxh3 == file.digest)
    return Status::success();
  return inputError("the weights changed since the program was compiled: "
                    "expects digest " +
                    file.digest + ", but got " + digest->xxh3)
      .at(path)
      .hint(help);
}

/// The path of the weights; empty for random ones.
static Expected<std::string> choosePath(const RunOptions &options,
                                        const Metadata &metadata,
                                        const std::string &executablePath) {
  if (options.initFrom == "none")
    return std::string();
  if (!options.initFrom.empty())
    return options.initFrom;
  std::string first;
  for (const InitialFile &file : metadata.initialWeights) {
    std::string path = locateWeights(file.path, executablePath);
    if (Status s = checkRecorded(file, path); !s)
      return s.takeError();
    if (first.empty())
      first = path;
  }
  return first;
}

/// Tensors of a file that are no weights: attention masks, rotary tables, and
/// the copy of a tied output projection.
static bool isRedundant(const std::string &name, const Metadata &metadata) {
  auto endsWith = [&](const char *suffix) {
    size_t size = std::strlen(suffix);
    return name.size() >= size &&
           name.compare(name.size() - size, size, suffix) == 0;
  };
  for (const std::string &suffix : metadata.ignoredWeights)
    if (endsWith(suffix.c_str()))
      return true;
  if (metadata.family == "gpt2")
    return endsWith(".attn.bias") || endsWith(".attn.masked_bias") ||
           name == "lm_head.weight";
  if (metadata.family == "llama")
    return endsWith(".rotary_emb.inv_freq") || name == "lm_head.weight";
  return false;
}

/// Spellings under which a weight may stand in a file, best first.
static std::vector<std::string> spellings(const WeftTensor &tensor) {
  const std::string prefix = "transformer.";
  std::vector<std::string> names;
  if (tensor.source && *tensor.source)
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

/// Reads the values as f32, through which all go, and counts those that are
/// finite in f64 alone.
static Status readWide(const SafetensorsModel::Entry &entry,
                       std::vector<float> &values, int64_t &lost) {
  if (Status s = entry.file->readFloats(*entry.info, values.data()); !s)
    return s;
  if (entry.info->type != TensorType::F64)
    return Status::success();
  const uint8_t *data = entry.file->data(*entry.info);
  for (size_t i = 0; i < values.size(); ++i) {
    double wide;
    std::memcpy(&wide, data + 8 * i, 8);
    lost += std::isfinite(wide) && !std::isfinite(values[i]);
  }
  return Status::success();
}

/// The values stay finite in a weight that is kept in a narrower type.
static Status checkValues(const WeftTensor &tensor,
                          const SafetensorsModel::Entry &entry) {
  TensorType type = tensorTypeOf(tensor.dtype);
  bool isLow = tensor.dtype == WEFT_F16 || tensor.dtype == WEFT_BF16;
  bool narrows = isLow || (entry.info->type == TensorType::F64 &&
                           tensor.dtype != WEFT_F64);
  if (!narrows || entry.info->type == type)
    return Status::success();
  std::vector<float> values(size_t(elementsOf(tensor)));
  int64_t lost = 0;
  if (Status s = readWide(entry, values, lost); !s)
    return s;
  if (lost > 0)
    return inputError("expects weights that F32 can hold, but " +
                      std::to_string(lost) + " of " +
                      std::to_string(values.size()) + " elements of " +
                      inQuotes(entry.info->name) + " are too large")
        .at(entry.file->path());
  if (Status s = checkOverflow(entry.info->name, values, type); !s)
    return s.takeError()
        .at(entry.file->path())
        .hint("--master-weights=on keeps the weights in f32");
  return Status::success();
}

Status InitialWeights::matchOne(const WeftTensor &tensor) {
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
  if (info.shape != shapeOf(tensor))
    return inputError("tensor " + inQuotes(info.name) + " expects shape " +
                      shapeText(shapeOf(tensor)) + ", but got " +
                      shapeText(info.shape))
        .at(entry->file->path());
  pairs.push_back({&tensor, *entry});
  return checkValues(tensor, *entry);
}

Status InitialWeights::match(const WeftExecutable &executable,
                             const Metadata &metadata) {
  for (int32_t i = 0; i < executable.numTensors; ++i)
    if (executable.tensors[i].kind == WEFT_PARAM)
      if (Status s = matchOne(executable.tensors[i]); !s)
        return s;
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
InitialWeights::open(const RunOptions &options, const Metadata &metadata,
                     const WeftExecutable &executable,
                     const std::string &executablePath) {
  InitialWeights weights;
  weights.trains = options.trains();
  auto path = choosePath(options, metadata, executablePath);
  if (!path)
    return path.takeError();
  if (path->empty()) {
    if (findProgram(executable, "init"))
      return weights;
    return inputError("the program cannot draw initial weights")
        .hint("give them with --init-from FILE");
  }
  auto model = SafetensorsModel::open(*path);
  if (!model)
    return model.takeError();
  weights.model.emplace(std::move(*model));
  if (Status s = weights.match(executable, metadata); !s)
    return s.takeError();
  return weights;
}

/// Copies a file tensor to a weight, converting where the types differ.
static Status copyWeight(WeftContext &context, const WeftTensor &tensor,
                         const SafetensorsModel::Entry &entry) {
  char *out = static_cast<char *>(context.data(tensor));
  if (entry.info->type == tensorTypeOf(tensor.dtype)) {
    std::memcpy(out, entry.file->data(*entry.info), size_t(tensor.bytes));
    return Status::success();
  }
  if (tensor.dtype == WEFT_F32)
    return entry.file->readFloats(*entry.info, reinterpret_cast<float *>(out));
  std::vector<float> values(size_t(elementsOf(tensor)));
  if (Status s = entry.file->readFloats(*entry.info, values.data()); !s)
    return s;
  for (size_t i = 0; i < values.size(); ++i) {
    if (tensor.dtype == WEFT_F64) {
      double wide = values[i];
      std::memcpy(out + i * 8, &wide, 8);
      continue;
    }
    uint16_t bits = tensor.dtype == WEFT_F16 ? floatToHalf(values[i])
                                             : floatToBf16(values[i]);
    std::memcpy(out + i * 2, &bits, 2);
  }
  return Status::success();
}

/// `init` sets more than the weights, which a file may give: all that training
/// reads before it writes it. Sampling with a file's weights reads nothing
/// else.
Status InitialWeights::load(WeftContext &context, int64_t seed) const {
  const WeftProgram *program = context.findProgram("init");
  if (program && (trains || !model)) {
    if (const WeftPort *port = WeftContext::findInput(*program, "seed"))
      writeInteger(context, *port, seed);
    if (Status s = runChecked(context, *program); !s)
      return s;
  }
  for (const auto &[tensor, entry] : pairs)
    if (Status s = copyWeight(context, *tensor, entry); !s)
      return s;
  return Status::success();
}

std::string InitialWeights::describe(int64_t seed) const {
  return model ? "weights of " + model->path()
               : "random weights, seed " + std::to_string(seed);
}
