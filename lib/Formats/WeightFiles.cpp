//===- WeightFiles.cpp - Weights in a folder that weft does not read ------===//

#include "weft/Formats/WeightFiles.h"

#include "weft/Base/Flags.h"
#include "weft/Base/Text.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/OwnFiles.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace fs = std::filesystem;

using namespace weft;

namespace {
/// The form of the weights in a file, by its name.
enum class WeightForm {
  None,
  Safetensors,
  Shard, // one of several safetensors files
  Index,
  Adapter,
  Unfinished,
  Gguf,
  Torch,
  Other
};
} // namespace

static bool endsWithAny(std::string_view text,
                        std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](auto ending) { return endsWith(text, ending); });
}

static bool beginsWithAny(std::string_view text,
                          std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto beginning) {
    return text.substr(0, beginning.size()) == beginning;
  });
}

/// The state of an optimizer and the like, which transformers writes beside
/// the weights.
static bool isTrainerState(std::string_view name) {
  return beginsWithAny(name, {"optimizer.", "scheduler.", "scaler.",
                              "training_args.", "rng_state"});
}

/// model.safetensors.1, .tmp, .index.json.bak: of a tool that fetched or wrote
/// weights.
static bool isLeftover(std::string_view name) {
  const std::string_view ending = name.substr(name.rfind('.') + 1);
  const bool isNumber =
      !ending.empty() && ending.find_first_not_of("0123456789") == ending.npos;
  return name.find(".safetensors.") != name.npos &&
         (isNumber || endsWithAny(name, {".tmp", ".bak", ".old"}));
}

/// Of a name in lower case.
static WeightForm formOf(std::string_view name) {
  if (isTrainerState(name))
    return WeightForm::None;
  if (endsWithAny(name, {".incomplete", ".part", ".partial", ".crdownload",
                         ".aria2", ".download"})) {
    // Downloads of the Hugging Face hub are named by a digest.
    const std::string_view whole = name.substr(0, name.rfind('.'));
    return endsWith(name, ".incomplete") || formOf(whole) != WeightForm::None
               ? WeightForm::Unfinished
               : WeightForm::None;
  }
  if (isLeftover(name))
    return WeightForm::Unfinished;
  if (beginsWithAny(name, {"adapter_model."}))
    return WeightForm::Adapter;
  if (endsWith(name, ".safetensors"))
    return name.find("-of-") != name.npos ? WeightForm::Shard
                                          : WeightForm::Safetensors;
  if (endsWith(name, ".safetensors.index.json"))
    return WeightForm::Index;
  if (endsWith(name, ".gguf"))
    return WeightForm::Gguf;
  if (endsWithAny(name, {".pt", ".pth", ".ckpt"}) ||
      (beginsWithAny(name, {"pytorch_model", "consolidated."}) &&
       endsWithAny(name, {".bin", ".bin.index.json"})))
    return WeightForm::Torch;
  if (endsWithAny(name, {".h5", ".hdf5", ".msgpack", ".onnx", ".ot", ".tflite",
                         ".npz", ".distcp", ".ggml"}) ||
      name.find(".ckpt.") != name.npos || name.find(".ckpt-") != name.npos ||
      (beginsWithAny(name, {"openvino_model", "ggml-model"}) &&
       endsWith(name, ".bin")))
    return WeightForm::Other;
  return WeightForm::None;
}

/// A .bin file with a name of its own holds weights or tokens.
static bool isTorchFile(const fs::path &path) {
  return guessFileKind(path.string()).isTorch;
}

static bool looksLikeWeights(const fs::path &path) {
  const std::string file = path.filename().string(), name = lowerCase(file);
  // ModelWeights opens these.
  if (file == "model.safetensors" || file == "model.safetensors.index.json")
    return false;
  std::error_code error;
  if (fs::is_directory(path, error))
    return false;
  const WeightForm form = formOf(name);
  // Gradients and the like, which a run was told to write there.
  if (form == WeightForm::Safetensors)
    return !hasOwnEntry(path.string());
  return form != WeightForm::None ||
         (endsWithAny(name, {".bin", ".pkl"}) && !isTrainerState(name) &&
          isTorchFile(path));
}

/// Unfinished downloads of the Hugging Face hub's client.
static void addUnfinished(const fs::path &folder,
                          std::vector<std::string> &found) {
  std::error_code error;
  fs::directory_iterator files(folder / ".cache/huggingface/download", error);
  for (; !error && files != fs::directory_iterator(); files.increment(error))
    if (endsWith(files->path().filename().string(), ".incomplete"))
      found.push_back(files->path().string());
}

Expected<std::vector<std::string>>
weft::findUnreadWeights(const std::string &folder) {
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator files(folder, error);
  for (; !error && files != fs::directory_iterator(); files.increment(error))
    if (looksLikeWeights(files->path()))
      found.push_back(files->path().string());
  if (error)
    return inputError("cannot look for weights in the folder: " +
                      errnoText(error.value()))
        .at(folder);
  addUnfinished(folder, found);
  std::sort(found.begin(), found.end());
  return found;
}

static constexpr char kSavePretrained[] =
    "save them as model.safetensors: transformers' save_pretrained does";

static constexpr char kSaveFolder[] =
    "save them as model.safetensors: transformers' AutoModelForCausalLM."
    "from_pretrained(FOLDER).save_pretrained(FOLDER, safe_serialization=True)";

/// save_file() refuses tensors that share memory, as tied weights do, and
/// strided ones.
static std::string saveTorch(const std::string &path) {
  // nanoGPT and Lightning keep the weights beside the optimizer's state.
  const bool isCheckpoint =
      endsWithAny(lowerCase(path), {".pt", ".pth", ".ckpt"});
  return std::string("save them as safetensors: safetensors.torch.save_file("
                     "{k: v.clone().contiguous() for k, v in torch.load(FILE, "
                     "weights_only=True).items()}, 'model.safetensors')") +
         (isCheckpoint ? ", with ['model'] or ['state_dict'] before .items() "
                         "if FILE contains more than weights"
                       : "");
}

/// One of several files of the same weights, or their index.
static bool isPart(const std::string &path) {
  const std::string name = fs::path(path).filename().string();
  return name.find("-of-") != name.npos || endsWith(name, ".json");
}

/// How to get a file that weft reads; "" where the file itself is one.
static std::string conversionOf(const std::string &path) {
  switch (formOf(lowerCase(fs::path(path).filename().string()))) {
  case WeightForm::Safetensors:
  case WeightForm::Index:
  case WeightForm::Gguf:
    return "";
  case WeightForm::Shard:
    return "add the model.safetensors.index.json of the shards and compile "
           "again";
  case WeightForm::Adapter:
    return "merge the adapter into its base model";
  case WeightForm::Unfinished:
    return "finish the download and compile again";
  case WeightForm::Torch:
  case WeightForm::None: // a .bin file
    return isPart(path) ? kSaveFolder : saveTorch(path);
  case WeightForm::Other:
    return kSavePretrained;
  }
  return "";
}

bool weft::isAdapter(const std::string &path) {
  return formOf(lowerCase(fs::path(path).filename().string())) ==
         WeightForm::Adapter;
}

std::string weft::unreadWeightsHint(const std::string &path) {
  const std::string conversion = conversionOf(path);
  return (conversion.empty() ? "--init-from " + shellWord(path)
                             : conversion + "; --init-from FILE") +
         " takes weights of a safetensors or GGUF file, --init-from none draws "
         "new ones";
}

std::string weft::unreadWeightsText(const std::vector<std::string> &paths) {
  constexpr size_t most = 4096; // a path is of no use in part
  std::string text = "'" + printable(paths.front(), most) + "'";
  if (paths.size() == 2)
    text += " and another file";
  if (paths.size() > 2)
    text += " and " + std::to_string(paths.size() - 1) + " other files";
  return text;
}

const std::vector<std::string> &weft::companionNames() {
  static const std::vector<std::string> names = {"added_tokens.json",
                                                 "chat_template.jinja",
                                                 "chat_template.json",
                                                 "generation_config.json",
                                                 "merges.txt",
                                                 "sentencepiece.bpe.model",
                                                 "special_tokens_map.json",
                                                 "spiece.model",
                                                 "tokenizer.json",
                                                 "tokenizer.model",
                                                 "tokenizer_config.json",
                                                 "vocab.json",
                                                 "vocab.txt"};
  return names;
}

bool weft::isModelBuffer(std::string_view tensor) {
  for (const char *suffix :
       {".attn.bias", ".attn.masked_bias", ".attention.bias",
        ".attention.masked_bias", ".rotary_emb.inv_freq"})
    if (endsWith(tensor, suffix))
      return true;
  return false;
}

Status weft::checkLink(const std::string &path) {
  std::error_code error;
  if (!fs::is_symlink(path, error) || fs::exists(path, error))
    return Status::success();
  const std::string target = fs::read_symlink(path, error).string();
  return inputError("expects a file, but got a link to " + inQuotes(target) +
                    ", which cannot be opened")
      .at(path)
      .hint("fetch the file again, or remove the link");
}
